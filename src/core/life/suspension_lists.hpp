#pragma once
// Lists of suspended tasks whose wait a cancellation of their scope may end, so that the
// cancellation finds them.

#include "core/life/completion_lists.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class suspension_lists : public completion_lists {
public:
    using completion_lists::completion_lists;

    /// Lists a task that suspends. A thread that cancels the task's scope finds the task here, or
    /// has cancelled the scope before.
    void list_suspended(std::uint32_t index);
    /// Takes a task that resumes, and is still listed, out of its list.
    void unlist_suspended(std::uint32_t index);

protected:
    /// Ends the waits of the scope's listed tasks. Calls ended(index, shares), without the lock,
    /// for each task whose wait it has ended. `ended` drops these shares of the task's `waits_for`.
    /// Looks once at each listed task.
    template <class F>
    void end_listed_waits(life_seat& w, const scope_state& of, F&& ended);

private:
    struct alignas(64) shard {
        mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// Slots that one thread takes one after the other come in batches of neighbours, and
    /// neighbours share a shard.
    shard& shard_of(std::uint32_t index) { return suspended_[index / 32 % shards]; }
    void unlink(shard& in, detail_block& d) BRAID_REQUIRES(in.lock);
    std::uint32_t take_ended(life_seat& w, shard& in, const scope_state& of);

    shard suspended_[shards];
};

template <class F>
void suspension_lists::end_listed_waits(life_seat& w, const scope_state& of, F&& ended) {
    for (shard& in : suspended_) {
        // With a chooser, another thread may run when a task becomes ready, so the lock is not held
        // here.
        for (std::uint32_t i = take_ended(w, in, of); i != no_index;) {
            const detail_block& d = its_detail(slot_at(i));
            const std::uint32_t index = i;
            const std::uint32_t shares = d.before;
            i = d.next;  // read before the task resumes
            ended(index, shares);
        }
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
