#pragma once
// Defines captures. A capture holds the events that a recorder has recorded, in memory or in a
// file. docs/design/profile.md describes the file format.

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
/// kinds get new numbers. A lane holds the records of one thread or of one device queue.
///
/// The comments below use the names of the members of `record`. `task` is the value of the id of
/// the task that the record is about, and 0 means no task. `other` is the value of a second task
/// id, the address of an object (an event, a resource or a join), or a number. `aux` is a seat, a
/// count, or a type, which is an index into capture::types. Each comment says what its kind stores
/// in `other`, `aux` and `flags`. In `deferred` and `settled` records, `task` is a completion and
/// `other` is the task to which the completion belongs. For a timer, `other` is 0.
///
/// Three kinds of event (see event_kind) have no record of their own, because other data in the
/// capture contains the same information. A `failed` event appears as the flag end_failed of the
/// task's `ended` record. A `helped` event appears as a task that starts on a lane between a
/// wait_begin and its wait_end. A `seated` event appears as the seat and the kind of the lane. A
/// guest's lane has the seat and the kind of the guest's last call.
enum class record_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    // `other` is the parent of `task`, `aux` its type, and `flags` are spawn_flags.
    spawned = 1,
    // `task` depends on the task `other`, which may be complete already.
    edge = 2,
    // `task` is ready. `other` is the task whose end released it, or 0.
    ready = 3,
    // `task` starts on this lane. `aux` is its type.
    started = 4,
    // The own work of `task` has ended. `flags` are end_flags.
    ended = 5,
    // The own work of `task` and all its children have ended.
    completed = 6,
    // `task` will not run. A `completed` record follows.
    cancelled = 7,
    // `task` (0 outside of tasks) waits for the task `other` (0 if it waits for something else).
    wait_begin = 8,
    // The wait of the matching `wait_begin` has ended.
    wait_end = 9,
    // This lane's thread stole `task` from the seat `aux`.
    stolen = 10,
    // The lane's thread found nothing to run and continues to search.
    searching = 11,
    // The lane's thread goes to sleep.
    parked = 12,
    // The lane's thread is awake again.
    unparked = 13,
    // `task` (0 outside of tasks) sets the event `other`.
    event_set = 14,
    // A wait for the event `other` succeeds. A `wait_end` follows if the wait had begun.
    event_taken = 15,
    // `task` holds the resource `other`. `aux` is the type of the resource.
    acquired = 16,
    // `task` no longer holds the resource `other`. `aux` is the type of the resource.
    released = 17,
    // `task` offers the second part of the join `other` to other threads.
    forked = 18,
    // The join `other` ended. `flags` are join_flags. `aux` is the seat that stole its second part.
    joined = 19,
    // This lane runs the second part of the join `other` of `task`, stolen from the seat `aux`.
    job_started = 20,
    // The second part of the join `other` has ended.
    job_ended = 21,
    // The frame with the number `other` begins. `aux` is its type.
    frame_begin = 32,
    // The frame with the number `other` ends. `aux` is its type.
    frame_end = 33,
    // A scope begins. `aux` is its type. The scopes of a lane nest.
    scope_begin = 34,
    // A scope ends. `aux` is its type.
    scope_end = 35,
    // A counter changes. `aux` is its type, and `other` contains the bits of a double.
    counter = 36,
    // The operating system took the lane's thread off its core. `flags` are switch_flags.
    switched_out = 37,
    // The lane's thread is on a core again.
    switched_in = 38,
    // Switches since the last such record of the lane: `other` voluntary, `aux` involuntary.
    switches = 39,
    // The completion `task` is open, or the timer `task` is armed. `aux` is its type.
    deferred = 40,
    // The completion `task` is settled, or the timer `task` is due or disarmed. `aux` is its type.
    settled = 41,
    // `task` suspends and releases the lane's thread. `flags` are end_flags.
    suspended = 42,
    // `task` resumes on this lane. `aux` is its type.
    resumed = 43,
    // ---- as far as here
};

// On a lane of kind `device`, `task` is a completion. `started` and `ended` records have the times
// at which a processor started and ended the work of the completion. A scope_begin and a scope_end
// between these two records mark a transfer.

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

/// One event on one lane. See record_kind for the meaning of `task`, `other`, `aux` and `flags`.
/// The file uses the same layout, little-endian.
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

/// Describes a type: the name and the source location of tasks, scopes, counters, frames or
/// resources.
struct record_type {
    std::string name;
    std::string file;        // empty if not known
    std::uint32_t line = 0;  // 0 if not known
    friend bool operator==(const record_type&, const record_type&) = default;
};

enum class lane_kind : std::uint32_t { other, worker, main, reserve, background, guest, device };

/// How much a lane or a capture records about the times at which the operating system switches
/// threads.
enum class switch_level : std::uint32_t {
    none,   // nothing
    flag,   // only the flag end_switched
    count,  // the flag end_switched, and `switches` records
    exact,  // the flag end_switched, and `switched_out` and `switched_in` records
};

/// Describes one thread or one device queue, and holds its records in order of time.
struct lane {
    static constexpr std::uint32_t no_seat = 0xffffffff;
    std::string name;
    lane_kind kind = lane_kind::other;
    std::uint32_t seat = no_seat;  // for a device, the processor's number
    std::uint64_t thread = 0;      // the operating system's number of the thread
    std::uint64_t dropped = 0;     // records for which the ring had no room
    std::vector<record> records;
    /// The switch level of this lane, if it was recorded. Lanes may have different levels, because
    /// the operating system may allow exact times for one thread and refuse them for another. See
    /// switches_of().
    std::optional<switch_level> switches = {};
    /// The largest error, in ns, of the times of the lane's records if a processor's own clock
    /// measured them. It is 0 if the clock of the threads measured them, or if the error is not
    /// known.
    std::uint32_t clock_error = 0;
};

/// The readings of two clocks at one moment. A recorder uses such pairs to convert ticks to the
/// times of records.
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
