#pragma once
// Lists of suspended tasks that resume early if their scope is cancelled. The cancellation finds
// the tasks in these lists.

#include "core/life/completion_lists.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class suspension_lists : public completion_lists {
public:
    using completion_lists::completion_lists;

    /// Puts a task that suspends into a list. A thread that cancels the task's scope later finds
    /// the task here. A thread that cancelled the scope before may have missed the task, so the
    /// caller checks for that after this call.
    void list_suspended(std::uint32_t index);
    /// Removes a task from its list. Called when the task resumes and is still in the list.
    void unlist_suspended(std::uint32_t index);

protected:
    /// Ends the waits of the scope's listed tasks. Calls ended(index, shares), without the lock,
    /// for each task whose wait it has ended. `ended` must drop that many shares of the task's
    /// `waits_for`. Scans each list once.
    template <class F>
    void end_listed_waits(life_seat& w, const scope_state& of, F&& ended);

private:
    struct alignas(64) shard {
        mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// A thread takes its slots in batches of neighbouring indices, and neighbours share a shard.
    shard& shard_of(std::uint32_t index) { return suspended_[index / 32 % shards]; }
    void unlink(shard& in, detail_block& d) BRAID_REQUIRES(in.lock);
    std::uint32_t take_ended(life_seat& w, shard& in, const scope_state& of);

    shard suspended_[shards];
};

template <class F>
void suspension_lists::end_listed_waits(life_seat& w, const scope_state& of, F&& ended) {
    for (shard& in : suspended_) {
        // No lock is held here: with a chooser, another thread may run whenever a task becomes
        // ready.
        for (std::uint32_t i = take_ended(w, in, of); i != no_index;) {
            const detail_block& d = details.at(slots.at(i));
            const std::uint32_t index = i;
            const std::uint32_t shares = d.before;
            i = d.next;  // read before the task resumes
            ended(index, shares);
        }
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
