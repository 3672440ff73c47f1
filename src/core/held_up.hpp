#pragma once
// Waits of modules, which sleep without the scheduler: reports name them.

#include "core/seats/parking_lot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
class runtime;
struct whole_seat;
}  // namespace detail

namespace detail::core {

/// A thread that has a seat sleeps in a module's own wait as long as this lives: reports say that
/// it waits for `what` of `name`. Without a chooser.
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
