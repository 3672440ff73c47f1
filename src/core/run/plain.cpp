// The short way of a plain task, which has no options but a name and a scope: from open to the end
// of its work, without the branches that others need. What it may skip, it never was; whatever
// turns out different (a failure, children, successors, waiters) goes on as in complete.cpp.
#include "braid/core/scope.hpp"
#include "core/life/scope_counts.hpp"
#include "core/run/attention.hpp"
#include "core/run/helper_floats.hpp"
#include "core/seat_lease.hpp"
#include "core/task/words.hpp"

#include <algorithm>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr bool is_plain(std::uint16_t flags) { return (flags & ~flag_posted) == 0; }

}  // namespace

// ---- open, publish -----------------------------------------------------------------------------

/// open() without options. Null: shut down, or no memory (or, if it must not block, no room).
[[gnu::always_inline]] inline slot* runtime::prepare_plain(worker& w, const char* name,
                                                           std::uint16_t flags,
                                                           const task_environment* environment,
                                                           bool may_block) noexcept {
    if (!accepts_from(*this, w)) return nullptr;
    const std::uint32_t index = take_slot(w, may_block);
    if (index == no_index) return nullptr;
    slot& s = slot_at(index);
    s.name = name;
    s.module = 0;
    s.flags.store(flags, relaxed);
    s.level.store(normal_level, relaxed);
    s.next.store(index, relaxed);  // see index_of()
    s.environment.store(environment, relaxed);
    open_words(s.open, s.successors, s.generation() + 1, 1);
    return &s;
}

[[gnu::always_inline]] inline draft runtime::open_plain(worker& w, scope* within, const char* name,
                                                        draft_kind kind) {
    const task_environment* environment = nullptr;
    if (within != nullptr) {
        environment = &within->environment_;
    } else if (w.top != nullptr) {
        environment = slot_at(w.top->slot).environment.load(relaxed);
    }
    const std::uint16_t flags = kind == draft_kind::posted ? flag_posted : 0;
    slot* const s = prepare_plain(w, name, flags, environment);
    if (s == nullptr) return {};
    seat_counters::add(w.counters.created);
    count_creation(w, environment);
    return {s->storage, &w};
}

namespace {

/// A foreign thread, a chooser, statistics; or shut down, or out of memory: said there.
[[gnu::noinline]] draft open_slowly(runtime& rt, worker* w, scope* within, const char* name,
                                    draft_kind kind, std::source_location where) {
    const seat_lease seat(rt, w);
    draft d = rt.open(*seat, {.name = name, .within = within, .where = where}, kind);
    d.owner = rt.plain_ways() ? seat.own() : nullptr;  // see publish_plain()
    return d;
}

/// Opens it with an observer, which hears that the task is ready a moment before it is.
[[gnu::noinline]] draft open_watched(runtime& rt, worker* w, scope* within, const char* name,
                                     draft_kind kind, std::source_location where) {
    draft d;
    if (w != nullptr && rt.plain_ways()) d = rt.open_plain(*w, within, name, kind);
    if (d.storage == nullptr) return open_slowly(rt, w, within, name, kind, where);
    if (rt.observed()) {
        const task_id id = rt.id_of(index_of(d));
        rt.report_spawned(rt.watcher(), *w, slot_of(d), id, {}, where, false, true);
    }
    return d;
}

}  // namespace

draft open_plain(runtime& rt, worker* w, scope* within, const char* name, draft_kind kind,
                 std::source_location where) {
    if (w == nullptr) w = rt.bound();
    if (w == nullptr || !rt.unwatched()) return open_watched(rt, w, within, name, kind, where);
    const draft d = rt.open_plain(*w, within, name, kind);
    return d.storage != nullptr ? d : open_slowly(rt, w, within, name, kind, where);
}

task_id publish_plain(runtime& rt, draft d, closure_fn body) {
    slot& s = slot_of(d);
    if (d.owner == nullptr) return publish_task(rt, d, body);
    s.invoke = body;
    const task_id id{join_word(s.generation(), index_of(d))};
    worker& w = *d.owner;
    rt.push_ready(w, id, normal_level);
    return id;
}

bool runtime::try_post(worker& w, void (*function)(void*), void* data) noexcept {
    struct call {
        void (*function)(void*);
        void* data;
        void operator()() const { function(data); }
    };
    slot* const s = prepare_plain(w, nullptr, flag_posted, nullptr, false);
    if (s == nullptr) return false;
    const std::uint32_t index = s->next.load(relaxed);
    ::new (static_cast<void*>(s->storage)) call{function, data};
    s->invoke = &run_closure<call>;
    seat_counters::add(w.counters.created);
    if (!try_push_ready(w, id_of(index))) {
        seat_counters::add(w.counters.created, std::uint64_t{0} - 1);
        close_unused(s->successors, s->generation());
        give_slot(w, index, s->generation());
        return false;
    }
    return true;
}

// ---- run, complete -----------------------------------------------------------------------------

namespace {

struct plain_end {
    enum : std::uint8_t { open, over, not_closed, closed } kind;
    std::uint64_t head;  // if closed: what close_and_take() gave
};

/// True: it was the last share, and all is reported.
[[gnu::noinline]] bool report_end(runtime& rt, worker& w, slot& s, task_id id, bool posted) {
    bool over = posted || drop_only_open_work(s.open);
    rt.options().observer->on_end(w.index, id, s.name, over);
    if (over) return true;
    over = drop_open_work(s.open);
    if (over) rt.report(w, event_kind::completed, id, {}, s.name);
    return over;
}

/// The end of a plain task that did not fail.
template <bool observed>
[[gnu::always_inline]] inline plain_end end_plain(runtime& rt, worker& w, slot& s,
                                                  std::uint32_t index, bool posted) {
    if constexpr (observed) {
        if (!report_end(rt, w, s, rt.id_of(index), posted)) return {plain_end::open, 0};
    } else if (!posted && !drop_open_work(s.open)) {
        return {plain_end::open, 0};
    }
    if (s.detail.load(relaxed) != no_index || s.parent.load(relaxed) != no_index) {
        return {plain_end::not_closed, 0};
    }
    const std::uint32_t generation = s.generation();
    if (posted) {
        close_unused(s.successors, generation);
    } else {
        const std::uint64_t head = close_and_take(s.successors, generation);
        if (first_edge(head) != no_edge || (static_cast<std::uint32_t>(head) & waited_bit) != 0) {
            return {plain_end::closed, head};
        }
        // All that clean() would have to put back.
        s.births.store(0, relaxed);
        s.runner.store(UINT16_MAX, relaxed);
    }
    rt.give_slot(w, index, generation);
    return {plain_end::over, 0};
}

/// The newest task of this thread, if it is plain, of the same environment, and nothing else comes
/// first.
[[gnu::always_inline]] inline std::uint64_t next_plain(const runtime& rt, worker& w,
                                                       const task_environment* environment) {
    if (wanted_elsewhere(rt, w, normal_level) || rt.phase(relaxed) != life::running) return 0;
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
void runtime::run_plain(worker& w, task_id id, bool more) {
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
    running_task body{index, w.top, {}, task_context(*this, w, {})};
    atomic<std::uint64_t>& shown = w.frames[std::min(w.depth, worker::shown_depth)].task;
    running_task* const outer = begin_body(w, body, id);
    w.elsewhere = 0;
    while (true) {
        const bool posted = s->has(flag_posted);
        if (!posted) {
            body.context.id_ = id;
            s->runner.store(w.index, relaxed);
        }
        const closure_fn invoke = s->invoke;
        name = s->name;
        if (observed) options().observer->on_start(w.index, id, name, 0, {});

        invoke(s->storage, &body.context);

        ++untimed;
        if (body.error != nullptr) break;
        seat_counters::add(w.counters.executed);
        end = end_plain<observed>(*this, w, *s, index, posted);
        if (end.kind == plain_end::over) ++ended;
        if (end.kind > plain_end::over || --left == 0) break;
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
    if (ended != 0 && environment != nullptr && environment->within != nullptr) {
        count_end(w, *environment->within, end_of_task::executed, ended);
    }
    if (body.error != nullptr) {
        if (observed) report(w, event_kind::failed, id, {}, name);
        if (observed) options().observer->on_end(w.index, id, name, false);
        seat_counters::add(w.counters.failed);
        record_failure(w, index, std::move(body.error), 0);
        own_work_done(w, index);
    } else if (end.kind == plain_end::not_closed) {
        complete(w, index, observed);
    } else if (end.kind == plain_end::closed) {
        complete_closed(w, index, end.head, nullptr);
    }
}

template void runtime::run_plain<false>(worker& w, task_id id, bool more);
template void runtime::run_plain<true>(worker& w, task_id id, bool more);

// ---- run at once, by a thread outside tasks ----------------------------------------------------

void runtime::end_here(worker& w, std::uint32_t index) {
    if (!unwatched()) return own_work_done(w, index);
    const plain_end end = end_plain<false>(*this, w, slot_at(index), index, false);
    if (end.kind == plain_end::not_closed) {
        complete(w, index);
    } else if (end.kind == plain_end::closed) {
        complete_closed(w, index, end.head, nullptr);
    }
}

/// A task that joins can be part of. What its body throws goes to the caller, not to the task.
void runtime::run_here(worker& w, const char* name, void (*body)(void*, fork_context), void* data) {
    const draft d = detail::open_plain(*this, &w, nullptr, name, draft_kind::spawned, {});
    if (d.storage == nullptr) return body(data, joins_of_body(w));  // shut down, or no memory
    const std::uint32_t index = index_of(d);
    const task_id id = id_of(index);
    slot& s = slot_at(index);
    s.runner.store(w.index, relaxed);
    helper_floats floats;
    floats.use(w, float_control);
    running_task task{index, w.top, {}, task_context(*this, w, id)};
    const unsigned facts = s.waits_for.load(relaxed) == 0 ? 0 : start_ready_now;
    s.waits_for.store(0, relaxed);
    struct around {
        runtime& rt;
        worker& w;
        running_task& task;
        task_id id;
        running_task* outer;
        around(runtime& r, worker& own, running_task& t, task_id i, unsigned facts)
            : rt(r), w(own), task(t), id(i), outer(r.begin_body(own, t, i)) {
            if (!rt.observed()) return;
            rt.options().observer->on_start(w.index, id, rt.slot_at(task.slot).name, facts, {});
        }
        ~around() {
            rt.end_body(w, task, outer);
            if (rt.observed()) {
                rt.options().observer->on_end(w.index, id, rt.slot_at(task.slot).name, false);
            }
            seat_counters::add(w.counters.executed);
            rt.end_here(w, task.slot);
        }
    } here(*this, w, task, id, facts);
    body(data, joins_of_body(w));
}

}  // namespace detail
BRAID_NAMESPACE_END
