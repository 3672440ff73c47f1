// This file notifies suspended tasks when a task that they await is complete. Another thread may
// tear their edges at the same time; see task/await_words.hpp.
#include "core/life/life_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Notifies the successor at edge `e`, unless another thread has torn the edge. Returns true if the
/// successor has received the failure.
[[gnu::noinline]] bool life_room::notify_awaiting(life_seat& w, std::uint32_t e, task_id from,
                                                  outcome* result) {
    // The edge is read before notify_edge(), because after that it belongs to the successor.
    const std::uint32_t successor = index_of(edges.at(e).to.load(relaxed));
    if (!notify_edge(edges.at(e).await)) {
        edges.give(w.edges, e);
        return false;
    }
    slot& to = slots.at(successor);
    detail_block& d = *details.find(to);
    arrived how = arrived::first;
    std::uint32_t shares = 1;
    if (d.first_is_enough.load(relaxed)) how = first_came(d.came, from.value);
    if (how == arrived::first_of_armed) shares += edges.tear(w.edges, to);
    const bool received = result != nullptr && how != arrived::later;
    if (received) {
        to.mark(flag_cancel);
        outcomes.adopt(w.details, successor, outcomes.share(result), 0);
    }
    if (drop_waits(to.waits_for, shares)) make_ready(w, successor, from);
    return received;
}

}  // namespace detail
BRAID_NAMESPACE_END
