#pragma once
// Some waits of modules sleep on a lock of the module, unseen by the scheduler. A held_up object
// makes such a wait visible to reports.

#include "core/seats/parking_lot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
class runtime;
struct whole_seat;
}  // namespace detail

namespace detail::core {

/// Marks the calling thread as asleep in a module's own wait while this object lives. Reports then
/// say that the thread waits for `what` of `name`. The object does nothing if the thread has no
/// seat. A thread that passes the gate of a chooser does not use it; see sleep_at_gate().
class held_up {
public:
    held_up(runtime& rt, const void* at, const char* what, const char* name);
    ~held_up();
    held_up(const held_up&) = delete;
    held_up& operator=(const held_up&) = delete;

private:
    runtime& rt_;
    whole_seat* const seat_;
    named_wait_record record_;
};

}  // namespace detail::core
BRAID_NAMESPACE_END
