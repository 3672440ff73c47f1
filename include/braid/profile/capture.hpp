#pragma once
// A capture holds the events that a recorder has recorded, in memory or in a file.
// docs/design/profile.md describes the file format.

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

/// The kind of a record. The numbers are stored in files, so existing numbers never change. New
/// kinds get new numbers. `task` and `other` are values of task ids, where 0 means no task. The
/// comments below describe `aux` and `flags`, and also `other` where it is not a task id. In these
/// comments, `type` is an index into capture::types. A lane holds the records of one thread or of
/// one device queue.
///
/// Three kinds of event have no record of their own, because other data in the capture contains the
/// same information. A `failed` event is the flag end_failed of the task's `ended` record. A
/// `helped` event is a task that starts on a lane between a wait_begin and its wait_end. A `seated`
/// event is the seat and the kind of the lane. A guest's lane has the seat and the kind of the
/// guest's last call.
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

// On a lane of kind `device`, the task of a record is a completion. `started` and `ended` have the
// times at which a processor began and ended the work of the completion. A scope_begin and
// scope_end between them are a transfer.

enum spawn_flags : std::uint8_t {
    spawn_priority = 3,    // the bits of the priority: 0 low, 1 normal, 2 high
    spawn_restricted = 4,  // only certain threads may run it
    spawn_background = 8,
};
enum end_flags : std::uint8_t {
    end_failed = 1,
    end_switched = 2,  // the thread was off its core at least once during the body
};
enum join_flags : std::uint8_t {
    join_kept = 1,  // no thread stole the second part: it ran on this lane or did not run
};
enum switch_flags : std::uint8_t {
    switch_preempted = 1,  // the thread was still runnable
};

/// One event on one lane. The file uses the same layout, little-endian.
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

/// The name and the place in the source of tasks, scopes, counters or frames.
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
    flag,   // only the flag end_switched
    count,  // the flag end_switched, and `switches` records
    exact,  // the flag end_switched, and `switched_out` and `switched_in` records
};

/// A thread or a device queue, with its records in order of time.
struct lane {
    static constexpr std::uint32_t no_seat = 0xffffffff;
    std::string name;
    lane_kind kind = lane_kind::other;
    std::uint32_t seat = no_seat;  // for a device, the processor's number
    std::uint64_t thread = 0;      // the system's number of the thread
    std::uint64_t dropped = 0;     // records for which the ring had no room
    std::vector<record> records;
    /// The switch level of this lane, if it was recorded. Lanes may have different levels, because
    /// the system may refuse to one thread what it allows to another. See switches_of().
    std::optional<switch_level> switches = {};
    /// The largest error, in ns, of the times of the lane's records if a processor's own clock
    /// measured them. It is 0 if the clock of the threads measured them, or if the error is not
    /// known.
    std::uint32_t clock_error = 0;
};

/// The readings of two clocks at one moment. The times of records are computed from ticks with the
/// help of such pairs.
struct clock_pair {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;  // the reading of CLOCK_MONOTONIC
};

struct capture {
    std::vector<record_type> types;  // types[0] has no name
    std::vector<lane> lanes;
    std::vector<std::pair<std::string, std::string>> info;  // such as "pid", "program"
    std::vector<clock_pair> clocks;
    switch_level switches = switch_level::none;
    std::uint64_t began_at = 0;  // ns since 1970
    std::uint64_t duration = 0;  // ns; the time of the last record if the end is missing
    bool whole = true;  // false if the file is truncated; the records before the cut are here
};

/// Returns the switch level of the lane, or the level of the capture if the lane has none.
inline switch_level switches_of(const capture& from, const lane& of) {
    return of.switches.value_or(from.switches);
}

/// Reads a file that a recorder has written. If `progress` is set, it is called from time to time
/// with the fraction that has been read, 0 to 1. A truncated file is read up to the cut (see
/// capture::whole). If the file is not a capture or is inconsistent, the returned status describes
/// the problem, and `to` is empty.
BRAID_API status read_capture(const std::string& path, capture& to,
                              const std::function<void(double)>& progress = {});
BRAID_API status read_capture(std::span<const std::byte> bytes, capture& to,
                              const std::function<void(double)>& progress = {});

/// Returns the bytes of the file that a recorder would write for the capture.
BRAID_API std::vector<std::byte> bytes_of(const capture& from);
BRAID_API status write_capture(const capture& from, const std::string& path);

}  // namespace profile
BRAID_NAMESPACE_END
