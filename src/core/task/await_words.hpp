#pragma once
// The edges that a running task made in order to wait (see life/suspensions_room.hpp). Such a wait
// may end early: a cancellation takes the edges off, or another predecessor does so if the first
// one is enough.
//
//   edge   awaited ──► notified   by the predecessor, when that is complete
//                 └──► torn       by the thread that takes the edge off
//   came   arming ──► armed ──► the id of the first predecessor
//                 └───────────► the same, if that predecessor comes before the task has armed
//
// A1  One CAS decides whether an edge is notified or torn. The winner has the edge's share of the
//     successor's `waits_for`, so the successor stays as it is until the winner drops that share.
// A2  The memory of a notified edge is the successor's. The memory of a torn edge is the
//     predecessor's, which finds the edge in its list when it completes.
// A3  While a task arms its wait, only the task changes its list of edges. The first predecessor
//     that finds the task armed takes the other edges off. A predecessor that came before that
//     leaves this to the task.
// These are free functions over the words, so that a model checker compiles exactly these.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The state of an edge. A fixed edge is of a builder, or of a wait that cannot end early: nobody
/// takes it off.
enum await_state : std::uint8_t { edge_fixed, edge_awaited, edge_notified, edge_torn };

/// Called by the predecessor to notify the successor. Returns false if the edge was taken off; its
/// memory is then the caller's.
template <class State>
bool notify_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // acquire: pairs with tear_edge(), whose winner has read the edge.
    return state.compare_exchange_strong(seen, edge_notified, acq_rel, acquire);
}

/// Takes the edge off. Returns true if it is off; its memory is then the predecessor's. Returns
/// false if the edge was notified; its memory is then the caller's.
template <class State>
bool tear_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // release: pairs with notify_edge(). acquire: the predecessor has read the edge.
    return state.compare_exchange_strong(seen, edge_torn, acq_rel, acquire);
}

inline constexpr std::uint64_t came_arming = 0, came_armed = 1;  // smaller than any id

enum class arrived : std::uint8_t { later, first, first_of_armed };

/// Records the predecessor `id` if no other one came before. Called by a predecessor that has
/// notified its edge, or by the task for a predecessor that was complete already. Returns
/// first_of_armed if the caller has to take the other edges off.
template <class Word>
arrived first_came(Word& came, std::uint64_t id) {
    std::uint64_t seen = came.load(relaxed);
    do {
        if (seen > came_armed) return arrived::later;
        // acquire: pairs with arm_first(). All edges are linked.
    } while (!came.compare_exchange_weak(seen, id, acquire, relaxed));
    return seen == came_armed ? arrived::first_of_armed : arrived::first;
}

/// Called by the task when all edges are linked. Returns false if a predecessor came before; the
/// caller then takes the other edges off.
template <class Word>
bool arm_first(Word& came) {
    std::uint64_t seen = came_arming;
    // release: pairs with first_came().
    return came.compare_exchange_strong(seen, came_armed, release, relaxed);
}

/// Drops `shares` of `waits_for`. Returns true if nothing holds the successor back any more.
template <class Count>
bool drop_waits(Count& waits_for, std::uint32_t shares) {
    // acq_rel: as in drop_wait().
    return waits_for.fetch_sub(shares, acq_rel) == shares;
}

}  // namespace detail
BRAID_NAMESPACE_END
