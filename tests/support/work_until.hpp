#pragma once
// A wait for what tasks bring about that nobody can wait for.

#include <braid/core/event.hpp>
#include <braid/core/scheduler.hpp>

namespace braid_test {

/// Also without workers.
template <class Condition>
void work_until(braid::scheduler& s, Condition&& condition) {
    braid::event never(s);
    while (!condition()) s.do_work_while_waiting_for(never, braid::microseconds(100));
}

}  // namespace braid_test
