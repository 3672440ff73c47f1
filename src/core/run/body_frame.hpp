#pragma once
// All bodies run in a body_frame. A thread makes a frame for the first body, and runs one body or
// many bodies in it, one after the other. A source says which bodies these are. Its functions are
// called in the order invoke, ended, next, invoke, …
//
//   source     bodies                                                           file
//   plain      one task, and the newest tasks of this thread that are like it   run.cpp
//   any        one task with all that a task can have                           run.cpp
//   members    bodies of a batch, from the range of a ticket                    batch.cpp
//   branch     a branch of another thread's join                                branch.cpp
//   nodes      nodes of one run of a graph                                      graph_run.cpp
//   jobs       jobs of a job list, in the frame of their runner                 job_runner.cpp

#include "core/run/run_room.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns the entry of a body on the stack of the seat's thread. `known_as` is the id that the
/// first body sees. It is empty for a posted task.
inline running_task body_of(run_seat& w, std::uint32_t index, task_id known_as) {
    return {index, w.top, {}, task_context(w.rt, w.whole, known_as)};
}

/// The frame for bodies that a thread runs one after the other at one depth of its stack. It shows
/// the current body to other threads and to instruments, and records how long the bodies took.
class body_frame {
public:
    /// `body` must be an object of its own, not a member of the frame. Other functions know its
    /// address, so after each call the compiler reloads the whole object that contains it.
    body_frame(run_room& rt, run_seat& w, running_task& body, task_id shown_as)
        : rt_(rt),
          seat_(w),
          each_(rt.options.statistics),
          outer_elsewhere_(std::exchange(w.report.elsewhere, 0)),
          began_(each_ ? active_policy::now() : w.report.stamp),
          body_(body),
          shown_(w.frames[std::min(w.depth, run_seat::shown_depth)]),
          outer_(run_room::begin_body(w, body_, shown_as)) {}
    ~body_frame() {
        close();
        seat_.report.elsewhere = outer_elsewhere_ + (seat_.report.stamp - began_);
    }
    body_frame(const body_frame&) = delete;
    body_frame& operator=(const body_frame&) = delete;

    /// Ends the frame; called when the last body has returned. What the thread does after that is
    /// not part of the body. The frame runs no further body.
    void close() {
        if (closed_) return;
        closed_ = true;
        run_room::end_body(seat_, body_, outer_);
    }

    /// Goes on with another task in this frame, whose body sees `id`.
    void go_on_as(std::uint32_t index, task_id id) {
        body_.context.internals().id = id;
        body_.context.internals().id_taken = false;
        show(index, id);
    }
    /// Goes on with another task in this frame, but leaves the id that its body sees to the caller.
    void show(std::uint32_t index, task_id shown_as) {
        body_.slot = index;
        shown_.show(shown_as.value);
    }
    task_context& context() { return body_.context; }
    bool failed() const { return body_.error != nullptr; }
    bool suspended() const { return body_.suspended; }
    std::exception_ptr take_error() { return std::exchange(body_.error, nullptr); }
    /// Returns true if the body has asked for its id, so that other threads may know the id.
    bool id_taken() { return body_.context.internals().id_taken; }

    /// Returns the body's start time for timed(), or 0 if the clock is not read for each body.
    std::int64_t start() const { return each_ ? active_policy::now() : 0; }
    void timed(const char* name, bool may_be_long, std::int64_t started) {
        if (each_) {
            rt_.report.note_duration(seat_.report, name, may_be_long, started);
            seat_.report.elsewhere = 0;
        } else if (++untimed_ >= seat_.report.time_each || may_be_long) {
            rt_.report.note_durations(seat_.report, name, may_be_long, std::exchange(untimed_, 0));
        }
    }
    /// Counts a body for which the clock is not read. When wants_clock() returns true, the source
    /// should call end_times().
    void count_untimed() { ++untimed_; }
    bool wants_clock() const { return untimed_ >= seat_.report.time_each; }
    /// Records under `name` how long all bodies took that were not timed one by one.
    void end_times(const char* name) {
        if (untimed_ != 0)
            rt_.report.note_durations(seat_.report, name, false, std::exchange(untimed_, 0));
    }

private:
    run_room& rt_;
    run_seat& seat_;
    const bool each_;
    bool closed_ = false;
    unsigned untimed_ = 0;
    const std::int64_t outer_elsewhere_, began_;
    running_task& body_;
    shown_frame& shown_;
    running_task* const outer_;
};

/// A source of bodies. `invoke` calls the current body. `ended` is called when the body has
/// returned or failed. It records how long the body took, ends the body's task, and returns true if
/// the source can go on. `next` moves on to another body. It returns false if this thread is to run
/// no other body now.
template <class Source, class Frame>
concept body_source = requires(Source& s, Frame& f) {
    s.invoke(f);
    { s.ended(f) } -> std::same_as<bool>;
    { s.next(f) } -> std::same_as<bool>;
};

template <class Frame, body_source<Frame> Source>
[[gnu::always_inline]] inline void run_sequence(Frame& frame, Source& source) {
    do {
        source.invoke(frame);
    } while (source.ended(frame) && source.next(frame));
}

}  // namespace detail
BRAID_NAMESPACE_END
