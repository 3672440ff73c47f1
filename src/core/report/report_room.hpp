#pragma once
// The lowest room: what the scheduler says about itself, to an observer, to the log, in counters
// and durations. With none of them installed each costs one predictable branch.

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

/// Single writer: the seat's thread. Written with release, summed with acquire: a sum that has
/// counted the end of a task has counted what that task created (see everything_ended()).
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

/// The seat's part of this room: who it is, what it has counted, which time it knows. All of it
/// the seat's thread's, but for the counters and the rows.
struct report_seat {
    report_seat(runtime& owner, whole_seat& self, std::uint16_t seat, seat_kind k)
        : rt(owner), whole(self), index(seat), kind(k) {}

    runtime& rt;
    whole_seat& whole;  // this seat with its parts of the rooms above, for what they are handed
    const std::uint16_t index;
    const seat_kind kind;
    char name[32] = {};
    alignas(64) std::int64_t stamp = 0;  // clock at the end of the last task or sleep
    unsigned time_each = 1;              // plain tasks; see policy/seldom_clock.hpp
    // What of the running task's time went by in waits, in tasks on top and in blocking().
    std::int64_t elsewhere = 0;
    seat_counters counters;
    mutex types_mutex;  // the seat's thread writes, statistics() reads
    type_row* types BRAID_GUARDED_BY(types_mutex) = nullptr;
};

class report_room {
public:
    /// `identified`: tasks have stable ids, so none of them takes the plain way.
    report_room(const scheduler_options& o, bool identified);

    const scheduler_options& options() const { return options_; }
    const assertion_handler& misuse() const { return options_.assertion; }
    accounted_memory& memory() { return memory_; }
    const accounted_memory& memory() const { return memory_; }

    /// An observer listens. A thread that finds this true reports to it.
    bool observed() const { return listening() != 0; }
    /// observer::listening(); 0: none is installed, or it does not listen.
    std::uint32_t listening() const { return listens_->load(relaxed); }
    /// Nobody listens, and plain tasks may take their own way.
    bool unwatched() const { return watches_->load(relaxed) == 0; }
    bool plain_ways() const { return plain_ways_; }
    observer& watcher() const { return *options_.observer; }

    // What follows is called only where an observer is installed.
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

    /// The clock that tasks are timed with.
    std::int64_t task_clock() const;
    /// `count` tasks ended, of which the first began at `started`; a long one is warned about.
    void note_duration(report_seat& w, const char* name, bool quiet, std::int64_t started,
                       unsigned count = 1);
    /// Does it for `count` tasks of one kind in a row, of which no start was noted.
    void note_durations(report_seat& w, const char* name, bool quiet, unsigned count);

private:
    void note_type(report_seat& w, const char* name, std::int64_t ns);

    // Read at each task; between them and what is written, memory_'s counts, lie the options.
    const std::atomic<std::uint32_t>* listens_;
    const std::atomic<std::uint32_t>* watches_;  // the same; 1 without plain_ways, or with lines
    bool plain_ways_;                            // no statistics, no stable ids
    scheduler_options options_;
    standard_error standard_error_;  // where the program has no log
    accounted_memory memory_;
};

}  // namespace detail
BRAID_NAMESPACE_END
