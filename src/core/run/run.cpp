// Runs one task: by the function of its kind, on the short path of plain tasks, or on the general
// path.
#include "braid/core/scope.hpp"
#include "core/run/body_frame.hpp"
#include "core/run/helper_floats.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr bool is_plain(std::uint16_t flags) { return (flags & ~flag_posted) == 0; }

}  // namespace

void run_room::run(run_seat& w, task_id id, bool more) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    if (w.scope_ended_in != nullptr && scope_of(s.environment.load(relaxed)) != w.scope_ended_in) {
        flush_scope_ends(w);
    }
    if ((flags & flag_own_kind) != 0) {
        s.kind->run(w.rt, w.whole, index, more);
        return;
    }
    const bool discarded = phase(relaxed) == life::discarding && (flags & flag_finally) == 0;
    if (((flags & flag_cancel) != 0 || discarded || scope_cancelled(s)) &&
        !details.was_suspended(s)) {
        end_without_running(w, index);
        return;
    }
    if (report.plain_ways() && is_plain(flags)) {
        report.observed() ? run_plain<true>(w, id, more) : run_plain<false>(w, id, more);
        return;
    }
    run_any(w, id);
}

// ---- plain tasks: what is equal for tasks in a row is done once --------------------------------
// If a task has failed, or has children, successors or waiters at its end, life_room.cpp completes
// it.

namespace {

/// Takes the newest task of this thread's ring if it is plain and of the same environment. Returns
/// 0 if it is not, or if the thread must do other work first.
[[gnu::always_inline]] inline std::uint64_t next_plain(const run_room& rt, run_seat& w,
                                                       const task_environment* environment) {
    if (rt.wanted_elsewhere(w, normal_level) || rt.phase(relaxed) != life::running) return 0;
    const std::uint64_t id = ready_room::own_newest(w).value;
    if (id == 0) return 0;
    const slot& s = rt.slots.at(index_of(id));
    const bool fits = is_plain(s.flags.load(relaxed)) &&
                      s.environment.load(relaxed) == environment &&
                      (environment == nullptr || environment->within == nullptr ||
                       !environment->within->cancelled());
    return fits && ready_room::take_own_newest(w) ? id : 0;
}

}  // namespace

/// The source of plain tasks. It works as run() does, but does only once what is the same for all
/// tasks of the sequence.
template <bool reports>
class run_room::plain_source {
public:
    plain_source(run_room& rt, run_seat& w, task_id first, unsigned most)
        : rt_(rt),
          w_(w),
          id_(first),
          s_(&rt.slots.at(first)),
          environment_(s_->environment.load(relaxed)),
          left_(most) {}

    [[gnu::always_inline]] void invoke(body_frame& frame) {
        posted_ = s_->has(flag_posted);
        if (!posted_) {
            frame.context().internals().id = id_;
            s_->runner.store(w_.index, relaxed);
        }
        invoke_ = s_->invoke;
        name_ = s_->name;
        if (reports) rt_.report.watcher().on_start(w_.index, id_, name_, 0, {});

        invoke_(s_->storage, &frame.context());
    }
    [[gnu::always_inline]] bool ended(body_frame& frame) {
        frame.count_untimed();
        if (frame.failed()) return false;
        seat_counters::add(w_.report.counters.executed);
        end_ = rt_.end_plain<reports>(w_, *s_, index_of(id_.value), posted_);
        if (end_.kind == plain_end::complete) ++complete_;
        return end_.kind <= plain_end::complete && --left_ != 0;
    }
    [[gnu::always_inline]] bool next(body_frame& frame) {
        const task_id next{next_plain(rt_, w_, environment_)};
        if (!next) return false;
        id_ = next;
        s_ = &rt_.slots.at(id_);
        frame.show(index_of(id_.value), id_);
        if (frame.wants_clock() || s_->invoke != invoke_ || s_->name != name_) {
            frame.end_times(name_);
        }
        return true;
    }

    /// Called after the last task, outside of its body. Counts the tasks that are complete, and
    /// ends the last one if it failed or needs more than the short path.
    [[gnu::always_inline]] void finish(body_frame& frame) {
        frame.end_times(name_);
        frame.close();
        // The scope is certain to live only while some of these ends are not counted. After the
        // last count the program may destroy it.
        if (scope_state* in = complete_ != 0 ? scope_of(environment_) : nullptr; in != nullptr) {
            rt_.count_end(w_, *in, end_of_task::executed, complete_);
        }
        if (frame.failed()) {
            fail(frame.take_error());
        } else if (end_.kind == plain_end::not_closed) {
            rt_.complete(w_, index_of(id_.value), reports);
        } else if (end_.kind == plain_end::closed) {
            rt_.complete_closed(w_, index_of(id_.value), end_.head, nullptr);
        }
    }

private:
    void fail(std::exception_ptr error) {
        if (reports) rt_.report.event(w_.index, event_kind::failed, id_, {}, name_);
        if (reports) rt_.report.watcher().on_end(w_.index, id_, name_, false);
        seat_counters::add(w_.report.counters.failed);
        rt_.record_failure(w_, index_of(id_.value), std::move(error), 0);
        rt_.own_work_done(w_, index_of(id_.value));
    }

    run_room& rt_;
    run_seat& w_;
    task_id id_;
    slot* s_;
    const task_environment* const environment_;
    unsigned left_;
    bool posted_ = false;
    closure_fn invoke_ = nullptr;
    const char* name_ = nullptr;
    plain_end end_{};
    std::uint64_t complete_ = 0;
};

/// Runs plain tasks. This function and run_any() are not inlined into run(), because the larger
/// stack frame of run() would then be below each body.
template <bool observed>
[[gnu::noinline]] void run_room::run_plain(run_seat& w, task_id id, bool more) {
    constexpr unsigned most = 64;  // after so many, the thread's loop checks for all other work
    const slot& s = slots.at(id);
    const bool goes_on = more && s.level.load(relaxed) == normal_level;
    plain_source<observed> tasks(*this, w, id, goes_on ? most : 1);
    running_task body = body_of(w, index_of(id.value), {});
    body_frame frame(*this, w, body, id);
    run_sequence(frame, tasks);
    tasks.finish(frame);
}

// ---- any task ----------------------------------------------------------------------------------

class run_room::any_source {
public:
    any_source(run_room& rt, run_seat& w, task_id id, std::uint16_t flags)
        : rt_(rt),
          w_(w),
          id_(id),
          s_(rt.slots.at(id)),
          name_(s_.name),
          flags_(flags),
          uses_resources_(rt.details.uses_resources(s_)) {}

    void invoke(body_frame& frame) {
        started_ = frame.start();
        s_.runner.store(w_.index, relaxed);
        const bool resumes = rt_.details.was_suspended(s_);
        if (resumes) rt_.resume(w_, index_of(id_.value));
        if (rt_.report.observed()) report_start(resumes);

        s_.invoke(s_.storage, &frame.context());
    }
    bool ended(body_frame& frame) {
        frame.close();
        const std::uint32_t index = index_of(id_.value);
        if (frame.suspended()) {
            if (rt_.report.observed())
                rt_.report.event(w_.index, event_kind::suspended, id_, {}, name_);
            frame.timed(name_, (flags_ & flag_quiet) != 0, started_);
            frame.end_times(name_);
            rt_.suspend(w_, index);
            return false;
        }
        const bool completes = rt_.report.observed() && report_end(frame.failed());
        if (uses_resources_) rt_.release_resources(w_, index);
        frame.timed(name_, (flags_ & flag_quiet) != 0, started_);
        frame.end_times(name_);
        if (frame.failed()) {
            seat_counters::add(w_.report.counters.failed);
            rt_.record_failure(w_, index, frame.take_error(), 0);
        } else {
            seat_counters::add(w_.report.counters.executed);
        }
        completes ? rt_.complete(w_, index, true) : rt_.own_work_done(w_, index);
        return false;
    }
    bool next(body_frame&) { return false; }

private:
    void report_start(bool resumes) {
        if (resumes) {
            rt_.report.event(w_.index, event_kind::resumed, id_, {}, name_);
        } else {
            rt_.report.watcher().on_start(w_.index, id_, name_, 0, {});
        }
    }
    /// Reports the end of the body. If the task is complete at once, the same call reports that,
    /// too, and this returns true.
    bool report_end(bool failed) {
        if (failed) rt_.report.event(w_.index, event_kind::failed, id_, {}, name_);
        const bool completes = !failed && !uses_resources_ && !w_.completing &&
                               ((flags_ & flag_posted) != 0 || drop_only_open_work(s_.open));
        rt_.report.watcher().on_end(w_.index, id_, name_, completes);
        return completes;
    }

    run_room& rt_;
    run_seat& w_;
    const task_id id_;
    slot& s_;
    const char* const name_;
    const std::uint16_t flags_;
    const bool uses_resources_;
    std::int64_t started_ = 0;
};

[[gnu::noinline]] void run_room::run_any(run_seat& w, task_id id) {
    const std::uint32_t index = index_of(id.value);
    const std::uint16_t flags = slots.at(index).flags.load(relaxed);
    any_source task(*this, w, id, flags);
    running_task body = body_of(w, index, (flags & flag_posted) != 0 ? task_id{} : id);
    body_frame frame(*this, w, body, id);
    run_sequence(frame, task);
}

// ---- around a body: the thread and searchers see what runs -------------------------------------

namespace {

/// Returns the joins of the task's thread, or null if there are none.
fork_stack* joins_of(const running_task* task) {
    return task != nullptr ? static_cast<const ready_seat*>(task->seat)->joins : nullptr;
}

}  // namespace

running_task* run_room::begin_body(run_seat& w, running_task& body, task_id shown_as) {
    running_task* const outer = current_task();
    if (w.joins != nullptr) body.joins_from = w.joins->top;
    w.top = &body;
    body.seat = &w;
    set_current_task(&body, w.joins);
    if (w.depth < run_seat::shown_depth) {
        if (w.depth != 0) w.frames[w.depth - 1].cover();
        w.frames[w.depth].show(shown_as.value);
    }
    // release: pairs with a searcher's acquire; the frames below `shown` are filled in.
    w.shown.store(++w.depth, release);
    return outer;
}

void run_room::end_body(run_seat& w, const running_task& body, running_task* outer) {
    w.shown.store(--w.depth, release);
    w.top = body.below;
    set_current_task(outer, joins_of(outer));
}

// ---- what comes next ---------------------------------------------------------------------------

void run_room::run_chain(run_seat& w, id_test wanted, id_test more) {
    constexpr unsigned most = 64;  // after so many, the loop checks for all other work
    for (unsigned n = 0; w.run_next; ++n) {
        const task_id id = std::exchange(w.run_next, {});
        if (n == most || wanted_elsewhere(w, normal_level) || !wanted(id.value)) {
            enqueue(w, index_of(id.value));
            return;
        }
        run(w, id, more(id.value));
    }
}

void run_room::run_chain(run_seat& w) {
    constexpr auto any = [](std::uint64_t) { return true; };
    run_chain(w, any, any);
}

bool run_room::yield_to_higher(run_seat& w) {
    const unsigned own = w.top != nullptr ? slots.level_of(slots.at(w.top->slot)) : 0;
    task_id id;
    if (serial) {
        id = choose_ready(w, [&](std::uint64_t entry) {
            return slots.level_of(slots.at(index_of(entry))) > own;
        });
    }
    for (unsigned level = level_count; !serial && !id && level-- != own + 1;) {
        id = ready_at(w, level, true);
    }
    if (!id) return false;
    w.report.stamp = active_policy::coarse_now();
    run(w, id);
    return true;
}

// ---- run at once, by a thread outside tasks ----------------------------------------------------

void run_room::end_here(run_seat& w, std::uint32_t index) {
    if (!report.unwatched()) return own_work_done(w, index);
    const plain_end end = end_plain<false>(w, slots.at(index), index, false);
    if (end.kind == plain_end::not_closed) {
        complete(w, index);
    } else if (end.kind == plain_end::closed) {
        complete_closed(w, index, end.head, nullptr);
    }
}

void run_room::run_here(run_seat& w, const char* name, void (*body)(void*, fork_context),
                        void* data) {
    draft d;
    if (report.unwatched()) d = open_plain(w, nullptr, name, draft_kind::spawned);
    if (d.storage == nullptr) d = open(w, {.name = name, .where = {}}, draft_kind::spawned);
    // If the scheduler is shut down or there is no memory, the body runs without a task.
    if (d.storage == nullptr) return body(data, joins_of_body(w));
    const std::uint32_t index = index_of(d);
    const task_id id = slots.id_of(index);
    slot& s = slots.at(index);
    s.runner.store(w.index, relaxed);
    helper_floats floats;
    floats.use(w, float_control_);
    const unsigned facts = s.ready_is_reported() ? 0 : start_ready_now;
    s.waits_for.store(0, relaxed);
    struct around {
        run_room& rt;
        run_seat& w;
        const std::uint32_t index;
        const task_id id;
        running_task body;
        body_frame frame;
        around(run_room& r, run_seat& own, task_id i, unsigned facts)
            : rt(r),
              w(own),
              index(index_of(i.value)),
              id(i),
              body(body_of(own, index, i)),
              frame(r, own, body, i) {
            if (!rt.report.observed()) return;
            rt.report.watcher().on_start(w.index, id, rt.slots.at(index).name, facts, {});
        }
        ~around() {
            frame.close();
            if (rt.report.observed())
                rt.report.watcher().on_end(w.index, id, rt.slots.at(index).name, false);
            seat_counters::add(w.report.counters.executed);
            rt.end_here(w, index);
        }
    } here(*this, w, id, facts);
    body(data, joins_of_body(w));
}

}  // namespace detail
BRAID_NAMESPACE_END
