// Joins that become public: asked for, stolen, taken back, waited for. The private way, which most
// joins take, is in braid/fork_join/join.hpp. See docs/design/fork-join.md.
#include "core/ready/victims.hpp"
#include "core/seat_lease.hpp"
#include "core/task/stable_ids.hpp"
#include "core/wait/search.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

std::uint32_t height_of(const fork_stack& stack, const fork_slot* slot) {
    return static_cast<std::uint32_t>(slot - stack.base);
}

std::uint32_t joins_private(const fork_stack& stack) {
    return static_cast<std::uint32_t>(stack.top - stack.pop_limit);
}

/// Background threads help background work only; outside tasks there is nothing to help.
bool may_be_helped(const worker& w) { return w.kind != seat_kind::background && w.top != nullptr; }

/// 0: nobody asks for it.
std::uint64_t identity_of(const worker& owner, const fork_slot& branch) {
    return owner.branch_ids != nullptr ? owner.branch_ids[height_of(*owner.joins, &branch)] : 0;
}

void ask(fork_stack& stack) { ask_for_branches(stack.push_limit, stack.asked); }

}  // namespace

// ---- the owner ---------------------------------------------------------------------------------

fork_context runtime::context_of(worker& w) {
    if (w.joins == nullptr) {
        void* bytes = memory().allocate(fork_stack_bytes(identified()), alignof(fork_stack),
                                        memory_tag::worker);
        if (bytes == nullptr) return serial_context();
        auto* first =
            reinterpret_cast<fork_slot*>(static_cast<std::byte*>(bytes) + sizeof(fork_stack));
        std::uninitialized_default_construct_n(first, fork_stack::depth + fork_stack::spare);
        w.joins = ::new (bytes) fork_stack(&w, first, fork_stack::depth);
        w.joins->identified = identified();
        if (identified()) {
            constexpr std::uint32_t all = fork_stack::depth + fork_stack::spare;
            w.branch_ids = reinterpret_cast<std::uint64_t*>(first + all);
            std::uninitialized_value_construct_n(w.branch_ids, all);
        }
        w.shown_joins.store(w.joins, release);  // pairs with a thief's acquire
        set_current_task(current_task());       // which has joins from now on
    }
    return fork_context(w.joins->top);
}

bool runtime::join_pushed(worker& w, fork_slot* first, std::uint32_t count) {
    fork_stack& stack = *w.joins;
    const bool all_public = identified() || observed();  // each is chosen about, or reported
    if (first + count > stack.end) return false;
    answer_request(stack.push_limit, stack.asked, all_public ? nullptr : stack.end);
    if (!may_be_helped(w)) return true;
    stack.top = first + count;
    if (identified()) identify_branches(w, first, count);
    const std::uint32_t all = joins_private(stack);
    publish_joins(w, all_public ? all : (all + 1) / 2);
    return true;
}

/// The join is one creation of whom it is part of, and its branches are told apart by their place.
/// The first part goes on as that creator: it runs on this thread, before anything that follows.
void runtime::identify_branches(worker& w, const fork_slot* first, std::uint32_t count) {
    std::uint64_t* const ids = w.branch_ids + height_of(*w.joins, first);
    const std::uint64_t join = next_identity(w);
    // The leftmost branch lies highest.
    for (std::uint32_t i = 0; i != count; ++i) ids[i] = stable_ids::join(join, count - 1 - i);
}

void runtime::publish_joins(worker& w, std::uint32_t count) {
    fork_stack& stack = *w.joins;
    const running_task* task = w.top;
    for (fork_slot* slot = stack.pop_limit + count; slot-- != stack.pop_limit;) {
        while (task->joins_from > slot) task = task->below;
        slot->state.store(0, relaxed);
        slot->task.store(task->slot, relaxed);
        if (observed()) {
            report_forked(w, id_of(task->slot), *slot, identity_of(w, *slot));
        }
    }
    stack.pop_limit += count;
    stack.window.publish(count);
    if (asleep().should_wake()) wake_one();
    if (serial()) serial()->preempt(w.index);
}

void runtime::publish_joins(worker& w) {
    if (w.joins == nullptr || !may_be_helped(w)) return;
    if (const std::uint32_t count = joins_private(*w.joins)) publish_joins(w, count);
}

bool runtime::join_popped(worker& w, fork_slot* slot) {
    fork_stack& stack = *w.joins;
    const std::uint32_t height = height_of(stack, slot);
    const bool stolen = !stack.window.take_back(height);
    if (stolen) {
        id_taken(*w.top) = true;  // perhaps by the thief
        stack.top = slot + 1;     // the result comes to the slot
        wait_for_branch(w, *slot);
        stack.top = slot;
        stack.window.forget(height);
    }
    stack.pop_limit = slot;
    // The next join is the outermost: it is public from the start, so that a thread that is free
    // need not ask.
    if (height == 0) stack.push_limit.store(nullptr, relaxed);
    if (!observed() && !identified()) return !stolen;
    if (stolen) {
        if (!observed()) return false;
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

/// The oldest public branch of `victim`, if it lies at `from` or above and its task is wanted.
bool runtime::claim_branch(worker& w, worker& victim, std::uint32_t from, id_test wanted) {
    // acquire: pairs with context_of().
    fork_stack* const joins = victim.shown_joins.load(acquire);
    if (joins == nullptr) return false;
    fork_stack& stack = *joins;
    const fork_window::word seen = stack.window.look();
    const std::uint32_t at = fork_window::tail(seen);
    if (fork_window::empty(seen)) {
        // It is within joins, and may have private ones.
        const std::uint32_t split = fork_window::split(seen);
        if (split >= from && split != 0) ask(stack);
        return false;
    }
    if (at < from) return false;
    // Written before the branch became public, which look() has seen.
    fork_slot& branch = stack.base[at];
    const task_id task = id_of(branch.task.load(relaxed));
    if (!wanted(task.value) || !stack.window.claim(seen)) return false;
    const std::uint32_t height = w.joins != nullptr ? height_of(*w.joins, w.joins->top) : 0;
    const std::uint32_t by = fork_slot::taken | std::uint32_t{w.index} << fork_slot::seat_shift |
                             height << fork_slot::height_shift;
    // relaxed: a hint for the owner, whom to help.
    branch.state.fetch_or(by, relaxed);
    leave_search(w);
    run_branch(w, victim, branch, by);
    return true;
}

/// `by`: this thread and its height, as the slot shows them.
void runtime::run_branch(worker& w, const worker& victim, fork_slot& branch, std::uint32_t by) {
    const std::uint32_t index = branch.task.load(relaxed);
    const task_id id = id_of(index);
    running_task body{
        index, w.top, {}, task_context(*this, w, slot_at(index).has(flag_posted) ? task_id{} : id)};
    const std::int64_t began = task_clock();
    const std::int64_t outer_elsewhere = w.elsewhere;
    running_task* const outer = begin_body(w, body, id);
    if (observed()) report_branch(w, event_kind::job_started, id, branch, victim.index);
    creator part{};
    if (identified()) enter(w, part, identity_of(victim, branch));
    const bool threw = branch.run(branch, context_of(w));
    if (identified()) leave(w, part);
    if (observed()) report_branch(w, event_kind::job_ended, id, branch, victim.index);
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
    const std::uint32_t was = branch.state.exchange(by | end, acq_rel);
    if ((was & fork_slot::awaited) == 0) return;
    lot().wake(
        address_key(&branch), 1, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

bool runtime::steal_branch(worker& w) {
    return any_victim(w, w.fork_victim, [&](worker& victim) {
        return claim_branch(w, victim, 0, [](std::uint64_t) { return true; });
    });
}

bool runtime::steal_needed_branch(worker& w, const wait_target& target) {
    if (target.branch != nullptr) {
        // Only what its thief has made of it: whatever else that thread has lies below.
        const std::uint32_t seen = target.branch->state.load(relaxed);
        if ((seen & fork_slot::taken) == 0 || (seen & fork_slot::finished) != 0) return false;
        worker* thief = &seat_at(seen >> fork_slot::seat_shift & fork_slot::seat_mask);
        const std::uint32_t from = seen >> fork_slot::height_shift & fork_slot::height_mask;
        return claim_branch(w, *thief, from, [](std::uint64_t) { return true; });
    }
    if (w.kind == seat_kind::background) return false;
    if (target.run_everything) return steal_branch(w);
    if (target.signal != nullptr) return false;
    const work_search search(*this, w, target, help::needed);
    const auto wanted = [&](std::uint64_t entry) { return search.is_needed(entry); };
    const unsigned count = seat_count();
    for (unsigned n = 1; n < count; ++n) {
        worker* victim = &seat_at((w.index + n) % count);
        if (claim_branch(w, *victim, 0, wanted)) return true;
    }
    return false;
}

bool runtime::branches_visible() const {
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count; ++i) {
        const worker* w = &seat_at(i);
        fork_stack* const joins = w->shown_joins.load(acquire);
        if (joins == nullptr) continue;
        const fork_window::word seen = joins->window.look();
        if (!fork_window::empty(seen)) return true;
        if (fork_window::split(seen) != 0) ask(*joins);
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
    worker& w = *slot.stack->owner;
    creator part{};
    if (w.rt.identified()) runtime::enter(w, part, identity_of(w, slot));
    const bool threw = result.run(result, fork_access::at(&slot));
    if (w.rt.identified()) runtime::leave(w, part);
    result.state.store(threw ? fork_slot::finished | fork_slot::failed : fork_slot::finished,
                       relaxed);
    fork_drop_unstolen(slot);
}
void fork_drop_unstolen(fork_slot& slot) {
    worker& w = *slot.stack->owner;
    if (!w.rt.observed()) return;
    w.rt.report_branch(w, event_kind::joined, w.rt.id_of(w.top->slot), slot);
}
std::uint64_t fork_next_identity(const fork_stack& stack) {
    return stack.owner->rt.next_identity(*stack.owner);
}
void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of, std::uint64_t part) {
    task_room::enter(*stack.owner, as, stable_ids::join(of, part));
}
void leave_creator(const fork_stack& stack, const creator& as) {
    task_room::leave(*stack.owner, as);
}
void fork_lost(fork_stack& stack, std::exception_ptr error) {
    runtime& rt = stack.owner->rt;
    const char* name = rt.slot_at(stack.owner->top->slot).name;
    rt.report_unobserved(name != nullptr ? name : "", std::move(error));
}

}  // namespace detail
BRAID_NAMESPACE_END
