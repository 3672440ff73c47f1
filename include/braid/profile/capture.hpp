#pragma once
// What a recorder has seen, in memory, and the file that holds it. docs/design/profile.md has the
// bytes of the file.

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

/// What happened. Numbers are those in the file: never changed, only added to. `task` and `other`
/// are values of task ids (0: none); what `other`, `aux` and `flags` hold beside is said here.
/// Three kinds of event have no record, because others say the same: `failed` is end_failed of the
/// task's `ended`; what was `helped` is what starts on a lane between a wait_begin and its
/// wait_end; `seated` is the lane's seat and kind, where a guest's are those of its last call.
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
    // Its own work; flags = end_flags.
    ended = 5,
    // Own work and all children.
    completed = 6,
    // Will not run; completed follows.
    cancelled = 7,
    // Task (0: outside of tasks) waits, other = awaited (0: something else).
    wait_begin = 8,
    // That wait has ended.
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
    // That part has ended.
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
    // Its own work gave the lane back; flags = end_flags.
    suspended = 42,
    // On this lane, aux = type.
    resumed = 43,
    // ---- as far as here
};

// On a lane of kind `device` `started` and `ended` are when a processor began and ended with a
// completion, task; `scope_begin` … `scope_end` between them are transfers.

enum spawn_flags : std::uint8_t {
    spawn_priority = 3,    // mask: 0 low, 1 normal, 2 high
    spawn_restricted = 4,  // certain threads only may run it
    spawn_background = 8,
};
enum end_flags : std::uint8_t {
    end_failed = 1,
    end_switched = 2,  // the thread was off its core at least once meanwhile
};
enum join_flags : std::uint8_t {
    join_kept = 1,  // nobody took the second part; it ran on this lane, or not at all
};
enum switch_flags : std::uint8_t {
    switch_preempted = 1,  // it wanted to go on
};

/// One thing that happened on one lane. Little-endian in the file, as it lies here.
struct record {
    std::uint64_t time = 0;  // ns since the capture began
    std::uint64_t task = 0;
    std::uint64_t other = 0;
    std::uint32_t aux = 0;
    std::uint16_t core = no_core;  // that the lane's thread was on, where known
    record_kind kind = {};
    std::uint8_t flags = 0;

    static constexpr std::uint16_t no_core = 0xffff;
    friend bool operator==(const record&, const record&) = default;
};
static_assert(sizeof(record) == 32);

/// What tasks, scopes, counters and frames are told apart by: name and place in the source.
struct record_type {
    std::string name;
    std::string file;        // empty: not known
    std::uint32_t line = 0;  // 0: not known
    friend bool operator==(const record_type&, const record_type&) = default;
};

enum class lane_kind : std::uint32_t { other, worker, main, reserve, background, guest, device };

/// How much is known of the times at which the system switches threads.
enum class switch_level : std::uint32_t {
    none,   // nothing
    flag,   // end_switched
    count,  // that, and records `switches`
    exact,  // that, and switched_out, switched_in
};

/// A thread, or a device queue, and what happened on it, in order of time.
struct lane {
    static constexpr std::uint32_t no_seat = 0xffffffff;
    std::string name;
    lane_kind kind = lane_kind::other;
    std::uint32_t seat = no_seat;  // of a device: the processor's number
    std::uint64_t thread = 0;      // the system's number
    std::uint64_t dropped = 0;     // records for which its ring had no room
    std::vector<record> records;
    /// Known only if it was recorded: the system may refuse one thread what it gave another. See
    /// switches_of().
    std::optional<switch_level> switches = {};
    /// Times of its records are wrong by so many ns at most, as a processor's own clock has them.
    /// 0: they are those of the threads, or nobody said.
    std::uint32_t clock_error = 0;
};

/// The two clocks at one moment. Times of records are made from ticks by these.
struct clock_pair {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;  // CLOCK_MONOTONIC
};

struct capture {
    std::vector<record_type> types;  // [0] is the nameless one
    std::vector<lane> lanes;
    std::vector<std::pair<std::string, std::string>> info;  // "program", "workers", "cores" …
    std::vector<clock_pair> clocks;
    switch_level switches = switch_level::none;
    std::uint64_t began_at = 0;  // ns since 1970
    std::uint64_t duration = 0;  // ns; the last record's time where the end is missing
    bool whole = true;           // false: the file ends in the middle; what came before is here
};

/// How much is known of that lane's switches.
inline switch_level switches_of(const capture& from, const lane& of) {
    return of.switches.value_or(from.switches);
}

/// Reads a file that a recorder has written. `progress`, when given, is called now and then with
/// the share that is done, 0 to 1. A file that is cut off is read up to the cut (capture::whole).
/// Not one, or one that contradicts itself: a sentence about what is wrong; `to` is then empty.
BRAID_API status read_capture(const std::string& path, capture& to,
                              const std::function<void(double)>& progress = {});
BRAID_API status read_capture(std::span<const std::byte> bytes, capture& to,
                              const std::function<void(double)>& progress = {});

/// The file of one, as a recorder would write it.
BRAID_API std::vector<std::byte> bytes_of(const capture& from);
BRAID_API status write_capture(const capture& from, const std::string& path);

}  // namespace profile
BRAID_NAMESPACE_END
