#include "core/life/completions_room.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

const char* name_of(const slot& s) { return s.name != nullptr ? s.name : ""; }

std::exception_ptr error_of(const completion_result& r, const char* name) {
    if (r.error != nullptr) return r.error;
    char text[160];
    const char* sentence = r.sentence;
    if (sentence == nullptr) {
        if (r.code == completion_error::deadline_passed) {
            std::snprintf(text, sizeof text, "completion '%.100s' missed its deadline", name);
        } else {
            std::snprintf(text, sizeof text, "completion '%.100s' failed with code %d", name,
                          r.code);
        }
        sentence = text;
    }
    return std::make_exception_ptr(completion_error(r.code, sentence));
}

}  // namespace

// ---- armed -------------------------------------------------------------------------------------

completion_id completions_room::defer(life_seat& w, task_id running, completion_options& with) {
    if (!BRAID_EXPECT(options.assertion, static_cast<bool>(running),
                      "a posted task cannot defer, as nobody can wait for it: spawn it")) {
        return {};
    }
    return make(w, running, with, awaited_by::nobody);
}

completion_id completions_room::await_outside(life_seat& w, std::uint32_t running,
                                              completion_options& with, ended_by by) {
    // This is checked first, because a completion that is armed cannot be taken back.
    if (!edges.has_free(w.edges)) return {};
    constexpr awaited_by as[] = {awaited_by::body, awaited_by::body_that_sleeps,
                                 awaited_by::body_inside};
    return make(w, slots.id_of(running), with, as[static_cast<unsigned>(by)]);
}

completion_id completions_room::make(life_seat& w, task_id running, completion_options& with,
                                     awaited_by by) {
    const bool more = with.keep || with.deadline.value != no_limit.value;
    const std::uint32_t extra = more ? take_extra(w) : no_index;
    if (more && extra == no_index) return {};
    const std::uint32_t index = slots.take(w.slots);
    if (index != no_index) {
        slot& s = slots.at(index);
        open_words(s.open, s.successors, s.generation() + 1, what_it_is(by) | 1);
        if (!identified() || fill_detail(w, s, {.where = {}}, draft_kind::spawned)) {
            completion_facts& facts = *::new (static_cast<void*>(s.storage)) completion_facts;
            facts.hint = with.cancel;
            facts.armed_at = active_policy::coarse_now();
            facts.extra = extra;
            facts.due_is_well = by == awaited_by::body_that_sleeps;
            facts.awaited = by != awaited_by::nobody;
            if (more) extra_at(extra).held = std::move(with.keep);
            return arm(w, index, running, with, by);
        }
        close_unused(s.successors, s.generation());
        slots.clean_and_give(w.slots, index);
    }
    if (more) give_extra(w, extra);
    return {};
}

completion_id completions_room::arm(life_seat& w, std::uint32_t index, task_id running,
                                    const completion_options& with, awaited_by by) {
    slot& p = slots.at(running);
    slot& s = slots.at(index);
    s.name = with.name != nullptr ? with.name : p.name;
    s.kind = &completion_kind;
    s.module = p.module;
    s.flags.store(
        static_cast<std::uint16_t>(flag_own_kind | (p.flags.load(relaxed) & flag_category)),
        relaxed);
    s.level.store(p.level.load(relaxed), relaxed);
    s.environment.store(p.environment.load(relaxed), relaxed);
    s.waits_for.store(1, relaxed);
    slots.link_parent(s, index_of(running.value));
    const task_id id = slots.id_of(index);
    if (by != awaited_by::nobody) {
        // The completion needs no share of the parent, because the suspended body keeps the parent
        // open. The edge resumes the body, and passes a failure to it. It is linked before the
        // arming, because an armed completion may end at once.
        edges.make_first(w.edges, index_of(running.value), id);
    } else {
        s.ordinal.store(p.births.fetch_add(1, relaxed) + 1, relaxed);
        // relaxed: the running body's share keeps the count above 0 meanwhile.
        p.open.fetch_add(1, relaxed);
    }
    seat_counters::add(w.report.counters.deferred);
    slots.note_line(s, index, with.where);
    if (report.observed()) {
        const spawn_facts facts{.where = with.where,
                                .level = slots.level_of(s),
                                .stable_id = identified() ? identity(id) : 0};
        report.watcher().on_event({.kind = event_kind::deferred,
                                   .seat = w.index,
                                   .task = running,
                                   .other = id,
                                   .name = s.name,
                                   .facts = &facts});
    }
    if (by != awaited_by::nobody && report.observed())
        report.event(w.index, event_kind::edge, running, id);
    const bool timed = with.deadline.value != no_limit.value;
    // With a deadline, this thread holds a second share until it has stored the timer's id.
    // end_completion() reads that id.
    const std::uint32_t shares = timed ? 2 : 1;
    const bool shielded = is_shielded(p);
    const std::uint32_t as = shielded ? what_it_is(by) | completion_shielded : what_it_is(by);
    if (!shielded && scope_of(s.environment.load(relaxed)) != nullptr) {
        list_and_arm(index, as, shares);
    } else {
        arm_completion(s.open, generation_of(id.value), as, shares);
    }
    if (timed && !arm_deadline(w, id, with.deadline)) return {};
    // This check comes after the arming. So a thread that cancels or begins to discard finds the
    // completion, or this check sees what that thread has set. seq_cst: as in ask_all(). The check
    // reads the running task's slot, because the completion may have ended and its slot may be used
    // again.
    if (!shielded && (scope_cancelled(p) || phase(seq_cst) == life::discarding)) ask(w, id);
    return {id.value};
}

/// Starts the timer of an armed completion. Returns false if there is no memory or no thread for a
/// timer; the completion is then settled.
bool completions_room::arm_deadline(life_seat& w, task_id id, nanoseconds deadline) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    timer_id& timer = extra_at(completion_at(s).extra).timer;
    timer = arm_timer({.deadline = deadline_after(clock(), deadline),
                       .call = {.due = &ask_late,
                                .word = id.value,
                                .stable_id = identified() ? details.find(s)->stable_id : 0}});
    const bool armed = static_cast<bool>(timer);
    // Without a timer the caller gets no id, so nobody could settle the completion. This thread
    // settles it, unless a cancellation has done so.
    const bool own = !armed && claim_completion(s.open, generation_of(id.value));
    if (own) report_settled(w, id);
    if (drop_completion(s.open, own ? 2 : 1)) complete(w, index);
    return armed;
}

// ---- settled -----------------------------------------------------------------------------------

const char* completions_room::why_not_settled_outside(completion_id id) const {
    const std::uint32_t generation = generation_of(id.value);
    // relaxed: what an id stands for never changes.
    const std::uint64_t word =
        slots.has(index_of(id.value)) ? slots.at(id.task()).open.load(relaxed) : 0;
    if (generation == 0 || generation > generation_of(word) ||
        (generation == generation_of(word) &&
         (index_of(word) & (completion_deferred | completion_awaited)) == 0)) {
        return "complete only ids that defer() of this scheduler has returned";
    }
    if (generation == generation_of(word) && (index_of(word) & completion_awaited) != 0) {
        return "a wait of a coroutine ends by what it awaits: complete() is for ids of defer()";
    }
    return nullptr;
}

bool completions_room::is_settled(completion_id id) const {
    if (generation_of(id.value) == 0 || !slots.has(index_of(id.value))) return false;
    const slot& s = slots.at(id.task());
    switch (state_of_completion(s.open, generation_of(id.value))) {
        case completion_now::another_task:
        case completion_now::armed:
            return false;
        case completion_now::settled:
            return true;
        case completion_now::gone:
            return slots.state_of(id.task()) == task_state::done;
    }
    return false;
}

bool completions_room::settle_completion(life_seat& w, completion_id id,
                                         const completion_result& result) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    const bool plain = result.code == 0 && result.error == nullptr && !report.observed();
    if (plain && claim_and_drop_completion(s.open, generation_of(id.value))) {
        complete(w, index);
        return true;
    }
    if (!claim_completion(s.open, generation_of(id.value))) return false;
    report_settled(w, id.task());
    if (result.code != 0 || result.error != nullptr) fail(w, index, result);
    if (drop_completion(s.open)) complete(w, index);
    return true;
}

bool completions_room::settle_as_cancelled(life_seat& w, completion_id id) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    if (!claim_completion(s.open, generation_of(id.value))) return false;
    report_settled(w, id.task());
    record_failure(w, index, nullptr, 0);
    s.mark(flag_cancel);
    if (drop_completion(s.open)) complete(w, index);
    return true;
}

bool completions_room::try_settle_completion(life_seat& w, completion_id id, int code) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    if (!has_room(w)) return false;
    if (!claim_completion(s.open, generation_of(id.value))) return false;
    report_settled(w, id.task());
    completion_at(s).code = code;
    if (!drop_completion(s.open)) return true;
    s.waits_for.store(0, relaxed);
    try_push_ready(w, id.task());  // does not fail, as there is room
    return true;
}

void completions_room::report_settled(life_seat& w, task_id id) const {
    if (!report.observed()) return;
    const slot& s = slots.at(id);
    report.event(w.index, event_kind::settled, slots.id_of(s.parent.load(relaxed)), id, s.name);
}

void completions_room::fail(life_seat& w, std::uint32_t index, const completion_result& result) {
    record_failure(w, index, error_of(result, name_of(slots.at(index))), 0);
}

// ---- asked, and finished -----------------------------------------------------------------------

void completions_room::run_completion(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    // acquire: pairs with the drop of the last share (C3).
    const std::uint32_t low = index_of(s.open.load(acquire));
    if ((low & completion_shares) == 0) return complete(w, index);
    const std::uint32_t shares = end_if_possible(w, index) ? 2 : 1;
    if (drop_completion(s.open, shares)) complete(w, index);
}

bool completions_room::holds_something(const completion_facts& facts) const {
    return facts.extra != no_index && extra_at(facts.extra).held;
}

/// Asks the completion, and claims it if it may end. A completion that has no hint may end unless
/// it keeps an object alive. Returns true if this call has claimed it. The caller then drops two
/// shares: the one of the question and the one of the party that settles.
bool completions_room::end_if_possible(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    const task_id id = slots.id_of(index);
    completion_facts& facts = completion_at(s);
    const bool lets_go = facts.hint.ask != nullptr ? facts.hint.ask(facts.hint.data, {id.value})
                                                   : !holds_something(facts);
    if (!lets_go || !claim_completion(s.open, generation_of(id.value))) return false;
    report_settled(w, id);
    using end = completion_facts::end;
    facts.how = facts.asked_late ? end::late : end::cancelled;
    return true;
}

void completions_room::end_completion(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    completion_facts& facts = completion_at(s);
    const std::uint32_t parent = s.parent.load(relaxed);
    if (scope_of(s.environment.load(relaxed)) != nullptr) unlist(index);
    if (facts.how == completion_facts::end::cancelled) {
        record_failure(w, index, nullptr, 0);
        s.mark(flag_cancel);
    }
    if (facts.how == completion_facts::end::late && !facts.due_is_well) {
        fail(w, index, {.code = completion_error::deadline_passed});
    }
    if (facts.code != 0) fail(w, index, {.code = facts.code});
    if (facts.extra != no_index) {
        // A timer that comes due meanwhile finds that the completion is not open.
        if (timer_id& timer = extra_at(facts.extra).timer) cancel_timer(std::exchange(timer, {}));
        // The kept object is destroyed before other threads can see that the completion is complete
        // (I4).
        extra_at(facts.extra).held.reset();
        give_extra(w, facts.extra);
    }
    const bool failed = s.has(flag_failed);
    outcome* const own = failed ? outcomes.find(s) : nullptr;
    const bool awaited = facts.awaited;
    if (awaited) {
        seat_counters::add(w.report.counters.settled);  // counted before the parent may resume
    }
    const bool received =
        notify_dependents(w, index, close_and_take(s.successors, s.generation()), own);
    if (!failed) {
        details.free(w.details, s);
    } else if (outcome* const result = outcomes.end(w.details, s); received || awaited) {
        outcomes.drop(result);
    } else if (result != nullptr) {
        outcomes.adopt(w.details, parent, result, s.ordinal.load(relaxed));
    } else {
        outcomes.mark_unrecorded(slots.at(parent), flag_failed);
    }
    slots.clean_and_give(w.slots, index);
    if (awaited) return;
    seat_counters::add(w.report.counters.settled);
    own_work_done(w, parent);
}

// ---- seen --------------------------------------------------------------------------------------

std::size_t completions_room::show_completions(life_seat& w, completion_info* rows,
                                               std::size_t capacity) {
    std::size_t count = 0;
    const std::int64_t now = active_policy::coarse_now();
    each_open(w, [&](std::uint32_t index) {
        const slot& s = slots.at(index);
        const std::uint32_t parent = s.parent.load(relaxed);
        if (count < capacity) {
            rows[count] = {.id = {slots.id_of(index).value},
                           .task = slots.id_of(parent),
                           .name = name_of(s),
                           .task_name = name_of(slots.at(parent)),
                           .module = s.module,
                           .age = nanoseconds{now - completion_at(s).armed_at}};
        }
        ++count;
    });
    return count;
}

}  // namespace detail
BRAID_NAMESPACE_END
