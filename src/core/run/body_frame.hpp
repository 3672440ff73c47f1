#pragma once
// The one way to run bodies: a frame, in which a thread runs one body or many after each other, and
// the sequence in which they come.
//
//   source     first (the frame is made for it), invoke, ended, next
//   plain      one task, and the newest ones of this thread that are like it    run.cpp
//   any        one task with all that a task can have                           run.cpp
//   members    bodies of a batch, from the range of a ticket                    batch.cpp
//   branch     a part of another thread's join                                  branch.cpp
//   nodes      of one run of a graph                                            graph_run.cpp
//   jobs       of a job list, in the frame of their runner                      job_runner.cpp

#include "core/run/run_room.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// `known_as`: the id that the first body sees; empty for a posted task.
inline running_task body_of(run_seat& w, std::uint32_t index, task_id known_as) {
    return {index, w.top, {}, task_context(w.rt, w.whole, known_as)};
}

/// Bodies that a thread runs in one frame of its stack: what it shows to others and to instruments,
/// and how long each took. Not on top of a body of the same frame.
class body_frame {
public:
    /// `body` lies beside the frame, not in it: what is known to others, the compiler reads again
    /// after each call.
    body_frame(run_room& rt, run_seat& w, running_task& body, task_id shown_as)
        : rt_(rt),
          seat_(w),
          each_(rt.options().statistics),
          outer_elsewhere_(std::exchange(w.elsewhere, 0)),
          began_(each_ ? active_policy::now() : w.stamp),
          body_(body),
          shown_(w.frames[std::min(w.depth, run_seat::shown_depth)]),
          outer_(run_room::begin_body(w, body_, shown_as)) {}
    ~body_frame() {
        close();
        seat_.elsewhere = outer_elsewhere_ + (seat_.stamp - began_);
    }
    body_frame(const body_frame&) = delete;
    body_frame& operator=(const body_frame&) = delete;

    /// The last body has returned: what follows is not part of it. Nothing more is run here.
    void close() {
        if (closed_) return;
        closed_ = true;
        run_room::end_body(seat_, body_, outer_);
    }

    /// The thread goes on with another task in this frame.
    void go_on_as(std::uint32_t index, task_id id) {
        body_.context.internals().id = id;
        body_.context.internals().id_taken = false;
        show(index, id);
    }
    /// Does it for one that does not see its id.
    void show(std::uint32_t index, task_id shown_as) {
        body_.slot = index;
        shown_.show(shown_as.value);
    }
    task_context& context() { return body_.context; }
    bool failed() const { return body_.error != nullptr; }
    bool suspended() const { return body_.suspended; }
    std::exception_ptr take_error() { return std::exchange(body_.error, nullptr); }
    /// The body has asked for its id, so that others may know it.
    bool id_taken() { return body_.context.internals().id_taken; }

    /// For timed(); 0 where the clock is not read for each body.
    std::int64_t start() const { return each_ ? active_policy::now() : 0; }
    void timed(const char* name, bool may_be_long, std::int64_t started) {
        if (each_) {
            rt_.note_duration(seat_, name, may_be_long, started);
            seat_.elsewhere = 0;
        } else if (++untimed_ >= seat_.time_each || may_be_long) {
            rt_.note_durations(seat_, name, may_be_long, std::exchange(untimed_, 0));
        }
    }
    /// Does it where the clock is not read for each body; wants_clock() says when it is time to.
    void count_untimed() { ++untimed_; }
    bool wants_clock() const { return untimed_ >= seat_.time_each; }
    /// The last ones, for which the clock was not read; `name` for all of them.
    void end_times(const char* name) {
        if (untimed_ != 0) rt_.note_durations(seat_, name, false, std::exchange(untimed_, 0));
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

/// Where bodies come from. `invoke` calls the current one; `ended` hears that it has
/// returned or failed, says how long it took, and ends its task; true: the source goes on. `next`
/// moves on to another one; false: there is none for this thread now.
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
