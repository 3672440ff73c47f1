#pragma once
// An outside source is a user object that reacts to events from outside the scheduler. Examples are
// a timer or a descriptor that makes tasks, and a coroutine that waits for a descriptor. This
// header defines its base class, with the data that the outside room stores in it.

#include "base/platform/poller.hpp"
#include "base/timer_wheel.hpp"
#include "braid/core/task.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime;
struct whole_seat;

/// Describes an event that has arrived. Times are those of outside_room::clock().
struct arrival {
    std::int64_t deadline = 0;  // of a timer
    std::int64_t now = 0;
    std::uint64_t missed = 0;                 // whole periods since the deadline of a timer
    platform::descriptor_events events = {};  // of a descriptor
    bool rested = false;                      // no event, but the end of outside_room::rest()
    task_id wait = {};                        // of a timer: the id of its wait, for observers
};

/// What a timer of the core calls when it is due, as plain data. The source thread calls `due` on
/// its own seat, without a lock, as one item of a batch. The function must run no user code and
/// must never wait.
struct timer_call {
    void (*due)(runtime& rt, whole_seat& w, std::uint64_t word, const arrival& what) = nullptr;
    std::uint64_t word = 0;
    std::uint64_t stable_id = 0;  // for a chooser
};

/// A source must not be moved or destroyed between outside_room::attach() and detach().
class outside_source {
public:
    /// A source of the kind `awaited` is part of a task, for example an awaited descriptor, or a
    /// processor. So it still works while the scheduler drains, and ends before the scheduler does.
    enum class kind : std::uint8_t { timer, descriptor, awaited };

    /// Called by the source thread when an event has arrived, under the rules of timer_call::due.
    virtual void arrived(runtime& rt, whole_seat& w, const arrival& what) = 0;
    /// Called if the scheduler ends before the source, which is a mistake of the program. The
    /// source must detach itself. The scheduler does not touch it from then on.
    virtual void abandon() = 0;

    const char* name() const { return name_; }
    const std::source_location& where() const { return where_; }
    /// Returns the id by which a chooser knows the source, or 0 if the source has no stable id.
    std::uint64_t stable_id() const { return stable_id_; }
    void set_stable_id(std::uint64_t id) { stable_id_ = id; }

protected:
    outside_source(kind k, const char* name, const std::source_location& where)
        : kind_(k), name_(name), where_(where) {}
    virtual ~outside_source() = default;

private:
    friend class outside_room;  // links and arms sources under its lock; derived classes must not

    const kind kind_;
    const char* const name_;
    const std::source_location where_;
    std::uint64_t stable_id_ = 0;
    std::uint64_t arrivals_ = 0;  // counted only with a stable id; source thread only
    // The room's lock guards the following members.
    outside_source *next_ = nullptr, *before_ = nullptr;
    bool attached_ = false;
    timer_id armed_{};
    task_id wait_{};           // set with armed_; for observers
    std::int64_t period_ = 0;  // 0 if the timer is not periodic
    bool wanted_ = false;      // was armed, and not disarmed since
    bool rests_ = false;       // see outside_room::rest()
    int descriptor_ = -1;
    std::uint64_t tag_ = 0;  // its tag in watched_sources; 0 if it has none
};

}  // namespace detail
BRAID_NAMESPACE_END
