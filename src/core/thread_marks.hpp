#pragma once
// Marks that a module gives the calling thread as long as an object lives. core/extension.hpp
// includes this header.

#include "core/control/runtime.hpp"
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail::core {

/// While this object lives, everything that the thread settles leads to only one decision whether
/// to wake a thread. The decision is made at the end. Until then the thread counts as one that
/// searches, to which all threads leave ready work (I5). So the object must live only for a short
/// time, and in that time no code of the program may run except an observer.
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

/// While this object lives, the tasks that the thread spawns are children of open tasks. So a
/// scheduler that drains accepts them from any thread.
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
