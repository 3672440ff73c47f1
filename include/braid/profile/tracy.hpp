#pragma once
// Shows tasks in Tracy while the program runs. This header belongs to the library braid::tracy,
// which exists if Tracy was available when Braid was built (BRAID_WITH_TRACY).
//
//   braid::profile::tracy_observer tracy;
//   braid::scheduler scheduler({.observer = &tracy});

#include "braid/core/observer.hpp"

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct tracy_options {
    /// An observer, such as a recorder, that also receives every event, right before Tracy receives
    /// it. The observer must outlive the tracy_observer. Null means no other observer.
    observer* forward_to = nullptr;
};

/// How Tracy shows events, in Tracy's terms:
///   a task's own work           a zone on the thread that runs it, with the task's name and place
///                               in the source
///   a join's part that another  a zone "NAME, part", where NAME is the name of the joining task
///     thread took
///   a wait inside a task        a zone "wait" inside the task's zone; tasks that the wait runs are
///                               zones inside the zone "wait"
///   a frame of a frame_loop     a discontinuous frame; Tracy allows no two frames of one name at a
///                               time, so of overlapping frames the second is "NAME 2", and so on
///   a thread of the scheduler,  a thread name; guests keep their names
///     a main thread
/// Cancelled tasks and idle threads have no zone. Zones nest up to 1,024 deep. Deeper zones are not
/// shown.
///
/// Names may be any text that outlives its task. A copy of each different name is kept until the
/// program ends, because Tracy requires this. A task whose name and place were seen before costs no
/// allocation and no lock. If Tracy was built without TRACY_ENABLE, the tracy_observer only
/// forwards events.
///
/// A tracy_observer must observe only one scheduler, because each scheduler has its own task ids.
/// The tracy_observer must outlive the scheduler. Any number of tracy_observers may exist.
class tracy_observer final : public observer {
public:
    explicit tracy_observer(const tracy_options& options = {});
    /// Ends each frame for which no frame_end event was received.
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
