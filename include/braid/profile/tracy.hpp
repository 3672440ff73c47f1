#pragma once
// Shows tasks in Tracy while the program runs. Part of the library braid::tracy, which exists when
// Braid was built where Tracy is (BRAID_WITH_TRACY).
//
//   braid::profile::tracy_observer tracy;
//   braid::scheduler scheduler({.observer = &tracy});

#include "braid/core/observer.hpp"

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct tracy_options {
    /// Hears every event, too, right before Tracy does: a recorder, for example. Outlives the
    /// tracy_observer.
    observer* forward_to = nullptr;
};

/// In Tracy's words:
///   a task's own work           zone on its thread, with the task's name and place in the source
///   a join's part that another  zone "NAME, part", NAME being the task that joins
///     thread took
///   a wait inside a task        zone "wait" in the task's; what the wait runs lies within
///   a frame of a frame_loop     discontinuous frame; of those that overlap, the second one is
///                               "NAME 2", and so on, because Tracy wants no two at once of a name
///   a thread of the scheduler,  thread name; guests keep theirs
///     a main thread
/// What is cancelled has no zone, idle threads neither. Zones nest 1,024 deep; what lies deeper
/// is not shown.
///
/// Names may be any text that outlives its task: each different one is kept until the program
/// ends, as Tracy demands. A task whose name and place were seen before costs no allocation and no
/// lock. Where Tracy was built without TRACY_ENABLE, events are forwarded and nothing else.
///
/// Observes one scheduler, since ids of tasks are the scheduler's, and outlives it; any number of
/// them may exist.
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
