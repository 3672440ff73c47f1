#pragma once
// use() of a page without a lock, against the thread that evicts it, over the atomics of a policy.
//
// Who uses it says in which frame, and then looks whether it is resident; who evicts says that the
// page is leaving, and then looks which frame uses it. All four are seq_cst, so one of the two sees
// the other.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class page_stage : std::uint8_t {
    absent,
    loading,
    packed,     // read; unpacked when there is time
    unpacking,  // by one thread
    unpacked,   // its task makes it resident
    resident,
    leaving,  // somebody looks whether it is in use, under the lock
};

struct page_usage {
    bool there, first;  // `first`: nobody has used it in this frame or a later one
};

template <class Stage, class Frame>
page_usage use_page(Stage& stage, Frame& used, std::uint64_t frame) {
    bool first = false;
    // acquire: that somebody else has said it counts as said before what follows.
    std::uint64_t seen = used.load(acquire);
    while (seen < frame && !first) {
        // seq_cst, and the load below: pair with let_page_leave().
        first = used.compare_exchange_weak(seen, frame, seq_cst, acquire);
    }
    return {stage.load(seq_cst) == page_stage::resident, first};
}

/// Under the lock, of what is resident. False: a frame uses it for which `has_ended` says no.
template <class Stage, class Frame, class HasEnded>
bool let_page_leave(Stage& stage, Frame& used, HasEnded&& has_ended) {
    stage.store(page_stage::leaving, seq_cst);  // pairs with use_page()
    if (has_ended(used.load(seq_cst))) return true;
    stage.store(page_stage::resident, seq_cst);
    return false;
}

/// Under the lock. What it is made of was written before.
template <class Stage>
void let_page_enter(Stage& stage) {
    // seq_cst: pairs with use_page(), whose caller reads the page then.
    stage.store(page_stage::resident, seq_cst);
}

}  // namespace detail
BRAID_NAMESPACE_END
