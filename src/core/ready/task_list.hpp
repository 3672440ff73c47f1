#pragma once
// A task_list is a list of ready tasks under a lock, the oldest task first. The tasks are linked
// through their slots.

#include "braid/base/mutex.hpp"
#include "core/slots/slot_table.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class task_list {
public:
    /// The caller must hold this lock while it calls a function below, except size().
    mutable mutex lock;

    /// Returns the number of tasks, which is only a hint if the lock is not held. seq_cst: pairs
    /// with append(), for a thread that has announced its sleep (I5).
    std::uint32_t size(std::memory_order order) const { return size_.load(order); }
    bool empty() const BRAID_REQUIRES(lock) { return first_ == no_index; }

    /// Appends `count` tasks, which the caller has already linked from `first` to `last`.
    void append(const slot_table& slots, std::uint32_t first, std::uint32_t last,
                std::uint32_t count = 1) BRAID_REQUIRES(lock) {
        slots.at(last).next.store(no_index, relaxed);
        if (last_ == no_index) {
            first_ = first;
        } else {
            slots.at(last_).next.store(first, relaxed);
        }
        last_ = last;
        // seq_cst: pairs with the check of a thread that has announced its sleep (I5).
        size_.fetch_add(count, seq_cst);
    }

    /// Removes the oldest task for which `fits(index)` is true, among the `look_at` oldest tasks,
    /// and returns its index. Returns no_index if there is none.
    template <class Fits>
    std::uint32_t take_first(const slot_table& slots, Fits&& fits, std::size_t look_at = SIZE_MAX)
        BRAID_REQUIRES(lock) {
        std::uint32_t previous = no_index;
        for (std::uint32_t i = first_; i != no_index && look_at != 0;
             i = next_of(slots, i), --look_at) {
            if (!fits(i)) {
                previous = i;
                continue;
            }
            const std::uint32_t next = next_of(slots, i);
            if (previous == no_index) {
                first_ = next;
            } else {
                slots.at(previous).next.store(next, relaxed);
            }
            if (last_ == i) last_ = previous;
            size_.fetch_sub(1, relaxed);
            return i;
        }
        return no_index;
    }

    /// Removes up to `limit` of the oldest tasks and stores their ids in `ids`. Returns how many it
    /// took.
    std::size_t take_oldest(const slot_table& slots, std::uint64_t* ids, std::size_t limit)
        BRAID_REQUIRES(lock) {
        std::size_t count = 0;
        for (; count != limit && first_ != no_index; ++count) {
            const slot& s = slots.at(first_);
            s.prefetch();  // it may have left the cache, since it was queued for long
            ids[count] = slots.id_of(first_).value;
            first_ = s.next.load(relaxed);
        }
        if (first_ == no_index) last_ = no_index;
        size_.fetch_sub(static_cast<std::uint32_t>(count), relaxed);
        return count;
    }

    /// Calls f(index) for each task in the list.
    template <class F>
    void each(const slot_table& slots, F&& f) const BRAID_REQUIRES(lock) {
        for (std::uint32_t i = first_; i != no_index; i = next_of(slots, i)) f(i);
    }

private:
    static std::uint32_t next_of(const slot_table& slots, std::uint32_t i) {
        return slots.at(i).next.load(relaxed);
    }

    atomic<std::uint32_t> size_{0};
    std::uint32_t first_ BRAID_GUARDED_BY(lock) = no_index;
    std::uint32_t last_ BRAID_GUARDED_BY(lock) = no_index;
};

}  // namespace detail
BRAID_NAMESPACE_END
