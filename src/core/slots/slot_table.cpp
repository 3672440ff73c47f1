#include "core/slots/slot_table.hpp"

#include <algorithm>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

slot_table::slot_table(const scheduler_options& o, accounted_memory& memory)
    : memory_(memory), slots_(memory, memory_tag::slot) {
    if (!o.deadlock.lines) return;
    lines_ = ::new (memory.room_for<source_lines>(memory_tag::runtime)) source_lines(memory);
}

slot_table::~slot_table() {
    if (lines_ == nullptr) return;
    lines_->~source_lines();
    memory_.release(lines_, sizeof(source_lines), alignof(source_lines), memory_tag::runtime);
}

/// Called if this thread's cache has no slot. Before a task is refused, and, if memory has a
/// budget, before more memory is taken, a slot from failed_ is used again. That slot no longer says
/// how its last task failed.
[[gnu::noinline]] std::uint32_t slot_table::take_slowly(pool_cache& own, bool may_block) {
    std::uint32_t index = no_index;
    if (memory_.has_budget() && !failed_.empty()) {
        index = slots_.take(own, false);
        if (index == no_index) index = failed_.take_oldest(slots_, may_block);
    }
    if (index == no_index) index = slots_.take(own, may_block);
    return index != no_index ? index : failed_.take_oldest(slots_, may_block);
}

[[gnu::noinline]] void slot_table::give_failed(pool_cache& own, std::uint32_t index) {
    // A slot in its last generation is retired, so it needs no place in the list.
    if (slots_[index].generation() == last_generation) return;
    if (!slots_[index].has(flag_posted)) index = failed_.add(slots_, index);
    if (index != no_index) give(own, index, slots_[index].generation());
}

task_state slot_table::state_of(task_id id) const {
    const std::uint32_t index = index_of(id.value);
    const std::uint32_t generation = generation_of(id.value);
    if (generation == 0 || !slots_.contains(index)) return task_state::unknown;
    return state_in(slots_[index].successors, generation);
}

std::uint8_t slot_table::level_of(const slot& s) const {
    // acquire: pairs with inherit_priority(), which stores the level before it clears the flag. So
    // if the flag is cleared, the load below reads that level.
    const bool category = (s.flags.load(acquire) & flag_category) != 0;
    const std::uint8_t level = s.level.load(relaxed);
    // inherit_priority() may have come too late, and have cleared the flag of a later task in this
    // slot. `level` is then a category, so the value is limited to the highest level.
    return category ? level_by_category_[level].load(relaxed)
                    : std::min(level, static_cast<std::uint8_t>(priority_level::high));
}

}  // namespace detail
BRAID_NAMESPACE_END
