#pragma once
// A capture is what a recorder has seen, in memory or in a file. docs/design/profile.md describes
// the bytes of the file.

#include "braid/base/export.hpp"
#include "braid/base/status.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// What happened. The numbers stand in files: they are never changed, new ones are only added.
/// `task` and `other` are values of task ids, where 0 means none. The comments below say what
/// `aux` and `flags` hold, and where `other` holds something else. Three kinds of event have no
/// record, because other records say the same. `failed` is the flag end_failed of the task's
/// `ended`. `helped` is what starts on a lane between a wait_begin and its wait_end. `seated` is
/// the seat and the kind of the lane, which for a guest are those of its last call.
enum class record_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    // Other = parent, aux = type, flags = spawn_flags.
    spawned = 1,
    // Task waits for other, or would if that were not complete already.
    edge = 2,
    // Other = the task whose end released it.
    ready = 3,
    // On this lane, aux = type.
    started = 4,
    // The task's own work ended; flags = end_flags.
    ended = 5,
    // Own work and all children.
    completed = 6,
    // Will not run; completed follows.
    cancelled = 7,
    // Task (0: outside of tasks) waits, other = awaited (0: something else).
    wait_begin = 8,
    // The wait has ended.
    wait_end = 9,
    // Task, aux = seat it was taken from.
    stolen = 10,
    // The lane found nothing to run and goes on searching.
    searching = 11,
    // The lane's thread sleeps.
    parked = 12,
    // The lane's thread is awake again.
    unparked = 13,
    // Other = the event; task = who set it, 0: code outside of tasks.
    event_set = 14,
    // Other = the event; before the wait_end of the wait that took it.
    event_taken = 15,
    // Other = the resource, aux = type.
    acquired = 16,
    // Other = the resource, aux = type.
    released = 17,
    // Task offers the second part of a join, other.
    forked = 18,
    // Both parts of the join other have ended; flags = join_flags, aux = whose seat ran it.
    joined = 19,
    // The part other of task's join runs here, aux = seat it was taken from.
    job_started = 20,
    // The part has ended.
    job_ended = 21,
    // Other = number, aux = type.
    frame_begin = 32,
    // Other = number, aux = type.
    frame_end = 33,
    // Aux = type; scopes of a lane nest.
    scope_begin = 34,
    // Aux = type.
    scope_end = 35,
    // Aux = type, other = the bits of a double.
    counter = 36,
    // The system took the thread off its core; flags = switch_flags.
    switched_out = 37,
    // The thread is on a core again.
    switched_in = 38,
    // Since the last one on this lane: other = voluntary, aux = involuntary.
    switches = 39,
    // Task, a completion (or a timer's wait), holds other (or 0) open; aux = type.
    deferred = 40,
    // Task, what other waited for, was settled, or its timer due or disarmed; aux = type.
    settled = 41,
    // The task gave the lane back; flags = end_flags.
    suspended = 42,
    // On this lane, aux = type.
    resumed = 43,
    // ---- as far as here
};

// On a lane of kind `device`, `started` and `ended` are the times at which a processor began and
// ended the work of a completion, which is `task`. A scope_begin and scope_end between them are a
// transfer.

enum spawn_flags : std::uint8_t {
    spawn_priority = 3,    // mask: 0 low, 1 normal, 2 high
    spawn_restricted = 4,  // only certain threads may run it
    spawn_background = 8,
};
enum end_flags : std::uint8_t {
    end_failed = 1,
    end_switched = 2,  // the thread was off its core at least once during the body
};
enum join_flags : std::uint8_t {
    join_kept = 1,  // nobody stole the second part: it ran on this lane or not at all
};
enum switch_flags : std::uint8_t {
    switch_preempted = 1,  // the thread wanted to go on
};

/// One thing that happened on one lane. The file has the same layout, little-endian.
struct record {
    std::uint64_t time = 0;  // ns since the capture began
    std::uint64_t task = 0;
    std::uint64_t other = 0;
    std::uint32_t aux = 0;
    std::uint16_t core = no_core;  // the core that the lane's thread was on, if known
    record_kind kind = {};
    std::uint8_t flags = 0;

    static constexpr std::uint16_t no_core = 0xffff;
    friend bool operator==(const record&, const record&) = default;
};
static_assert(sizeof(record) == 32);

/// Identifies tasks, scopes, counters and frames by their name and place in the source.
struct record_type {
    std::string name;
    std::string file;        // empty if not known
    std::uint32_t line = 0;  // 0 if not known
    friend bool operator==(const record_type&, const record_type&) = default;
};

enum class lane_kind : std::uint32_t { other, worker, main, reserve, background, guest, device };

/// How much is known of the times at which the system switches threads.
enum class switch_level : std::uint32_t {
    none,   // nothing
    flag,   // the flag end_switched
    count,  // end_switched, and records `switches`
    exact,  // end_switched, and records `switched_out` and `switched_in`
};

/// A thread or a device queue, with what happened on it in order of time.
struct lane {
    static constexpr std::uint32_t no_seat = 0xffffffff;
    std::string name;
    lane_kind kind = lane_kind::other;
    std::uint32_t seat = no_seat;  // for a device, the processor's number
    std::uint64_t thread = 0;      // the system's number of the thread
    std::uint64_t dropped = 0;     // records for which the ring had no room
    std::vector<record> records;
    /// The level of this lane, if it was recorded. Lanes may differ, because the system may refuse
    /// to one thread what it allows to another. See switches_of().
    std::optional<switch_level> switches = {};
    /// The largest error, in ns, of the times of the lane's records if they come from a
    /// processor's own clock. It is 0 if they come from the clock of the threads, or if the error
    /// is not known.
    std::uint32_t clock_error = 0;
};

/// The two clocks at one moment. The times of records are computed from ticks by such pairs.
struct clock_pair {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;  // CLOCK_MONOTONIC
};

struct capture {
    std::vector<record_type> types;  // [0] has no name
    std::vector<lane> lanes;
    std::vector<std::pair<std::string, std::string>> info;  // such as "pid", "program"
    std::vector<clock_pair> clocks;
    switch_level switches = switch_level::none;
    std::uint64_t began_at = 0;  // ns since 1970
    std::uint64_t duration = 0;  // ns; the time of the last record if the end is missing
    bool whole = true;           // false if the file is cut off; what precedes the cut is here
};

/// Returns how much is known of the lane's switches.
inline switch_level switches_of(const capture& from, const lane& of) {
    return of.switches.value_or(from.switches);
}

/// Reads a file that a recorder has written. `progress`, if given, is called now and then with the
/// share that is done, 0 to 1. A file that is cut off is read up to the cut (see capture::whole).
/// If the file is not a capture or contradicts itself, the returned status says what is wrong, and
/// `to` is empty.
BRAID_API status read_capture(const std::string& path, capture& to,
                              const std::function<void(double)>& progress = {});
BRAID_API status read_capture(std::span<const std::byte> bytes, capture& to,
                              const std::function<void(double)>& progress = {});

/// Returns the bytes of a capture's file, as a recorder would write it.
BRAID_API std::vector<std::byte> bytes_of(const capture& from);
BRAID_API status write_capture(const capture& from, const std::string& path);

}  // namespace profile
BRAID_NAMESPACE_END
