#pragma once
// What happened, put together from the records of all lanes: tasks, bodies, frames, and what each
// lane did at every moment. Everything else of the analysis reads this.

#include "braid/profile/capture.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

inline constexpr std::uint32_t none = UINT32_MAX;     // an index of nothing
inline constexpr std::uint64_t unknown = UINT64_MAX;  // a time that the capture does not have

struct task_row {
    std::uint64_t id = 0;
    std::uint64_t spawned = unknown, ready = unknown, started = unknown, ended = unknown,
                  completed = unknown;
    std::uint64_t first_seen = 0;  // the earliest of its records
    std::uint32_t type = 0;
    std::uint32_t parent = none, releaser = none;          // tasks
    std::uint32_t body = none, last_body = none;           // several, where it was suspended
    std::uint32_t spawned_in = none, completed_in = none;  // bodies
    std::uint32_t children = 0;
    std::uint32_t first_predecessor = 0, predecessors = 0;  // history::predecessors_of()
    std::uint8_t flags = 0;                                 // spawn_flags
    std::uint8_t end_flags = 0;
    bool cancelled = false;
    // A completion, or a timer's wait: runs from `deferred` to `settled`. It has a body, or
    // several, where a processor with a lane has run it.
    bool external = false;

    bool was_suspended() const { return body != last_body; }
    bool has(spawn_flags f) const { return (flags & f) != 0; }
    unsigned priority() const { return flags & spawn_priority; }
};

/// The root of a lane is what its thread does outside of tasks; all other bodies lie above it.
enum class body_kind : std::uint8_t { root, task, job };

/// One piece of program that ran on one lane. A thread that waits runs others on top.
struct body_row {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t running = 0, preempted = 0;  // the rest of end - begin is waiting
    std::uint64_t join = 0;                    // of a job
    std::uint32_t task = none;                 // of a job: the one that forked it
    std::uint32_t lane = 0;
    std::uint32_t below = none;
    std::uint32_t earlier = none;  // the same task's before it was suspended
    std::uint32_t type = 0;
    std::uint32_t first_mark = 0, marks = 0;  // history::marks_of()
    std::uint32_t from_body = none;           // of a job: where it was forked
    std::uint64_t from_time = 0;
    std::uint16_t core = record::no_core;  // at its begin
    body_kind kind = body_kind::root;
    bool open = false;  // its end is not in the capture

    std::uint64_t waiting() const { return end - begin - running - preempted; }
};

enum class mark_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    spawned = 1,
    wait_begin = 8,
    wait_end = 9,
    event_set = 14,
    forked = 18,
    // ---- as far as here
};

/// A moment of a body that others depend on, or at which it depends on others.
struct mark {
    std::uint64_t time = 0;
    std::uint64_t from_time = 0;     // of a wait's end: what ended it, where that is no task
    std::uint32_t body = none;       // whose
    std::uint32_t task = none;       // the awaited or the spawned one
    std::uint32_t from_body = none;  //
    mark_kind kind = {};
    bool waits = false;  // the body, from here on
};

enum class lane_state : std::uint8_t {
    absent,     // nothing is known of the thread
    outside,    // the program's own code, outside of tasks
    run,        // in the body of a task or job
    runtime,    // the scheduler, between two bodies
    search,     // for something to run
    parked,     //
    preempted,  // not on a core, though not parked
};
inline constexpr std::size_t lane_states = 7;

/// Lasts until the next one of the lane begins.
struct lane_span {
    std::uint64_t begin = 0;
    std::uint32_t body = none;  // the one on top
    lane_state state = {};
};

struct time_span {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t length() const { return end > begin ? end - begin : 0; }
};

/// Time of a body at which its thread was off its core.
struct absence {
    time_span when;
    std::uint32_t body = none;
    std::uint16_t core = record::no_core;
};

struct lane_row {
    lane_kind kind = lane_kind::other;
    bool of_scheduler = false;  // so is what its thread does outside of tasks
    std::uint32_t root = none;
    std::uint32_t first_body = 0, bodies = 0;  // in order of their begins; the root is the first
    std::vector<lane_span> spans;              // the last one ends at `end`
    std::vector<absence> absences;
    std::vector<std::pair<std::uint64_t, std::uint16_t>> cores;  // since when the thread was where
    std::uint64_t end = 0;

    std::uint64_t end_of(std::size_t span) const {
        return span + 1 < spans.size() ? spans[span + 1].begin : end;
    }
    /// The first span that reaches beyond `time`.
    std::size_t span_at(std::uint64_t time) const;
    /// Calls take(begin, end) for each part of the span in which the thread was on that core, as
    /// far as is known: it may move while a body runs.
    template <class Take>
    void for_each_stay(time_span within, std::uint16_t core, Take&& take) const {
        auto at = std::upper_bound(cores.begin(), cores.end(), within.begin,
                                   [](std::uint64_t t, const auto& c) { return t < c.first; });
        if (at != cores.begin()) --at;
        for (; at != cores.end() && at->first < within.end; ++at) {
            const auto next = std::next(at);
            if (at->second != core) continue;
            take(std::max(within.begin, at->first),
                 next == cores.end() ? within.end : std::min(within.end, next->first));
        }
    }
};

/// Frames may overlap. Only those are here of which begin and end are known; in order of begins.
struct frame_row {
    std::uint64_t number = 0;
    std::uint64_t begin = 0, end = 0;
    std::uint32_t type = 0;
    std::uint32_t end_body = none;  // where its end was said
    bool alone = true;              // it overlaps no other
    std::uint64_t length() const { return end - begin; }
};

struct task_range {
    std::uint32_t first = 0, count = 0;
};

struct history {
    const capture* from = nullptr;
    std::vector<task_row> tasks;
    std::vector<body_row> bodies;
    std::vector<mark> marks;
    std::vector<std::uint32_t> predecessors;
    std::vector<lane_row> lanes;
    std::vector<frame_row> frames;
    std::vector<std::uint32_t> by_completion;             // tasks that completed, in order of that
    std::vector<std::uint32_t> external;                  // tasks that are
    std::unordered_map<std::uint64_t, task_range> of_id;  // tasks of one id are neighbours

    std::span<const mark> marks_of(const body_row& b) const {
        return std::span(marks).subspan(b.first_mark, b.marks);
    }
    std::span<const std::uint32_t> predecessors_of(const task_row& t) const {
        return std::span(predecessors).subspan(t.first_predecessor, t.predecessors);
    }
    /// The task that had that id then; none when there is none.
    std::uint32_t find(std::uint64_t id, std::uint64_t time) const;
    /// The nameless one is always there.
    std::size_t types() const { return from->types.empty() ? 1 : from->types.size(); }
    /// "'skin' (skin.cpp:12)", as far as it is known.
    std::string name_of(std::uint32_t type) const;
    /// That type, or where its own place is not known (bodies of a batch) the only one that has its
    /// name and a place.
    const record_type& place_of(std::uint32_t type) const;
    /// The one that lies directly on `base`, and on or below `body`; none when there is none.
    std::uint32_t next_above(std::uint32_t base, std::uint32_t body) const;
    /// It ran on a processor that is none of our threads.
    bool is_on_device(std::uint32_t body) const {
        return lanes[bodies[body].lane].kind == lane_kind::device;
    }
    /// Whether that body waits then, or is what a thread of the scheduler does between tasks.
    bool is_idle(std::uint32_t body, std::uint64_t time) const;
};

/// `from` must outlive the history. Takes time in proportion to the records, and sorts them.
history make_history(const capture& from);

/// Lanes that serve the frame: workers, and those that stand in for them.
inline bool is_worker(lane_kind k) { return k == lane_kind::worker || k == lane_kind::reserve; }

}  // namespace profile
BRAID_NAMESPACE_END
