// Bodies of plain tasks, which have no options but a name and a scope: what is equal for those that
// follow each other is done once. What turns out different (a failure, children, successors,
// waiters) goes on as in life/complete.cpp.
#include "braid/core/scope.hpp"
#include "core/life/new_task.hpp"
#include "core/life/plain_end.hpp"
#include "core/run/helper_floats.hpp"
#include "core/run/run_room.hpp"
#include "core/task/words.hpp"

#include <algorithm>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr bool is_plain(std::uint16_t flags) { return (flags & ~flag_posted) == 0; }

}  // namespace

namespace {

/// The newest task of this thread, if it is plain, of the same environment, and nothing else comes
/// first.
[[gnu::always_inline]] inline std::uint64_t next_plain(const run_room& rt, run_seat& w,
                                                       const task_environment* environment) {
    if (rt.wanted_elsewhere(w, normal_level) || rt.phase(relaxed) != life::running) return 0;
    const std::uint64_t id = w.ready[normal_level].newest();
    if (id == 0) return 0;
    const slot& s = rt.slot_at(index_of(id));
    const bool fits = is_plain(s.flags.load(relaxed)) &&
                      s.environment.load(relaxed) == environment &&
                      (environment == nullptr || environment->within == nullptr ||
                       !environment->within->cancelled());
    return fits && w.ready[normal_level].take_newest() ? id : 0;
}

}  // namespace

/// Does what run() does; what is equal for plain tasks that follow each other is done once.
template <bool observed>
void run_room::run_plain(run_seat& w, task_id id, bool more) {
    constexpr unsigned most = 64;  // until the thread's loop looks at everything else
    std::uint32_t index = index_of(id.value);
    slot* s = &slot_at(index);
    unsigned left = more && s->level.load(relaxed) == normal_level ? most : 1;
    const task_environment* const environment = s->environment.load(relaxed);
    const std::int64_t outer_elsewhere = w.elsewhere;
    const std::int64_t began = w.stamp;
    std::uint64_t ended = 0;
    unsigned untimed = 0;
    const char* name = nullptr;
    plain_end end{};
    running_task body{index, w.top, {}, task_context(w.rt, w.whole, {})};
    atomic<std::uint64_t>& shown = w.frames[std::min(w.depth, run_seat::shown_depth)].task;
    running_task* const outer = begin_body(w, body, id);
    w.elsewhere = 0;
    while (true) {
        const bool posted = s->has(flag_posted);
        if (!posted) {
            body.context.internals().id = id;
            s->runner.store(w.index, relaxed);
        }
        const closure_fn invoke = s->invoke;
        name = s->name;
        if (observed) watcher().on_start(w.index, id, name, 0, {});

        invoke(s->storage, &body.context);

        ++untimed;
        if (body.error != nullptr) break;
        seat_counters::add(w.counters.executed);
        end = end_plain<observed>(w, *s, index, posted);
        if (end.kind == plain_end::complete) ++ended;
        if (end.kind > plain_end::complete || --left == 0) break;
        const task_id next{next_plain(*this, w, environment)};
        if (!next) break;
        id = next;
        index = index_of(id.value);
        s = &slot_at(index);
        body.slot = index;
        // relaxed: a thread that explains what runs where may see the one before.
        shown.store(id.value, relaxed);
        if (untimed >= w.time_each || s->invoke != invoke || s->name != name) {
            note_durations(w, name, false, std::exchange(untimed, 0));
        }
    }
    note_durations(w, name, false, untimed);
    end_body(w, body, outer);
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    scope_state* const in = scope_of(environment);
    if (ended != 0 && in != nullptr) count_end(w, *in, end_of_task::executed, ended);
    if (body.error != nullptr) {
        if (observed) report(w, event_kind::failed, id, {}, name);
        if (observed) watcher().on_end(w.index, id, name, false);
        seat_counters::add(w.counters.failed);
        record_failure(w, index, std::move(body.error), 0);
        own_work_done(w, index);
    } else if (end.kind == plain_end::not_closed) {
        complete(w, index, observed);
    } else if (end.kind == plain_end::closed) {
        complete_closed(w, index, end.head, nullptr);
    }
}

template void run_room::run_plain<false>(run_seat& w, task_id id, bool more);
template void run_room::run_plain<true>(run_seat& w, task_id id, bool more);

// ---- run at once, by a thread outside tasks ----------------------------------------------------

void run_room::end_here(run_seat& w, std::uint32_t index) {
    if (!unwatched()) return own_work_done(w, index);
    const plain_end end = end_plain<false>(w, slot_at(index), index, false);
    if (end.kind == plain_end::not_closed) {
        complete(w, index);
    } else if (end.kind == plain_end::closed) {
        complete_closed(w, index, end.head, nullptr);
    }
}

void run_room::run_here(run_seat& w, const char* name, void (*body)(void*, fork_context),
                        void* data) {
    draft d;
    if (unwatched()) d = open_plain(w, nullptr, name, draft_kind::spawned);
    if (d.storage == nullptr) d = open(w, {.name = name, .where = {}}, draft_kind::spawned);
    if (d.storage == nullptr) return body(data, joins_of_body(w));  // shut down, or no memory
    const std::uint32_t index = index_of(d);
    const task_id id = id_of(index);
    slot& s = slot_at(index);
    s.runner.store(w.index, relaxed);
    helper_floats floats;
    floats.use(w, float_control_);
    running_task task{index, w.top, {}, task_context(w.rt, w.whole, id)};
    const unsigned facts = s.waits_for.load(relaxed) == 0 ? 0 : start_ready_now;
    s.waits_for.store(0, relaxed);
    struct around {
        run_room& rt;
        run_seat& w;
        running_task& task;
        task_id id;
        running_task* outer;
        around(run_room& r, run_seat& own, running_task& t, task_id i, unsigned facts)
            : rt(r), w(own), task(t), id(i), outer(r.begin_body(own, t, i)) {
            if (!rt.observed()) return;
            rt.watcher().on_start(w.index, id, rt.slot_at(task.slot).name, facts, {});
        }
        ~around() {
            rt.end_body(w, task, outer);
            if (rt.observed()) {
                rt.watcher().on_end(w.index, id, rt.slot_at(task.slot).name, false);
            }
            seat_counters::add(w.counters.executed);
            rt.end_here(w, task.slot);
        }
    } here(*this, w, task, id, facts);
    body(data, joins_of_body(w));
}

}  // namespace detail
BRAID_NAMESPACE_END
