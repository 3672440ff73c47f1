// Joins that become public: asked for, stolen, taken back, waited for. The private way, which most
// joins take, is in braid/fork_join/join.hpp. See docs/design/fork-join.md.
#include "core/seat_lease.hpp"
#include "core/wait/search.hpp"

#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace detail {
// ---- the owner ---------------------------------------------------------------------------------

bool runtime::join_popped(worker& w, fork_slot* slot) {
    const bool stolen = !take_back_join(w, slot);
    if (stolen) {
        id_taken(*w.top) = true;  // perhaps by the thief
        w.joins->top = slot + 1;  // the result comes to the slot
        wait_for_branch(w, *slot);
    }
    end_join(w, slot, stolen);
    if (!observed()) return !stolen;
    if (stolen) {
        const auto thief = static_cast<std::uint16_t>(
            slot->state.load(relaxed) >> fork_slot::seat_shift & fork_slot::seat_mask);
        report_branch(w, event_kind::joined, id_of(w.top->slot), *slot, thief);
    } else {
        // relaxed: the slot is this thread's alone again.
        slot->state.store(fork_slot::unstolen, relaxed);
    }
    return false;
}

void runtime::wait_for_branch(worker& w, fork_slot& branch) {
    constexpr unsigned looks = 512;
    for (unsigned n = 0; !serial() && n < looks; ++n) {
        // acquire: pairs with run_branch().
        if ((branch.state.load(acquire) & fork_slot::finished) != 0) return;
        if (enough_stack(*this, w) && steal_needed_branch(w, {.branch = &branch})) {
            n = 0;
            continue;
        }
        active_policy::relax();
    }
    wait(w, {.branch = &branch}, forever, help::needed, nullptr);
}

// ---- the thief ---------------------------------------------------------------------------------

bool runtime::run_claimed(worker& w, claimed_branch claimed) {
    if (!claimed) return false;
    leave_search(w);
    run_branch(w, claimed);
    return true;
}

void runtime::run_branch(worker& w, const claimed_branch& claimed) {
    fork_slot& branch = *claimed.slot;
    const std::uint32_t index = branch.task.load(relaxed);
    const task_id id = id_of(index);
    running_task body{
        index, w.top, {}, task_context(*this, w, slot_at(index).has(flag_posted) ? task_id{} : id)};
    const std::int64_t began = task_clock();
    const std::int64_t outer_elsewhere = w.elsewhere;
    running_task* const outer = begin_body(w, body, id);
    if (observed()) report_branch(w, event_kind::job_started, id, branch, claimed.from);
    const bool threw = branch.run(branch, joins_of_body(w));
    if (observed()) report_branch(w, event_kind::job_ended, id, branch, claimed.from);
    end_body(w, body, outer);
    w.stamp = task_clock();
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    if (options().statistics) {
        seat_counters::add(w.counters.busy_ns, static_cast<std::uint64_t>(w.stamp - began));
    }
    seat_counters::add(w.counters.jobs_stolen);
    // acq_rel: release pairs with the owner's acquire, its slot may be in other use right after;
    // acquire: pairs with enter_wait().
    const std::uint32_t end = threw ? fork_slot::finished | fork_slot::failed : fork_slot::finished;
    const std::uint32_t was = branch.state.exchange(claimed.by | end, acq_rel);
    if ((was & fork_slot::awaited) == 0) return;
    lot().wake(
        address_key(&branch), 1, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

bool runtime::steal_branch(worker& w) {
    claimed_branch claimed;
    any_victim(w, w.fork_victim, [&](const ready_seat& victim) {
        claimed = claim_branch(w, victim, 0, [](std::uint64_t) { return true; });
        return static_cast<bool>(claimed);
    });
    return run_claimed(w, claimed);
}

bool runtime::steal_needed_branch(worker& w, const wait_target& target) {
    if (target.branch != nullptr) {
        // Only what its thief has made of it: whatever else that thread has lies below.
        const std::uint32_t seen = target.branch->state.load(relaxed);
        if ((seen & fork_slot::taken) == 0 || (seen & fork_slot::finished) != 0) return false;
        const worker& thief = seat_at(seen >> fork_slot::seat_shift & fork_slot::seat_mask);
        const std::uint32_t from = seen >> fork_slot::height_shift & fork_slot::height_mask;
        return run_claimed(w, claim_branch(w, thief, from, [](std::uint64_t) { return true; }));
    }
    if (w.kind == seat_kind::background) return false;
    if (target.run_everything) return steal_branch(w);
    if (target.signal != nullptr) return false;
    const work_search search(*this, w, target, help::needed);
    const auto wanted = [&](std::uint64_t entry) { return search.is_needed(entry); };
    const unsigned count = seat_count();
    for (unsigned n = 1; n < count; ++n) {
        const worker& victim = seat_at((w.index + n) % count);
        if (run_claimed(w, claim_branch(w, victim, 0, wanted))) return true;
    }
    return false;
}

// ---- outside tasks ------------------------------------------------------------------------------

fork_context serial_context() {
    thread_local fork_slot slots[fork_stack::spare];
    thread_local fork_stack stack(nullptr, slots, 0);
    return fork_access::at(stack.base);
}

void enter_fork_join(scheduler& s, const char* name, void (*body)(void* data, fork_context context),
                     void* data) {
    runtime& rt = s.internals();
    running_task* const running = current_task();
    if (running != nullptr && &runtime::of(running->context) == &rt) {
        return body(data, runtime::context_of(running->context));
    }
    const seat_lease seat(rt, nullptr);
    rt.run_here(*seat, name, body, data);
}

// ---- the doors ---------------------------------------------------------------------------------

bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count) {
    worker* w = stack.owner;
    return w != nullptr && w->rt.join_pushed(*w, first, count);
}
bool fork_popped(fork_stack& stack, fork_slot* slot) {
    return stack.owner->rt.join_popped(*stack.owner, slot);
}
void fork_run_unstolen(fork_slot& slot, fork_slot& result) {
    // The slot itself is for the joins of the part.
    result.run = slot.run;
    result.stack = slot.stack;
    std::memcpy(result.payload, slot.payload, sizeof result.payload);
    const bool threw = result.run(result, fork_access::at(&slot));
    result.state.store(threw ? fork_slot::finished | fork_slot::failed : fork_slot::finished,
                       relaxed);
    fork_drop_unstolen(slot);
}
void fork_drop_unstolen(fork_slot& slot) {
    worker& w = *slot.stack->owner;
    if (!w.rt.observed()) return;
    w.rt.report_branch(w, event_kind::joined, w.rt.id_of(w.top->slot), slot);
}
void fork_lost(fork_stack& stack, std::exception_ptr error) {
    runtime& rt = stack.owner->rt;
    const char* name = rt.slot_at(stack.owner->top->slot).name;
    rt.report_unobserved(name != nullptr ? name : "", std::move(error));
}

}  // namespace detail
BRAID_NAMESPACE_END
