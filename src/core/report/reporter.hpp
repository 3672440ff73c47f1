#pragma once
// The reporter says what the scheduler does: to an observer, to the log, and in counters and
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

struct fork_slot;

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

/// The reporter's part of a seat: its counters, the last time that was read, and its name. Only the
/// seat's thread uses `stamp`, `time_each` and `elsewhere`. Any thread may read the rest.
struct alignas(64) report_part {
    explicit report_part(seat_kind kind) : warns(kind != seat_kind::background) {}

    std::int64_t stamp = 0;  // the time at the end of the last task or sleep
    unsigned time_each = 1;  // tasks between clock reads; see policy/seldom_clock.hpp
    const bool warns;        // long tasks are expected on background threads
    // The time that the running task has spent in waits, in blocking(), and in tasks that it ran
    // there.
    std::int64_t elsewhere = 0;
    seat_counters counters;
    mutex types_mutex;  // the seat's thread writes, statistics() reads
    type_row* types BRAID_GUARDED_BY(types_mutex) = nullptr;
    char name[32] = {};
};

/// The handlers that a scheduler uses where the program has none.
class default_handlers {
public:
    /// Returns `o` with a log and an assertion handler, which refer to this object.
    scheduler_options complete(scheduler_options o);

private:
    standard_error standard_error_;
    log_handler log_;  // the log of the completed options
};

/// Reports to the handlers of `options`, which live as long as the reporter.
class reporter {
public:
    /// If `identified` is true, tasks have stable ids, so none of them takes the plain path.
    reporter(const scheduler_options& options, accounted_memory& memory, bool identified);
    reporter(const reporter&) = delete;
    reporter& operator=(const reporter&) = delete;

    /// Returns true if an observer listens. A thread that gets true reports to the observer.
    bool observed() const { return listening() != 0; }
    /// Returns observer::listening(), or 0 if no observer is installed.
    std::uint32_t listening() const { return listens_->load(relaxed); }
    /// Returns true if no observer listens and plain tasks may take their short path.
    bool unwatched() const { return watches_->load(relaxed) == 0; }
    bool plain_ways() const { return plain_ways_; }
    observer& watcher() const { return *options_.observer; }

    // These report an event to the observer, and are called only if one is installed. `seat` is the
    // index of the calling thread's seat.
    void event(std::uint16_t seat, event_kind kind, task_id task, task_id other = {},
               const char* name = {}) const;
    void branch(std::uint16_t seat, event_kind kind, task_id task, const fork_slot& branch,
                std::uint16_t from = UINT16_MAX) const;
    void forked(std::uint16_t seat, task_id task, const fork_slot& branch,
                std::uint64_t stable_id) const;
    void resource(std::uint16_t seat, event_kind kind, task_id task, const void* resource,
                  const char* name) const;
    void seated(std::uint16_t seat, seat_kind kind, const report_part& w) const;

    void log(log_level level, const char* format, ...) const BRAID_PRINTF(3, 4);

    /// Returns the current time of the clock that measures tasks.
    std::int64_t task_clock() const;
    /// Records the time of `count` tasks that ran in a row and have ended. The first began at
    /// `started`. Logs a warning if they took long, unless `quiet` is true.
    void note_duration(report_part& w, const char* name, bool quiet, std::int64_t started,
                       unsigned count = 1);
    /// Does what note_duration() does, for `count` tasks of one name that have run in a row since
    /// the seat's last time stamp.
    void note_durations(report_part& w, const char* name, bool quiet, unsigned count);
    /// Releases the memory of a seat's part. No thread uses the seat any more.
    void release(report_part& w);

private:
    void note_type(report_part& w, const char* name, std::int64_t ns);

    // Each task reads these, and none of what follows.
    const std::atomic<std::uint32_t>* listens_;
    const std::atomic<std::uint32_t>* watches_;  // as listens_; 1 without plain_ways_ or with lines
    bool plain_ways_;                            // there are no statistics and no stable ids
    bool statistics_;
    std::int64_t long_task_ns_;  // 0: no task is long

    const scheduler_options& options_;
    accounted_memory& memory_;
};

}  // namespace detail
BRAID_NAMESPACE_END
