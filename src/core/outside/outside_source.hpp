#pragma once
// One object of the program that does something when something comes from outside: a timer or a
// descriptor that makes tasks, a coroutine that waits for a descriptor. What the room of these
// keeps of it.

#include "base/platform/poller.hpp"
#include "base/timer_wheel.hpp"
#include "braid/core/task.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime;
struct whole_seat;

/// What has come, and when. Times are those of outside_room::clock().
struct arrival {
    std::int64_t deadline = 0;  // of a timer
    std::int64_t now = 0;
    std::uint64_t missed = 0;                 // periods of a timer that went by as a whole
    platform::descriptor_events events = {};  // of a descriptor
    bool rested = false;                      // nothing has come: see outside_room::rest()
    task_id wait = {};                        // of a timer: as observers know it
};

/// What a timer of the core does: plain data. On the source thread, which has the seat, without a
/// lock, together with others; runs no code of the program and never waits.
struct timer_call {
    void (*due)(runtime& rt, whole_seat& w, std::uint64_t word, const arrival& what) = nullptr;
    std::uint64_t word = 0;
    std::uint64_t stable_id = 0;  // for a chooser
};

/// Stays where it is from outside_room::attach() to detach().
class outside_source {
public:
    /// What is awaited, a descriptor or a processor, is part of a task, so it goes on while the
    /// scheduler drains, and ends before that does.
    enum class kind : std::uint8_t { timer, descriptor, awaited };

    /// On the source thread, like timer_call::due.
    virtual void arrived(runtime& rt, whole_seat& w, const arrival& what) = 0;
    /// The scheduler ends first, which is a mistake of the program's: detaches itself, and is
    /// touched by nobody from then on.
    virtual void abandon() = 0;

    const char* name() const { return name_; }
    const std::source_location& where() const { return where_; }
    /// For a chooser; 0 without one.
    std::uint64_t stable_id() const { return stable_id_; }
    void set_stable_id(std::uint64_t id) { stable_id_ = id; }

protected:
    outside_source(kind k, const char* name, const std::source_location& where)
        : kind_(k), name_(name), where_(where) {}
    virtual ~outside_source() = default;

private:
    friend class outside_room;  // links and arms them under its lock; derived classes must not

    const kind kind_;
    const char* const name_;
    const std::source_location where_;
    std::uint64_t stable_id_ = 0;
    std::uint64_t arrivals_ = 0;  // with a stable id; the source thread's
    // Guarded by the room's lock.
    outside_source *next_ = nullptr, *before_ = nullptr;
    bool attached_ = false;
    timer_id armed_{};
    task_id wait_{};           // with armed_; for observers
    std::int64_t period_ = 0;  // 0: comes once
    bool wanted_ = false;      // was armed, and not disarmed since
    bool rests_ = false;       // see outside_room::rest()
    int descriptor_ = -1;
    std::uint64_t tag_ = 0;  // for the poller, from the first descriptor on; 0: it has none
};

}  // namespace detail
BRAID_NAMESPACE_END
