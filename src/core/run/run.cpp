// One task: by its kind, as a plain one, or with all that a task can have.
#include "core/run/run_room.hpp"
#include "core/task/words.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void run_room::run(run_seat& w, task_id id, bool more) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    const bool discarded = phase(relaxed) == life::discarding && (flags & flag_finally) == 0;
    if (w.scope_ended_in != nullptr && scope_of(s.environment.load(relaxed)) != w.scope_ended_in) {
        flush_scope_ends(w);
    }
    if ((flags & flag_own_kind) != 0) {
        s.kind->run(w.rt, w.whole, index, more);
        return;
    }
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

/// Apart from run(), whose frame would lie below each body.
[[gnu::noinline]] void run_room::run_any(run_seat& w, task_id id) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    const std::int64_t started = options().statistics ? active_policy::now() : w.stamp;
    const std::int64_t outer_elsewhere = std::exchange(w.elsewhere, 0);
    const char* name = s.name;
    running_task body{
        index, w.top, {}, task_context(w.rt, w.whole, (flags & flag_posted) != 0 ? task_id{} : id)};
    s.runner.store(w.index, relaxed);
    running_task* const outer = begin_body(w, body, id);
    if (observed()) watcher().on_start(w.index, id, name, 0, {});

    s.invoke(s.storage, &body.context);

    end_body(w, body, outer);
    const bool failed = body.error != nullptr;
    bool completes = false;
    if (observed()) {
        if (failed) report(w, event_kind::failed, id, {}, name);
        // In one call, where nothing comes in between.
        completes = !failed && (flags & flag_resources) == 0 && !w.completing &&
                    ((flags & flag_posted) != 0 || drop_only_open_work(s.open));
        watcher().on_end(w.index, id, name, completes);
    }
    if ((flags & flag_resources) != 0) release_resources(w, index);
    if (options().long_task.value > 0 || options().statistics) {
        note_duration(w, name, (flags & flag_quiet) != 0, started);
    }
    w.elsewhere = outer_elsewhere + (w.stamp - started);
    if (failed) {
        seat_counters::add(w.counters.failed);
        record_failure(w, index, std::move(body.error), 0);
    } else {
        seat_counters::add(w.counters.executed);
    }
    completes ? complete(w, index, true) : own_work_done(w, index);
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
