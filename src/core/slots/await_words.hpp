#pragma once
// The states of the edges by which a suspended task waits (see life/suspensions_room.hpp). Such a
// wait may end early: because of a cancellation, or because the first complete predecessor is
// enough. The remaining edges are then torn, so the task no longer waits for those predecessors.
//
//   edge   awaited ──► notified   by the predecessor, when it is complete
//                 └──► torn       by the thread that ends the wait early
//   came   arming ──► armed ──► the id of the first complete predecessor
//                 └───────────► the same, if that predecessor completes before the task has armed
//
// A1  One CAS decides whether an edge is notified or torn. The winner gets the edge's share of the
//     successor's `waits_for`, so the successor cannot resume until the winner drops that share.
// A2  A notified edge belongs to the successor's side, which frees it. A torn edge belongs to the
//     predecessor, which finds it in its list when it completes, and then frees it.
// A3  While a task arms its wait, only the task changes its list of edges. The first predecessor
//     that completes after that tears the other edges. If a predecessor completes before that, it
//     leaves the other edges to the task, which tears them as soon as it has armed.
// These are free functions over the words, so that a model checker compiles the same code.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The state of an edge. A fixed edge is never torn: it was made by a builder, or for a wait that
/// cannot end early.
enum await_state : std::uint8_t { edge_fixed, edge_awaited, edge_notified, edge_torn };

/// Called by the predecessor when it is complete. Returns true if the edge is now notified. Returns
/// false if the edge was torn before; the caller must then free the edge.
template <class State>
bool notify_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // acquire: pairs with tear_edge(). The thread that tore the edge no longer reads it.
    return state.compare_exchange_strong(seen, edge_notified, acq_rel, acquire);
}

/// Called by a thread that ends the wait early. Returns true if the edge is now torn; the
/// predecessor will free it. Returns false if the edge was notified before; the caller must then
/// free the edge.
template <class State>
bool tear_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // release: pairs with notify_edge(). acquire: the predecessor no longer reads the edge.
    return state.compare_exchange_strong(seen, edge_torn, acq_rel, acquire);
}

inline constexpr std::uint64_t came_arming = 0, came_armed = 1;  // smaller than any id

enum class arrived : std::uint8_t { later, first, first_of_armed };

/// Records `id` as the first complete predecessor, if there was none before. Called by a
/// predecessor that has notified its edge, or by the task for a predecessor that was complete
/// already. Returns first_of_armed if the caller must tear the other edges.
template <class Word>
arrived first_came(Word& came, std::uint64_t id) {
    std::uint64_t seen = came.load(relaxed);
    do {
        if (seen > came_armed) return arrived::later;
        // acquire: pairs with arm_first(). All edges are linked.
    } while (!came.compare_exchange_weak(seen, id, acquire, relaxed));
    return seen == came_armed ? arrived::first_of_armed : arrived::first;
}

/// Called by the task when all of its edges are linked. Returns false if a predecessor has
/// completed before; the caller must then tear the other edges.
template <class Word>
bool arm_first(Word& came) {
    std::uint64_t seen = came_arming;
    // release: pairs with first_came().
    return came.compare_exchange_strong(seen, came_armed, release, relaxed);
}

/// Drops `shares` of `waits_for`. Returns true if they were the last ones; the caller must then
/// make the successor ready.
template <class Count>
bool drop_waits(Count& waits_for, std::uint32_t shares) {
    // acq_rel: as in drop_wait().
    return waits_for.fetch_sub(shares, acq_rel) == shares;
}

}  // namespace detail
BRAID_NAMESPACE_END
