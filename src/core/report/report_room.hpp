#pragma once
// The lowest room reports what the scheduler does: to an observer, to the log, and in counters and
// durations. If nothing is installed, each report costs one predictable branch.

#include "base/accounted_memory.hpp"
#include "base/printf_format.hpp"
#include "base/standard_error.hpp"
#include "braid/base/assert.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/observer.hpp"
#include "braid/core/scheduler_options.hpp"
#include "braid/core/statistics.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

namespace detail {

class runtime;
struct fork_slot;
struct whole_seat;

/// The counters of a seat. Only the seat's thread writes them. They are written with release and
/// summed with acquire: a sum that has counted the end of a task has also counted what that task
/// created (see everything_ended()).
struct seat_counters {
    using count = atomic<std::uint64_t>;
    count created{0}, executed{0}, failed{0}, cancelled{0}, stolen{0}, jobs_stolen{0}, helped{0},
        parks{0}, spilled{0}, long_tasks{0}, busy_ns{0}, deferred{0}, settled{0}, suspensions{0},
        resumptions{0};
    static void add(count& c, std::uint64_t n = 1) { c.store(c.load(relaxed) + n, release); }
};

struct type_row {
    const char* name = nullptr;
    std::uint64_t count = 0, total_ns = 0, longest_ns = 0;
};
inline constexpr unsigned type_rows = 256;

/// This room's part of a seat: its number and kind, its counters, and the last time that was read.
/// Only the seat's thread uses `stamp`, `time_each` and `elsewhere`. Any thread may read the rest.
struct report_seat {
    report_seat(runtime& owner, whole_seat& self, std::uint16_t seat, seat_kind k)
        : rt(owner), whole(self), index(seat), kind(k) {}

    runtime& rt;
    whole_seat& whole;  // the complete seat, for functions of the rooms above
    const std::uint16_t index;
    const seat_kind kind;
    char name[32] = {};
    alignas(64) std::int64_t stamp = 0;  // the time at the end of the last task or sleep
    unsigned time_each = 1;              // tasks between clock reads; see policy/seldom_clock.hpp
    // The time that the running task has spent in waits, in blocking(), and in tasks that it ran
    // there.
    std::int64_t elsewhere = 0;
    seat_counters counters;
    mutex types_mutex;  // the seat's thread writes, statistics() reads
    type_row* types BRAID_GUARDED_BY(types_mutex) = nullptr;
};

class report_room {
public:
    /// If `identified` is true, tasks have stable ids, so none of them takes the plain path.
    report_room(const scheduler_options& o, bool identified);

    const scheduler_options& options() const { return options_; }
    const assertion_handler& misuse() const { return options_.assertion; }
    accounted_memory& memory() { return memory_; }
    const accounted_memory& memory() const { return memory_; }

    /// Returns true if an observer listens. A thread that gets true reports to the observer.
    bool observed() const { return listening() != 0; }
    /// Returns observer::listening(), or 0 if no observer is installed.
    std::uint32_t listening() const { return listens_->load(relaxed); }
    /// Returns true if no observer listens and plain tasks may take their short path.
    bool unwatched() const { return watches_->load(relaxed) == 0; }
    bool plain_ways() const { return plain_ways_; }
    observer& watcher() const { return *options_.observer; }

    // The functions report…() are called only if an observer is installed.
    void report(const report_seat& w, event_kind kind, task_id task, task_id other = {},
                const char* name = {}) const;
    void report_branch(const report_seat& w, event_kind kind, task_id task, const fork_slot& branch,
                       std::uint16_t from = UINT16_MAX) const;
    void report_forked(const report_seat& w, task_id task, const fork_slot& branch,
                       std::uint64_t stable_id) const;
    void report_resource(const report_seat& w, event_kind kind, task_id task, const void* resource,
                         const char* name) const;
    void report_seated(const report_seat& w) const;

    void log(log_level level, const char* format, ...) const BRAID_PRINTF(3, 4);

    /// Returns the current time of the clock that measures tasks.
    std::int64_t task_clock() const;
    /// Records the time of `count` tasks that ran in a row and have ended. The first began at
    /// `started`. Logs a warning if they took long, unless `quiet` is true.
    void note_duration(report_seat& w, const char* name, bool quiet, std::int64_t started,
                       unsigned count = 1);
    /// Does what note_duration() does, for `count` tasks of one name that have run in a row since
    /// the seat's last time stamp.
    void note_durations(report_seat& w, const char* name, bool quiet, unsigned count);

private:
    void note_type(report_seat& w, const char* name, std::int64_t ns);

    // Each task reads the next three members. The options are between them and the counts of
    // memory_, which are written.
    const std::atomic<std::uint32_t>* listens_;
    const std::atomic<std::uint32_t>* watches_;  // as listens_; 1 without plain_ways_ or with lines
    bool plain_ways_;                            // there are no statistics and no stable ids
    scheduler_options options_;
    standard_error standard_error_;  // the log, if the program has none
    accounted_memory memory_;
};

}  // namespace detail
BRAID_NAMESPACE_END
