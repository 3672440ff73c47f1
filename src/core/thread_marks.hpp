#pragma once
// What a module says of the calling thread, as long as an object lives. Included by
// core/extension.hpp.

#include "core/control/runtime.hpp"
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail::core {

/// What the thread settles as long as this lives leads to one decision whether to wake a thread, at
/// the end: it counts as one that searches, to which everybody leaves what is ready (I5). So it
/// must be short, and no code of the program may run meanwhile but an observer.
class one_wake {
public:
    explicit one_wake(runtime& rt) : rt_(rt) { rt_.asleep().begin_search(searcher::idle); }
    ~one_wake() {
        if (rt_.asleep().end_search(searcher::idle) && rt_.work_visible()) rt_.wake_one();
    }
    one_wake(const one_wake&) = delete;
    one_wake& operator=(const one_wake&) = delete;

private:
    runtime& rt_;
};

/// What the thread spawns as long as this lives are children of tasks that are open: a scheduler
/// that drains takes them, too, from whatever thread.
class making_children {
public:
    explicit making_children(runtime& rt)
        : seat_(rt, nullptr), outer_(std::exchange(seat_->makes_children, true)) {}
    ~making_children() { seat_->makes_children = outer_; }
    making_children(const making_children&) = delete;
    making_children& operator=(const making_children&) = delete;
    whole_seat& seat_of_thread() const { return *seat_; }

private:
    const seat_lease seat_;
    const bool outer_;
};

}  // namespace detail::core
BRAID_NAMESPACE_END
