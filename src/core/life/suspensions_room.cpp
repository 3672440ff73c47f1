#include "core/life/suspensions_room.hpp"

#include "braid/core/suspend.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void suspensions_room::begin_suspension(std::uint32_t index, const suspension& how) {
    slot& s = slots.at(index);
    detail_block& d = details.at(s);
    d.was_suspended.store(true, relaxed);
    d.first_is_enough.store(how.first_is_enough, relaxed);
    d.goes_last = how.goes_last;
    d.may_end_early.store(how.may_end_early && !d.shielded.load(relaxed) &&
                              scope_of(s.environment.load(relaxed)) != nullptr,
                          relaxed);
    d.came.store(came_arming, relaxed);
    d.waits.store(d.waits.load(relaxed) + 1, relaxed);
    // release: pairs with any_predecessor(). suspend() releases the rest.
    s.waits_for.store(1, release);
}

/// Returns true if the awaited task needs a resource with a limit of 1 that this task holds
/// meanwhile. The awaited task could never have that resource.
bool suspensions_room::holds_what_it_needs(life_seat& w, std::uint32_t index, task_id awaited) {
    const slot& own = slots.at(index);
    slot& other = slots.at(awaited);
    // The share keeps the awaited task open, so its detail block stays valid.
    if (!details.uses_resources(own) || !add_open_work(other.open, generation_of(awaited.value))) {
        return false;
    }
    bool found = false;
    if (other.has(flag_detailed)) {
        const detail_block& o = details.at(own);
        const detail_block& d = details.at(other);
        const std::span<resource* const> wanted = details.resources_of(d);
        const std::span<resource* const> held = details.resources_of(o);
        found = std::any_of(wanted.begin(), wanted.end(), [&](resource* r) {
            return r->internals().limit == 1 &&
                   std::find(held.begin(), held.end(), r) != held.end();
        });
    }
    own_work_done(w, index_of(awaited.value));
    return found;
}

awaiting suspensions_room::await_task(life_seat& w, std::uint32_t index, task_id awaited) {
    const task_id id = slots.id_of(index);
    if (!BRAID_EXPECT(options.assertion, awaited != id, "a task cannot await itself") ||
        !BRAID_EXPECT(options.assertion, slots.state_of(awaited) != task_state::unknown,
                      "await only ids that this scheduler has issued") ||
        !BRAID_EXPECT(options.assertion, !edges.waits_for_transitively(awaited, id),
                      "what is awaited waits for this task already: that would be a cycle") ||
        !BRAID_EXPECT(options.assertion, !holds_what_it_needs(w, index, awaited),
                      "what is awaited needs a resource that this task holds meanwhile: it would "
                      "never have it")) {
        return awaiting::refused;
    }
    detail_block& d = details.at(slots.at(index));
    const bool may_go = d.first_is_enough.load(relaxed) || d.may_end_early.load(relaxed);
    const link edge =
        edges.make(w.edges, index, awaited, false, may_go ? edge_awaited : edge_fixed);
    if (edge == link::no_memory) return awaiting::no_memory;
    if (edge == link::not_needed || edge == link::failed) {
        arrived how = arrived::first;
        if (d.first_is_enough.load(relaxed)) how = first_came(d.came, awaited.value);
        if (edge == link::failed && how != arrived::later)
            outcomes.cancel_with(w.details, index, awaited);
    }
    if (report.observed()) report.event(w.index, event_kind::edge, id, awaited);
    if (edge == link::made) inherit_priority(w, awaited, slots.level_of(slots.at(index)));
    return awaiting::linked;
}

void suspensions_room::go_on_in(std::uint32_t index, task_class as) {
    slot& s = slots.at(index);
    detail_block& d = details.at(s);
    d.direct.store(false, relaxed);
    d.seat.store(UINT16_MAX, relaxed);
    d.workers = 0;
    if (as == task_class::background) {
        s.flags.fetch_or(flag_background, relaxed);
    } else {
        s.flags.fetch_and(static_cast<std::uint16_t>(~flag_background), relaxed);
    }
}

bool suspensions_room::go_on_at(const life_seat& w, std::uint32_t index, thread_ref on) {
    task_options there;
    there.on = on;
    if (!BRAID_EXPECT(options.assertion, static_cast<bool>(on), "resume_on() wants a thread") ||
        !good_options(w.rt, there)) {
        return false;
    }
    go_on_in(index, task_class::frame);
    detail_block& d = details.at(slots.at(index));
    d.visit = on.visit;
    d.seat.store(on.seat, relaxed);
    d.direct.store(true, relaxed);
    return true;
}

void suspensions_room::suspend(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    const task_id id = slots.id_of(index);
    const detail_block& d = details.at(s);
    seat_counters::add(w.report.counters.suspensions);
    enter_wait_at_hand(w, index);
    s.runner.store(UINT16_MAX, relaxed);  // from now on, searchers follow its edges
    std::uint32_t shares = 1;
    if (d.first_is_enough.load(relaxed) && !arm_first(details.at(s).came))
        shares += edges.tear(w.edges, s);
    if (d.may_end_early.load(relaxed)) {
        list_suspended(index);
        // This check comes after the listing. So a thread that cancels the scope finds the task in
        // the list, or this check sees that the scope is cancelled.
        if (scope_cancelled(s)) shares += edges.tear(w.edges, s);
    }
    const bool goes_last = d.goes_last;
    // The drop releases all that the body wrote to the thread that resumes it.
    if (!drop_waits(s.waits_for, shares)) return announce_needs(w, id);
    if (!goes_last) return make_ready(w, index, {});
    if (report.observed()) report.event(w.index, event_kind::ready, slots.id_of(index), {});
    enqueue_last(w, index);
}

resumption suspensions_room::end_suspension(std::uint32_t index) {
    slot& s = slots.at(index);
    resumption r;
    // relaxed: the last share was dropped after the word was written.
    const std::uint64_t came = details.at(s).came.load(relaxed);
    if (came > came_armed) r.first = {came};
    r.not_wanted = !is_shielded(s) &&
                   (scope_cancelled(s) || (phase() == life::discarding && !s.has(flag_finally)));
    // A failure without this flag is a child's failure, which counts when the task is complete.
    if (!s.has(flag_cancel)) return r;
    r.error = outcomes.take_error(outcomes.take_failure(s));
    r.cancelled = r.error == nullptr;
    return r;
}

}  // namespace detail
BRAID_NAMESPACE_END
