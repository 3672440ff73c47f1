#pragma once
// Tasks of scopes whose wait a cancellation may end, in lists, so that cancelling finds them.

#include "core/life/completion_lists.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class suspension_lists : public completion_lists {
public:
    using completion_lists::completion_lists;

    /// A task suspends. A thread that cancels its scope finds it here, or has cancelled before.
    void list_suspended(std::uint32_t index);
    /// A task goes on that is listed still.
    void unlist_suspended(std::uint32_t index);

protected:
    /// What the tasks of that scope await, they await no longer: ended(index, shares) is called for
    /// each, without the lock, and drops these shares of its `waits_for`. Looks once at each that
    /// is listed.
    template <class F>
    void end_listed_waits(life_seat& w, const scope_state& of, F&& ended);

private:
    struct alignas(64) shard {
        mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// Slots that one thread takes one after the other come in batches.
    shard& shard_of(std::uint32_t index) { return suspended_[index / 32 % shards]; }
    void unlink(shard& in, detail_block& d) BRAID_REQUIRES(in.lock);
    std::uint32_t take_ended(life_seat& w, shard& in, const scope_state& of);

    shard suspended_[shards];
};

template <class F>
void suspension_lists::end_listed_waits(life_seat& w, const scope_state& of, F&& ended) {
    for (shard& in : suspended_) {
        // With a chooser another thread may go on where one becomes ready, hence without the lock.
        for (std::uint32_t i = take_ended(w, in, of); i != no_index;) {
            const detail_block& d = its_detail(slot_at(i));
            const std::uint32_t index = i;
            const std::uint32_t shares = d.before;
            i = d.next;  // before it goes on
            ended(index, shares);
        }
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
