// One task: by its kind, as a plain one, or with all that a task can have.
#include "core/run/body_frame.hpp"
#include "core/task/words.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void run_room::run(run_seat& w, task_id id, bool more) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    if (w.scope_ended_in != nullptr && scope_of(s.environment.load(relaxed)) != w.scope_ended_in) {
        flush_scope_ends(w);
    }
    if ((flags & flag_own_kind) != 0) {
        s.kind->run(w.rt, w.whole, index, more);
        return;
    }
    const bool discarded = phase(relaxed) == life::discarding && (flags & flag_finally) == 0;
    if ((flags & flag_cancel) != 0 || discarded || scope_cancelled(s)) {
        end_without_running(w, index);
        return;
    }
    if (plain_ways() && (flags & ~flag_posted) == 0) {
        observed() ? run_plain<true>(w, id, more) : run_plain<false>(w, id, more);
        return;
    }
    run_any(w, id);
}

class run_room::any_source {
public:
    any_source(run_room& rt, run_seat& w, task_id id, std::uint16_t flags)
        : rt_(rt),
          w_(w),
          id_(id),
          s_(rt.slot_at(id)),
          name_(s_.name),
          flags_(flags),
          uses_resources_(rt.uses_resources(s_)) {}

    void invoke(body_frame& frame) {
        started_ = frame.start();
        s_.runner.store(w_.index, relaxed);
        if (rt_.observed()) rt_.watcher().on_start(w_.index, id_, name_, 0, {});

        s_.invoke(s_.storage, &frame.context());
    }
    bool ended(body_frame& frame) {
        frame.close();
        const std::uint32_t index = index_of(id_.value);
        const bool completes = rt_.observed() && report_end(frame.failed());
        if (uses_resources_) rt_.release_resources(w_, index);
        frame.timed(name_, (flags_ & flag_quiet) != 0, started_);
        frame.end_times(name_);
        if (frame.failed()) {
            seat_counters::add(w_.counters.failed);
            rt_.record_failure(w_, index, frame.take_error(), 0);
        } else {
            seat_counters::add(w_.counters.executed);
        }
        completes ? rt_.complete(w_, index, true) : rt_.own_work_done(w_, index);
        return false;
    }
    bool next(body_frame&) { return false; }

private:
    /// True: the end and the completion were reported in one call, as nothing comes in between.
    bool report_end(bool failed) {
        if (failed) rt_.report(w_, event_kind::failed, id_, {}, name_);
        const bool completes = !failed && !uses_resources_ && !w_.completing &&
                               ((flags_ & flag_posted) != 0 || drop_only_open_work(s_.open));
        rt_.watcher().on_end(w_.index, id_, name_, completes);
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

/// Apart from run(), whose frame would lie below each body.
[[gnu::noinline]] void run_room::run_any(run_seat& w, task_id id) {
    const std::uint32_t index = index_of(id.value);
    const std::uint16_t flags = slot_at(index).flags.load(relaxed);
    any_source task(*this, w, id, flags);
    running_task body = body_of(w, index, (flags & flag_posted) != 0 ? task_id{} : id);
    body_frame frame(*this, w, body, id);
    run_sequence(frame, task);
}

void run_room::run_chain(run_seat& w, id_test wanted, id_test more) {
    constexpr unsigned most = 64;  // until the loop looks at everything else
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
    const unsigned own = w.top != nullptr ? level_of(slot_at(w.top->slot)) : 0;
    task_id id;
    if (serial()) {
        id = choose_ready(
            w, [&](std::uint64_t entry) { return level_of(slot_at(index_of(entry))) > own; });
    }
    for (unsigned level = level_count; !serial() && !id && level-- != own + 1;) {
        id = ready_at(w, level, true);
    }
    if (!id) return false;
    w.stamp = active_policy::coarse_now();
    run(w, id);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
