#pragma once

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class scheduler;
namespace detail {
class runtime;
}

enum class reset : std::uint8_t {
    automatic,  // each set() releases one waiter
    manual,     // set() releases every waiter until clear()
};

namespace detail {
/// The internal data of an event.
struct event_state {
    runtime& rt;
    reset mode;
    const char* name;               // null if the event has no name
    atomic<std::uint32_t> word{0};  // two bits: the event is set; a waiter may exist
};
}  // namespace detail

/// An event that a thread or task sets and that others wait for. Any thread may set it, inside or
/// outside a task. To wait for an event, call scheduler::do_work_while_waiting_for(), which keeps
/// the waiter's core busy with other work. An event may be destroyed as soon as a waiter has
/// returned, even while the set() that released that waiter has not returned yet.
class event {
public:
    BRAID_API explicit event(scheduler& s, reset mode = reset::automatic);
    /// `name` is for reports and must live as long as the event.
    BRAID_API event(scheduler& s, const char* name, reset mode = reset::automatic);
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    BRAID_API void set();
    BRAID_API void clear();
    BRAID_API bool is_set() const;

    /// Internal access for the core.
    detail::event_state& internals() { return state_; }
    const detail::event_state& internals() const { return state_; }

private:
    detail::event_state state_;
};

BRAID_NAMESPACE_END
