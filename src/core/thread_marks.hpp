#pragma once
// Objects that put a mark on the calling thread while they live. core/extension.hpp includes this
// header.

#include "core/control/runtime.hpp"
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail::core {

/// While this object lives, tasks that become ready wake no thread. The destructor wakes one thread
/// if there is work then. Until then the calling thread counts as searching for work, so all
/// threads leave ready work to it (I5). So the object must live only for a short time, and no user
/// code except an observer may run in that time.
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

/// Marks that all tasks that the thread spawns while this object lives are children of open tasks.
/// So a draining scheduler accepts these tasks from any thread.
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
