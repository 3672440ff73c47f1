#pragma once
// Shows tasks in Tracy while the program runs. This is part of the library braid::tracy, which
// exists if Tracy was available when Braid was built (BRAID_WITH_TRACY).
//
//   braid::profile::tracy_observer tracy;
//   braid::scheduler scheduler({.observer = &tracy});

#include "braid/core/observer.hpp"

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct tracy_options {
    /// An observer, such as a recorder, that also receives every event, right before Tracy does. It
    /// must outlive the tracy_observer. Null means none.
    observer* forward_to = nullptr;
};

/// What Tracy shows, in Tracy's words:
///   a task's own work           zone on its thread, with the task's name and place in the source
///   a join's part that another  zone "NAME, part", NAME being the task that joins
///     thread took
///   a wait inside a task        zone "wait" in the task's; what the wait runs lies within
///   a frame of a frame_loop     discontinuous frame; of those that overlap, the second one is
///                               "NAME 2", and so on, because Tracy wants no two at once of a name
///   a thread of the scheduler,  thread name; guests keep theirs
///     a main thread
/// Cancelled tasks and idle threads have no zone. Zones nest 1,024 deep. Deeper ones are not shown.
///
/// Names may be any text that outlives its task. A copy of each different name is kept until the
/// program ends, as Tracy demands. A task whose name and place were seen before costs no allocation
/// and no lock. If Tracy was built without TRACY_ENABLE, events are forwarded and nothing else
/// happens.
///
/// A tracy_observer observes one scheduler, because ids of tasks are the scheduler's, and outlives
/// it. Any number of them may exist.
class tracy_observer final : public observer {
public:
    explicit tracy_observer(const tracy_options& options = {});
    /// Ends the frames that no event has ended.
    ~tracy_observer();
    tracy_observer(const tracy_observer&) = delete;
    tracy_observer& operator=(const tracy_observer&) = delete;

    void on_event(const task_event& e) override;

    struct state;

private:
    std::unique_ptr<state> state_;
};

}  // namespace profile
BRAID_NAMESPACE_END
