#pragma once
// The slots of tasks, their ids, their ancestors, and the levels of tasks.

#include "base/accounted_memory.hpp"
#include "braid/core/scheduler_options.hpp"
#include "core/slots/failed_slots.hpp"
#include "core/slots/index_pool.hpp"
#include "core/slots/slot.hpp"
#include "core/slots/source_lines.hpp"
#include "core/slots/words.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Stores the slots, which one task after another uses, and the levels of tasks. Makes and checks
/// the ids that distinguish the tasks of one slot. `own` is the cache of free slots that belongs to
/// the caller's seat.
class slot_table {
public:
    slot_table(const scheduler_options& o, accounted_memory& memory);
    ~slot_table();
    slot_table(const slot_table&) = delete;
    slot_table& operator=(const slot_table&) = delete;

    // ---- slots and ids
    slot& at(std::uint32_t index) const { return slots_[index]; }
    slot& at(task_id id) const { return slots_[index_of(id.value)]; }
    bool has(std::uint32_t index) const { return slots_.contains(index); }
    /// Returns an upper bound of all indices that were ever used. Each index below it has a slot.
    std::uint32_t count() const { return slots_.size(); }
    /// Takes a free slot and returns its index. Returns no_index if there is no memory, after the
    /// out-of-memory handler was called. If `may_block` is false, the function neither allocates
    /// nor waits for a lock, and returns no_index where it would have to.
    std::uint32_t take(pool_cache& own, bool may_block = true) {
        if (own.count == 0) [[unlikely]]
            return take_slowly(own, may_block);
        return slots_.take(own);
    }
    /// Takes a slot from the cache, which must not be empty.
    std::uint32_t take_cached(pool_cache& own) { return own.free[--own.count]; }
    /// Frees a slot in which only the words that every task sets have changed; see slot.
    void give(pool_cache& own, std::uint32_t index, std::uint32_t generation) {
        // A slot in its last generation is retired instead (I3).
        if (generation != last_generation) slots_.give(own, index);
    }
    /// Resets a slot and frees it. If its task failed or was cancelled, the slot first stays in
    /// failed_ for a while, so that it can still say how the task ended.
    void clean_and_give(pool_cache& own, std::uint32_t index) {
        slot& s = slots_[index];
        s.clean();
        if (s.has(failure_flags)) [[unlikely]]
            return give_failed(own, index);
        give(own, index, s.generation());
    }
    bool reserve(std::uint32_t count) { return slots_.reserve(count); }
    task_id id_of(std::uint32_t index) const {
        return {join_word(slots_[index].generation(), index)};
    }
    task_state state_of(task_id id) const;
    bool is_open(task_id id) const { return state_of(id) == task_state::open; }
    /// Returns the failure_flags of a complete task. Returns 0 if the task succeeded, if it is
    /// still open, or if a later task uses its slot.
    std::uint16_t failure_of(task_id id) const {
        const slot& s = at(id);
        return failure_in(s.successors, s.flags, generation_of(id.value));
    }

    // ---- ancestors: parents, and jump pointers that make climbing O(log depth)
    void link_parent(slot& child, std::uint32_t parent) const;
    bool is_below(const slot& s, task_id parent) const {
        const std::uint32_t index = index_of(parent.value);
        return s.parent.load(relaxed) == index && id_of(index) == parent;
    }
    /// Returns true if the task is `ancestor` or a descendant of it.
    bool descends(std::uint32_t index, task_id ancestor) const;

    // ---- levels
    static constexpr std::size_t categories = 256;
    std::uint8_t level_of(const slot& s) const;
    priority_level level_of_category(std::uint8_t category) const {
        return static_cast<priority_level>(level_by_category_[category].load(relaxed));
    }
    void set_level(std::uint8_t category, priority_level level) {
        level_by_category_[category].store(static_cast<std::uint8_t>(level), relaxed);
    }

    // ---- source lines, with deadlock_options::lines
    /// Records the source line at which this thread has just made a task or a completion.
    void note_line(const slot& s, std::uint32_t index, const std::source_location& where) const {
        if (lines_ != nullptr) lines_->note(index, s.generation(), where);
    }
    source_line line_of(task_id id) const {
        if (lines_ == nullptr) return {};
        return lines_->of(index_of(id.value), generation_of(id.value));
    }

private:
    std::uint32_t take_slowly(pool_cache& own, bool may_block);
    void give_failed(pool_cache& own, std::uint32_t index);

    accounted_memory& memory_;
    index_pool<slot> slots_;
    failed_slots failed_;
    atomic<std::uint8_t> level_by_category_[categories]{};
    source_lines* lines_ = nullptr;
};

}  // namespace detail
BRAID_NAMESPACE_END
