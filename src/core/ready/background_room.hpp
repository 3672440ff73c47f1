#pragma once
// The background room owns the queues of the background class, and knows which threads of the class
// are idle. Background tasks take long and may block, so one lock is fast enough.

#include "core/ready/direct_room.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace detail {

class background_room : public direct_room {
public:
    using direct_room::direct_room;

    /// Queues a task. Returns the seat of an idle thread of the class, which the caller must
    /// notify. If no thread is idle, returns null, and the caller starts another one.
    seats_seat* put_in_background(std::uint32_t index);
    /// Takes the oldest task for which `wanted(id)` is true, from the highest level that has one.
    /// Any thread of the class may call this.
    task_id take_background(id_test wanted);
    /// Takes the oldest task of the highest level. If there is none, counts the thread as idle and
    /// returns an empty id. The thread then sleeps, and a notification that comes before its sleep
    /// is not lost.
    task_id take_background_or_rest(seats_seat& w);
    /// Stops counting the thread as idle.
    void background_thread_woke(const seats_seat& w);
    /// Takes a queued task if no thread of the class would ever run it, because the class has no
    /// thread or all of its threads wait. Returns an empty id otherwise.
    task_id take_stranded_background();
    /// Removes the task from the list of that level. Returns true if the list had the task; the
    /// task then belongs to the caller.
    bool take_out_of_background(task_id id, unsigned level);
    /// Takes the oldest task of that level for which `moves(index)` is true. Returns its index, or
    /// no_index if there is none.
    template <class Moves>
    std::uint32_t take_background_if(unsigned level, Moves&& moves);

    bool background_visible() const {
        return std::any_of(std::begin(lists_), std::end(lists_),
                           [](const task_list& list) { return list.size(relaxed) != 0; });
    }
    /// Counts one more thread of the class and sets `number` to its number. Returns false if the
    /// class may have no more threads. Threads of the class that are in a wait do not count against
    /// this limit, because they may wait for the very task that is queued.
    bool add_background_thread(unsigned& number);
    void background_thread_refused();
    /// Adds `change` to the number of threads of the class that are in a wait. Returns true if one
    /// more waits while tasks are queued; the caller then starts another thread.
    bool count_background_waiter(int change);

private:
    task_id take_any() BRAID_REQUIRES(mutex_);

    alignas(64) mutex mutex_;
    task_list lists_[level_count];  // each has a lock of its own, too
    unsigned threads_ BRAID_GUARDED_BY(mutex_) = 0;
    unsigned waiting_ BRAID_GUARDED_BY(mutex_) = 0;
    seats_seat* idle_[sleepers::capacity] BRAID_GUARDED_BY(mutex_) = {};
    unsigned idle_count_ BRAID_GUARDED_BY(mutex_) = 0;
};

template <class Moves>
std::uint32_t background_room::take_background_if(unsigned level, Moves&& moves) {
    task_list& list = lists_[level];
    if (list.size(relaxed) == 0) return no_index;
    const locked lock(list.lock);
    return list.take_first(slots, moves);
}

}  // namespace detail
BRAID_NAMESPACE_END
