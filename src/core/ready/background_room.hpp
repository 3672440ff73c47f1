#pragma once
// Ready tasks of the background class, and which of its threads are idle. Long and blocking by
// nature, so one lock serves it well.

#include "core/ready/direct_room.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace detail {

class background_room : public direct_room {
public:
    using direct_room::direct_room;

    /// The idle thread that is to be notified. Null: none; the caller starts another one.
    seats_seat* put_in_background(std::uint32_t index);
    /// Any thread of the class: the oldest of the highest level that is `wanted`.
    task_id take_background(id_test wanted);
    /// The thread counts as idle if there is none: a notification that comes before it sleeps is
    /// for it.
    task_id take_background_or_rest(seats_seat& w);
    void background_thread_woke(const seats_seat& w);
    /// For a task that cannot have a thread of the class: there is none, and all of them wait.
    task_id take_stranded_background();
    /// True: it lay in the list of that level, and is the caller's now.
    bool take_out_of_background(task_id id, unsigned level);
    /// The oldest there that `moves(index)`, or no_index.
    template <class Moves>
    std::uint32_t take_background_if(unsigned level, Moves&& moves);

    bool background_visible() const {
        return std::any_of(std::begin(lists_), std::end(lists_),
                           [](const task_list& list) { return list.size(relaxed) != 0; });
    }
    /// False: the class may have no thread more. A thread of it that waits does not count, for it
    /// may wait for the very task that is queued.
    bool add_background_thread(unsigned& number);
    void background_thread_refused();
    /// True: there is work that another thread should see to.
    bool count_background_waiter(int change);

private:
    task_id take_any() BRAID_REQUIRES(mutex_);

    alignas(64) mutex mutex_;
    task_list lists_[level_count];  // each under its own lock, too
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
    return list.take_first(*this, moves);
}

}  // namespace detail
BRAID_NAMESPACE_END
