#pragma once
// How a submission ends, decided in the facts of its record with the processor's lock.
//
//   started       in flight
//   retired       over; decides how it ended, if nothing has before
//   lost          queued once more, or retired as failed
//   late          in flight: decides that it timed out, and stays in flight; else as retired
//   cancelled     in flight: unwanted, and stays in flight; else as retired
//
// D1  Who finds `how` open decides, once. What was decided in flight is settled by who let go of
//     it, or by the core, whose question has decided it; never by both.
// D2  stage::over means that the processor has let go of it, and not before.
// Free functions over the facts, so that a model checker compiles exactly these. What follows is
// the caller's: lists, counts, successors.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

enum class stage : std::uint8_t { unused, held, queued, in_flight, over };
enum class ending : std::uint8_t { open, completed, moved, failed, timed_out, cancelled };
/// How one start of it went.
enum class attempt : std::uint8_t { went_well, failed, cancelled, lost };

template <class Facts>
bool ended_well(const Facts& r) {
    return r.how == ending::completed || r.how == ending::moved;
}

/// True: it may start, for the first time or once more.
template <class Facts>
bool is_wanted(const Facts& r) {
    return r.how == ending::open && !r.is_unwanted;
}

struct letting_go {
    bool was_in_flight, was_queued;
    bool decides;  // how it ended: what comes after it is to know
    /// Nobody else settles it.
    bool settles() const { return decides && was_in_flight; }
    /// True: it had ended before, as it was late.
    bool is_late() const { return !decides && was_in_flight; }
};
/// The processor has let go of it, or never had it (D2).
template <class Facts>
letting_go let_go(Facts& r, ending how) {
    const letting_go what{r.at == stage::in_flight, r.at == stage::queued, r.how == ending::open};
    r.at = stage::over;
    if (what.decides) r.how = how;
    return what;
}

/// The processor was lost with it. `may`: it may run twice, and nothing is to end. True: it is
/// queued again.
template <class Facts>
bool takes_rerun(Facts& r, bool may) {
    if (!may || !is_wanted(r) || r.reruns_left == 0) return false;
    --r.reruns_left;
    return true;
}

/// The core asks for one with this id. False: it is another one, or one that does not know its id
/// yet, which answers when it does.
template <class Facts, class Id>
bool is_asked(Facts& r, const Id& id) {
    if (r.at != stage::held || r.done) return r.done == id;
    r.asked_early = true;
    return false;
}

enum class answer : std::uint8_t {
    ended,      // before
    lets_go,    // the caller does so, with how it ends
    hint,       // stays in flight until the processor has ended it
    timed_out,  // decided; stays in flight all the same
};
/// The time is up, which is `late`, or nobody wants it any more.
template <class Facts>
answer ask_to_end(Facts& r, bool late) {
    if (r.how != ending::open) return answer::ended;
    if (r.at != stage::in_flight) return answer::lets_go;
    r.is_unwanted = true;
    if (!late) return answer::hint;
    r.how = ending::timed_out;
    return answer::timed_out;
}

}  // namespace device::detail
BRAID_NAMESPACE_END
