// The loop of a thread, and the body of a task.
#include "braid/core/scope.hpp"
#include "core/ready/attention.hpp"
#include "core/run/helper_floats.hpp"
#include "core/seat_lease.hpp"
#include "core/task/words.hpp"
#include "core/wait/search.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
void runtime::enter_thread(worker& w) {
    bind_seat(w);
    platform::set_float_control(float_control);
    w.stack_low = platform::current_stack().low;
    if (serial()) serial()->await_gate(w.index);
    w.stamp = active_policy::coarse_now();
    if (options().threads.started != nullptr)
        options().threads.started(options().threads.user, w.name);
    {
        const locked lock(w.cores_mutex);
        w.thread_number = platform::current_thread_number();
    }
    w.at_rest.store(false, seq_cst);  // as in sleep()
    if (options().observer != nullptr) report_seated(w);
    // Takes milliseconds, once in a process. Thieves take any victim until it is known.
    if (cores() > 2 && w.kind == seat_kind::worker && w.number == 1)
        find_places(machine_topology());
}

void runtime::leave_thread(worker& w) {
    leave_search(w);
    flush_scope_ends(w);
    w.at_rest.store(true, seq_cst);
    if (options().threads.stopping != nullptr) {
        options().threads.stopping(options().threads.user, w.name);
    }
    if (serial()) serial()->leave(w.index);
    unbind_seat(w);
}

void runtime::run_thread(void* seat) {
    worker& w = *static_cast<worker*>(seat);
    w.rt.thread_main(w);
}

void runtime::thread_main(worker& w) {
    enter_thread(w);
    w.loop_depth = 0;
    while (true) {
        rest_if_frozen(w);  // first: it may take the notification of the end
        if (phase(acquire) == life::closed) break;
        settle(w);
        const bool surplus =
            w.kind == seat_kind::worker ? w.number >= active_workers(acquire) : retire_reserve(w);
        if (surplus) {
            leave_search(w);
            flush_scope_ends(w);
            // A reserve was called for work. If the one that called it has gone on by now, and
            // perhaps left the scheduler, somebody else must hear of that work.
            if (w.kind == seat_kind::reserve && work_visible()) wake_one();
            // What is meant for this thread alone nobody else can run.
            if (const task_id id = direct_task(w)) {
                run(w, id);
                const auto nothing = [](std::uint64_t) { return false; };
                run_chain(w, nothing, nothing);
            } else {
                sleep(w, INT64_MAX);  // until the count goes up, or the end
            }
            continue;
        }
        const task_id id = next_task(w);
        if (!id) {
            if (!steal_branch(w)) idle(w);
            continue;
        }
        leave_search(w);
        run(w, id, true);
        run_chain(w);
    }
    leave_thread(w);
}

void runtime::rest_if_frozen(worker& w) {
    if (!frozen().on()) return;
    // Threads of the program are not the scheduler's to stop, nor is the task that froze the rest.
    const bool own = w.kind == seat_kind::worker || w.kind == seat_kind::reserve ||
                     w.kind == seat_kind::background;
    if (!own || frozen().is_by(w.index)) return;
    leave_search(w);
    flush_scope_ends(w);
    const std::uint64_t key = frozen().key();
    if (observed()) report(w, event_kind::parked, {});
    wait_record record;
    while (lot().enter(record, key, w.index, [&] { return frozen().on(); })) {
        w.at_rest.store(true, seq_cst);
        while (!record.done.load(acquire)) {
            serial() ? serial()->block(w.index, {}) : w.park.park();
        }
        w.at_rest.store(false, seq_cst);
    }
    if (observed()) report(w, event_kind::unparked, {});
}

void runtime::run(worker& w, task_id id, bool more) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    const bool discarded = phase(relaxed) == life::discarding && (flags & flag_finally) == 0;
    const task_environment* environment = s.environment.load(relaxed);
    if (w.scope_ended_in != nullptr &&
        (environment == nullptr || environment->within != w.scope_ended_in)) {
        flush_scope_ends(w);
    }
    if ((flags & flag_own_way) != 0) {
        if (s.way != nullptr) {
            return s.way(*this, w, index, more ? own_step::more : own_step::once);
        }
        return run_ticket(w, index);
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
[[gnu::noinline]] void runtime::run_any(worker& w, task_id id) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    const std::int64_t started = options().statistics ? active_policy::now() : w.stamp;
    const std::int64_t outer_elsewhere = std::exchange(w.elsewhere, 0);
    const char* name = s.name;
    running_task body{
        index, w.top, {}, task_context(*this, w, (flags & flag_posted) != 0 ? task_id{} : id)};
    s.runner.store(w.index, relaxed);
    running_task* const outer = begin_body(w, body, id);
    if (observed()) options().observer->on_start(w.index, id, name, 0, {});

    s.invoke(s.storage, &body.context);

    end_body(w, body, outer);
    const bool failed = body.error != nullptr;
    bool completes = false;
    if (observed()) {
        if (failed) report(w, event_kind::failed, id, {}, name);
        // In one call, where nothing comes in between.
        completes = !failed && (flags & flag_resources) == 0 && !w.completing &&
                    ((flags & flag_posted) != 0 || drop_only_open_work(s.open));
        options().observer->on_end(w.index, id, name, completes);
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

/// By a loop of this thread, right after run(): the successor of the task that has ended is in this
/// core's cache, and goes through no queue. One for which the loop does not care goes where all go.
/// `more`: as of run(), by task.
void runtime::run_chain(worker& w, id_test wanted, id_test more) {
    constexpr unsigned most = 64;  // until the loop looks at everything else
    constexpr auto normal = static_cast<unsigned>(priority_level::normal);
    for (unsigned n = 0; w.run_next; ++n) {
        const task_id id = std::exchange(w.run_next, {});
        if (n == most || wanted_elsewhere(*this, w, normal) || !wanted(id.value)) {
            enqueue(w, index_of(id.value));
            return;
        }
        run(w, id, more(id.value));
    }
}

void runtime::run_chain(worker& w) {
    constexpr auto any = [](std::uint64_t) { return true; };
    run_chain(w, any, any);
}

running_task* runtime::begin_body(worker& w, running_task& body, task_id shown_as) {
    running_task* const outer = current_task();
    if (w.joins != nullptr) body.joins_from = w.joins->top;
    w.top = &body;
    set_current_task(&body);
    if (w.depth < worker::shown_depth) {
        shown_frame& frame = w.frames[w.depth];
        frame.awaited.store(0, relaxed);
        frame.task.store(shown_as.value, relaxed);
    }
    // release: pairs with a searcher's acquire; the frames below `shown` are filled in.
    w.shown.store(++w.depth, release);
    return outer;
}

void runtime::go_on_as(running_task& body, worker& w, std::uint32_t index, task_id id) {
    body.slot = index;
    body.context.id_ = id;
    body.context.id_taken_ = false;
    // relaxed: a thread that explains what runs where may see the one before.
    w.frames[std::min(w.depth - 1, worker::shown_depth)].task.store(id.value, relaxed);
}

void runtime::end_body(worker& w, const running_task& body, running_task* outer) {
    w.shown.store(--w.depth, release);
    w.top = body.below;
    set_current_task(outer);
}

bool runtime::yield_to_higher(worker& w) {
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

bool runtime::help_once(worker& w, task_id needed) {
    const wait_target target{.task = needed};
    const task_id id = work_search(*this, w, target, help::needed).find();
    if (!id) return false;
    leave_search(w);
    seat_counters::add(w.counters.helped);
    if (observed()) {
        report(w, event_kind::helped, w.top != nullptr ? id_of(w.top->slot) : task_id{}, id);
    }
    helper_floats floats;
    floats.use(w, float_control);
    w.stamp = active_policy::coarse_now();
    run(w, id);
    return true;
}

void runtime::end_without_running(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    const bool empty = s.has(flag_empty);
    const bool cancelled = s.has(flag_cancel) || !empty;
    if (!empty && s.invoke != nullptr) s.invoke(s.storage, nullptr);
    s.flags.fetch_and(static_cast<std::uint16_t>(~flag_shared), relaxed);
    if (s.has(flag_resources)) release_resources(w, index);
    if (cancelled) {
        s.flags.fetch_or(flag_cancel, relaxed);
        seat_counters::add(w.counters.cancelled);
        if (observed()) report(w, event_kind::cancelled, id_of(index), {}, s.name);
        if (!s.has(flag_failed)) record_failure(w, index, nullptr, 0);
    } else {
        seat_counters::add(w.counters.executed);
    }
    own_work_done(w, index);
}

}  // namespace detail
BRAID_NAMESPACE_END
