#pragma once
// An edge that a running task made in order to wait (see life/suspensions_room.hpp). Such a wait
// may end early: a cancellation, or another predecessor where the first one is enough, takes the
// edges off.
//
//   edge   awaited ──► notified   by the predecessor, when it is complete
//                 └──► torn       by the one who takes it off
//   came   arming ──► armed ──► the id of the first predecessor; or past `armed`, at once
//
// A1  One CAS decides between the two. The winner has the edge's share of the successor's
//     `waits_for`, so the successor stays as it is until the winner drops it.
// A2  The memory of an edge that was notified is the successor's, that of a torn one the
//     predecessor's, which finds it in its list in the end.
// A3  While a task arms, it alone changes its list of edges; the first predecessor that finds it
//     armed takes the others off, and one that came before that leaves it to the task.
// Free functions over the words, so that a model checker compiles exactly these.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Fixed: of a builder; nobody takes it off.
enum await_state : std::uint8_t { edge_fixed, edge_awaited, edge_notified, edge_torn };

/// By the predecessor. False: the edge was taken off, and its memory is the caller's.
template <class State>
bool notify_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // acquire: pairs with tear_edge(), whose winner has read the edge.
    return state.compare_exchange_strong(seen, edge_notified, acq_rel, acquire);
}

/// True: off, and its memory is the predecessor's. False: notified, and the memory is the caller's.
template <class State>
bool tear_edge(State& state) {
    std::uint8_t seen = edge_awaited;
    // release: pairs with notify_edge(). acquire: the predecessor has read the edge.
    return state.compare_exchange_strong(seen, edge_torn, acq_rel, acquire);
}

inline constexpr std::uint64_t came_arming = 0, came_armed = 1;  // no id is as small

enum class arrived : std::uint8_t { later, first, first_of_armed };

/// By a predecessor that has notified its edge. first_of_armed: the caller takes the others off.
template <class Word>
arrived first_came(Word& came, std::uint64_t id) {
    std::uint64_t seen = came.load(relaxed);
    do {
        if (seen > came_armed) return arrived::later;
        // acquire: pairs with arm_first(), the edges are linked.
    } while (!came.compare_exchange_weak(seen, id, acquire, relaxed));
    return seen == came_armed ? arrived::first_of_armed : arrived::first;
}

/// By the task, when all edges are linked. False: one came before; the caller takes the others off.
template <class Word>
bool arm_first(Word& came) {
    std::uint64_t seen = came_arming;
    // release: pairs with first_came().
    return came.compare_exchange_strong(seen, came_armed, release, relaxed);
}

/// Drops that many shares. True: nothing holds the successor back any more.
template <class Count>
bool drop_waits(Count& waits_for, std::uint32_t shares) {
    // acq_rel: as in drop_wait().
    return waits_for.fetch_sub(shares, acq_rel) == shares;
}

}  // namespace detail
BRAID_NAMESPACE_END
