// Waiting without making a deadlock that the program does not have (I6): only needed work runs on
// top of a wait, everything else goes to a thread that stands in. See docs/design/wait.md.
#include "braid/core/event.hpp"
#include "braid/core/scope.hpp"
#include "core/attention.hpp"
#include "core/helper_floats.hpp"
#include "core/lists.hpp"
#include "core/permissions.hpp"
#include "core/seat_lease.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr atomic<bool> always{true};
constexpr std::int64_t spin_ns = 50'000, short_spin_ns = 12'000;
constexpr auto high = static_cast<unsigned>(priority_level::high);

std::uint64_t key_of(const wait_target& target) {
    if (target.task) return target.task.value;
    if (target.job != nullptr) return address_key(target.job);
    return target.signal != nullptr ? address_key(target.signal) : scope_key(target.all_of);
}

/// The tasks that an awaited task is known to need: itself, its open predecessors, and what
/// running members wait for. An entry is needed when it is one of them, below one of them, or
/// must end before one of those can start.
///
/// The list is kept with the seat and used again for the next task of the same wait: ids carry
/// generations, so a member that is over by then just matches nothing.
class needed_work {
public:
    needed_work(const runtime& rt, worker& w) : rt_(rt), list_(w.needed), count_(w.needed_count) {}

    void find(task_id awaited) {
        count_ = 0;
        add(awaited);
        for (unsigned i = 0; i < count_; ++i) add_predecessors(list_[i]);
        // What running members wait for may bring further members in.
        for (unsigned before = 0; before != count_;) {
            const unsigned from = before;
            before = count_;
            add_awaited_by_members();
            for (unsigned i = from; i < count_; ++i) add_predecessors(list_[i]);
        }
    }

    bool contains(std::uint64_t entry, unsigned reach = 2) const {
        for (unsigned i = 0; i < count_; ++i) {
            if (entry == list_[i].value || rt_.descends(index_of(entry), list_[i])) return true;
        }
        if (reach == 0) return false;
        // Upwards: does somebody needed wait for this one?
        const slot& s = rt_.slots[index_of(entry)];
        std::uint32_t e = first_edge(s.permissions.load(acquire));
        for (unsigned n = 0; n < width && e < no_edge && rt_.edges.contains(e); ++n) {
            if (contains(rt_.edges[e].to.load(relaxed), reach - 1)) return true;
            e = rt_.edges[e].next.load(relaxed);
        }
        const std::uint32_t parent = s.parent.load(relaxed);
        return parent != no_index && rt_.slots.contains(parent) &&
               contains(rt_.id_of(parent).value, reach - 1);
    }

private:
    static constexpr unsigned limit = std::size(decltype(worker::needed){}), width = 4;

    void add(task_id id) {
        if (!id || count_ == limit) return;
        for (unsigned i = 0; i < count_; ++i) {
            if (list_[i] == id) return;
        }
        list_[count_++] = id;
    }

    void add_predecessors(task_id id) {
        const slot& s = rt_.slots[index_of(id.value)];
        std::uint32_t e = s.predecessors.load(acquire);
        for (unsigned n = 0; n < limit && e != no_edge; ++n) {
            const task_id from{rt_.edges[e].from.load(relaxed)};
            const std::uint32_t next = rt_.edges[e].next_predecessor.load(relaxed);
            // The edge was still in the list when it was read: then it says the truth.
            if (s.waits_for.load(acquire) == 0 || !rt_.is_open(id)) return;
            if (rt_.is_open(from)) add(from);
            e = next;
        }
    }

    void add_awaited_by_members() {
        const unsigned seats = rt_.seat_count.load(acquire);
        for (unsigned i = 0; i < seats; ++i) {
            const worker* w = rt_.seats[i].load(acquire);
            if (w == nullptr) continue;
            const unsigned shown = std::min<unsigned>(w->shown.load(acquire), worker::shown_depth);
            // A ready task for that thread alone cannot start before what the thread waits for is
            // over, unless the thread runs it on top.
            bool member = awaits_seat(w->index);
            for (unsigned f = 0; f < shown; ++f) {
                // Whatever lies on top of a member must end before the member goes on.
                member = member || contains(w->frames[f].task.load(relaxed), 0);
                if (member) add(task_id{w->frames[f].awaited.load(relaxed)});
            }
        }
    }

    bool awaits_seat(unsigned seat) const {
        for (unsigned i = 0; i < count_; ++i) {
            const slot& s = rt_.slots[index_of(list_[i].value)];
            if (!s.has(flag_direct) || s.runner.load(relaxed) != UINT16_MAX) continue;
            const detail_block* d = rt_.detail_of(s);
            if (d != nullptr && d->seat.load(relaxed) == seat) return true;
        }
        return false;
    }

    const runtime& rt_;
    task_id* list_;
    unsigned& count_;
};

/// While a core is free what is awaited may run elsewhere: to be woken takes longer than most
/// tasks. -1: not at all.
std::int64_t end_of_spin(const runtime& rt) {
    if (rt.turn || rt.options.idle == parking::power) return -1;
    const bool core_free = rt.active_workers.load(relaxed) < rt.cores;
    return active_policy::now() + (core_free ? spin_ns : short_spin_ns);
}

}  // namespace

bool runtime::may_wait_for(const worker& w, task_id id) const {
    for (const running_task* t = w.top; t != nullptr; t = t->below) {
        if (!BRAID_EXPECT(options.assertion, !descends(t->slot, id),
                          "a task cannot wait for itself, its parent, or one that its wait is "
                          "buried under")) {
            return false;
        }
    }
    return true;
}

bool runtime::enough_stack(worker& w) const {
    if (w.depth < 16) return true;
    if (w.stack_low == 0) w.stack_low = platform::current_stack().low;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here - w.stack_low > options.stack_reserve_bytes;
}

task_id runtime::find_work(worker& w, const wait_target& target, help policy) {
    if (policy == help::none || !enough_stack(w)) return {};
    if (target.run_everything) return next_task(w);
    if (target.job != nullptr) return {};                      // steal_needed_job()
    if (!target.task) return claim_needed(w, target, policy);  // does not look at needs
    if (!turn && w.kind != seat_kind::background) {
        // Most often the awaited task itself is the newest that this thread has made.
        const unsigned level = level_of(slots[index_of(target.task.value)]);
        const auto is_it = [&](std::uint64_t entry) { return entry == target.task.value; };
        if (w.ready[level].claim_newest_if(is_it, 1) != 0) {
            if (level == high) high_ready.fetch_sub(1, relaxed);
            return target.task;
        }
    }
    if (w.needed_for == target.task) {
        if (const task_id id = claim_needed(w, target, policy)) return id;
    }
    needed_work(*this, w).find(target.task);
    w.needed_for = target.task;
    return claim_needed(w, target, policy);
}

/// By what find_work() found for this target lately.
bool runtime::is_needed(worker& w, const wait_target& target, std::uint64_t entry) const {
    if (target.run_everything) return true;
    if (target.task) {
        return is_below(slots[index_of(entry)], target.task) ||
               (w.needed_for == target.task && needed_work(*this, w).contains(entry));
    }
    if (target.all_of == nullptr) return false;
    // Not followed: the scope of a task that is over by now may be gone. Tasks that came to the
    // scope by an environment of the user's are run by whoever stands in.
    return slots[index_of(entry)].environment.load(relaxed) == &target.all_of->environment_;
}

/// A node of the graph whose run is awaited.
bool runtime::is_node(task_id id, const wait_target& target) const {
    if (id == target.task) return false;
    const slot& s = slots[index_of(id.value)];
    return s.has(flag_own_way) && is_below(s, target.task);
}

task_id runtime::claim_needed(worker& w, const wait_target& target, help policy) {
    const auto wanted = [&](std::uint64_t entry) {
        if (policy == help::any && slots[index_of(entry)].has(flag_never_waits)) return true;
        return is_needed(w, target, entry);
    };
    if (turn && w.kind != seat_kind::background) {
        return choose_ready(w, [&](std::uint64_t entry) {
            // As below: whoever waits for an event serves what was given to it.
            return wanted(entry) ||
                   (target.signal != nullptr && slots[index_of(entry)].has(flag_direct));
        });
    }
    if (w.kind == seat_kind::background) {
        const std::lock_guard lock(background_mutex);
        return take_background([&](std::uint32_t i) { return wanted(id_of(i).value); });
    }
    // A thread that waits for an event serves all that was given to it.
    const auto serves = [&](std::uint64_t entry) {
        return target.signal != nullptr || wanted(entry);
    };
    if (const task_id id = direct_task_if(w, serves)) return id;
    if (target.signal != nullptr && policy != help::any) return {};

    constexpr std::size_t look_at = 64;
    const unsigned count = seat_count.load(acquire);
    for (unsigned level = level_count; level-- != 0;) {
        if (level == high && high_ready.load(relaxed) <= 0) continue;
        if (w.ready[level].newest() == 0) unspill(w, level);
        std::uint64_t id = w.ready[level].claim_newest_if(wanted, look_at);
        for (unsigned n = 0; id == 0 && n < count; ++n) {
            worker* victim = seats[(w.index + 1 + n) % count].load(acquire);
            if (victim == nullptr || victim == &w) continue;
            id = victim->ready[level].claim_oldest_if(wanted, look_at);
        }
        if (id == 0 && spilled[level].size.load(relaxed) != 0) {
            const std::lock_guard lock(spilled[level].mutex);
            const std::uint32_t i =
                take_first(spilled[level], [&](std::uint32_t t) { return wanted(id_of(t).value); });
            if (i != no_index) id = id_of(i).value;
        }
        if (id == 0) continue;
        if (level == high) high_ready.fetch_sub(1, relaxed);
        return {id};
    }
    return {};
}

bool runtime::enter_wait(worker& w, const wait_target& target, std::uint32_t& record) {
    record = lot.enter(w.records, key_of(target), w.index, [&] {
        if (target.task) {
            slot& s = slots[index_of(target.task.value)];
            return mark_waited(s.permissions, generation_of(target.task.value));
        }
        if (target.job != nullptr) {
            // acq_rel: pairs with run_job(), which sees the bit, or is over.
            const std::uint32_t was = target.job->state.fetch_or(fork_slot::awaited, acq_rel);
            return (was & fork_slot::finished) == 0;
        }
        if (target.signal != nullptr) return !target.signal->take_or_mark();
        for (scope::shard& shard : target.all_of->shard_) {
            // A read-modify-write of the word that count_end() counts in: it sees the bit, or
            // the sums below see its count. acquire: what the ended tasks wrote.
            shard.ended.fetch_or(scope::waited_bit, acquire);
        }
        return !scope_done(*target.all_of);
    });
    return record != no_index;
}

bool runtime::wait(worker& w, const wait_target& target, nanoseconds timeout, help policy,
                   outcome** received) {
    const turn_for_call turn_here(*this, w);
    if (target.job == nullptr) publish_joins(w);
    std::uint32_t record = no_index;
    if (!enter_wait(w, target, record)) {
        if (target.signal != nullptr && observed()) {
            tell_event(event_kind::event_taken, *target.signal);
        }
        return true;
    }

    const std::int64_t deadline = timeout == forever || turn ? (timeout == forever ? INT64_MAX : 0)
                                                             : active_policy::now() + timeout.value;
    const bool shows = w.depth != 0 && w.depth <= worker::shown_depth;
    if (shows) w.frames[w.depth - 1].awaited.store(target.task.value, release);
    if (observed()) {
        tell(w, event_kind::wait_begin, w.top != nullptr ? id_of(w.top->slot) : task_id{},
             target.task);
    }
    if (target.task && w.top != nullptr) boost(w, target.task, level_of(slots[w.top->slot]));
    note_core(w);
    const std::int64_t began = task_clock();
    const std::int64_t elsewhere = w.elsewhere;
    w.stamp = began;

    if (w.kind == seat_kind::background) count_background_waiter(+1);
    const bool lent =
        w.handed_over;  // inside blocking(), or on top of a wait that gave up the seat
    const unsigned outer_loop = std::exchange(w.loop_depth, w.depth);
    const atomic<bool>* const outer_wait = w.wait_over;
    helper_floats floats;
    const atomic<bool>* done = &lot[record].done;
    bool in_time = true;
    bool asked = false;
    bool desperate = false;  // nobody can stand in: run whatever is there
    std::int64_t spin_until = 0;
    while (true) {
        rest_if_frozen(w);
        if (w.stamp - w.woke > settled_ns) go_anywhere(w);
        // acquire: pairs with the release in parking_lot::wake().
        if (done->load(acquire)) {
            in_time = true;  // also when the time was up meanwhile: an event that is taken is told
            if (target.signal == nullptr || target.signal->try_take()) break;
            lot.leave(w.records, record);  // somebody else was quicker: wait for the next set()
            if (!enter_wait(w, target, record)) break;
            done = &lot[record].done;
        }
        // With a deadline the clock is looked at after each body of a batch.
        w.wait_over = deadline == INT64_MAX ? done : &always;
        task_id id = find_work(w, target, policy);
        if (!id && desperate) id = next_task(w);
        if (id) {
            leave_search(w);
            seat_counters::add(w.counters.helped);
            if (observed()) {
                tell(w, event_kind::helped, w.top != nullptr ? id_of(w.top->slot) : task_id{}, id);
            }
            floats.use(w, float_control);
            // What a scope needs, all of its tasks are; what a run of a graph needs, its nodes.
            const auto more = [&](std::uint64_t entry) {
                return target.all_of != nullptr || target.run_everything ||
                       is_node({entry}, target);
            };
            run(w, id, more(id.value));
            run_kept(w, [&](std::uint64_t entry) { return is_needed(w, target, entry); }, more);
            continue;
        }
        if (policy != help::none && enough_stack(w)) {
            floats.use(w, float_control);
            if (steal_needed_job(w, target)) continue;
        }
        if (w.scope_ended_in != nullptr) {
            tell_scope(w);  // perhaps the very scope that is awaited here
            continue;
        }
        if (spin_until == 0) spin_until = end_of_spin(*this);
        if (spin_until > 0) {
            pause_between_looks();
            if (active_policy::now() >= spin_until) spin_until = -1;
            continue;
        }
        if (!asked) {
            asked = true;
            ask_pinned_threads(w);
            if (w.kind == seat_kind::guest) note_guest_waits(w, true);
        }
        if (options.warn_when_wait_parks && w.kind == seat_kind::worker &&
            !warned_of_parking.exchange(true, relaxed)) {
            log(log_level::warning,
                "%s: a wait in task '%s' parks %s; give the work that "
                "follows to a task with `after` instead",
                options.name,
                w.top != nullptr && slots[w.top->slot].name != nullptr ? slots[w.top->slot].name
                                                                       : "",
                w.name);
        }
        if (!in_time || (deadline != INT64_MAX && !turn && active_policy::now() >= deadline)) {
            in_time = done->load(acquire);
            if (!in_time || target.signal == nullptr || target.signal->try_take()) break;
        }
        if (w.handed_over || w.kind == seat_kind::background) {
            in_time = sleep(w, deadline);
            continue;
        }
        if (w.search == searcher::waiter) {
            // A publisher may have left work to this thread's search, and it is not for this
            // thread: somebody who can run it must know.
            w.search = searcher::none;
            if (asleep.end_search(searcher::waiter) && work_visible() && !wake_one(false)) {
                desperate = !hand_over(w);
                continue;
            }
        }
        const auto look = [&] {
            // Whoever is idle and searches deals with the rest.
            if (!target.run_everything && asleep.idle_one_searching()) return false;
            return work_visible();
        };
        // What is given to this thread comes with a notification; see affinity.cpp.
        note_cores(w);
        const searcher now = std::exchange(w.search, searcher::none);
        w.search = asleep.rest(w.index, target.run_everything ? searcher::idle : searcher::waiter,
                               now, look, [&] { in_time = sleep(w, deadline); });
    }
    w.elsewhere = elsewhere + (task_clock() - began);
    w.loop_depth = outer_loop;
    w.wait_over = outer_wait;
    if (w.handed_over && !lent) take_back(w);
    if (asked && w.kind == seat_kind::guest) note_guest_waits(w, false);
    if (w.kind == seat_kind::background) count_background_waiter(-1);
    leave_search(w);
    tell_scope(w);
    // An event that came between two entries leaves no record.
    outcome* result = record == no_index ? nullptr : lot.leave(w.records, record);
    if (received != nullptr) *received = result;
    if (shows) w.frames[w.depth - 1].awaited.store(0, relaxed);
    if (observed()) {
        if (in_time && target.signal != nullptr) {
            tell_event(event_kind::event_taken, *target.signal);
        }
        tell(w, event_kind::wait_end, w.top != nullptr ? id_of(w.top->slot) : task_id{},
             target.task);
    }
    return in_time;
}

bool runtime::wait_scope(scope& s, nanoseconds timeout, help policy) {
    const seat_lease seat(*this, nullptr);
    return wait(*seat, {.all_of = &s}, timeout, policy, nullptr);
}

bool runtime::sleep(worker& w, std::int64_t deadline) {
    tell_scope(w);  // before anything that may last: somebody may wait for the last piece
    seat_counters::add(w.counters.parks);
    if (observed()) tell(w, event_kind::parked, {});
    // seq_cst, both: pairs with freeze(), which sets `frozen` and then looks at `at_rest`.
    w.at_rest.store(true, seq_cst);
    if (state.load(seq_cst) != life::running) {
        lot.wake(
            address_key(&state), UINT32_MAX, [](wait_record&) { return true; },
            [this](unsigned seat) { notify(seat); });
        // It rests: whoever ends the scheduler sees that and closes it in a moment.
        for (unsigned n = 0; !turn && n < 256 && state.load(relaxed) != life::closed; ++n) {
            active_policy::relax();
        }
    }
    bool in_time = true;
    if (turn) {
        in_time = turn->block(w.index, deadline != INT64_MAX);
    } else if (state.load(seq_cst) != life::closed) {
        in_time = w.park.park(deadline);
    }
    w.at_rest.store(false, seq_cst);
    rest_if_frozen(w);
    w.stamp = active_policy::coarse_now();  // sleep is no part of the next task's duration
    w.woke = w.stamp;
    if (observed()) tell(w, event_kind::unparked, {});
    return in_time;
}

void runtime::notify(unsigned seat) {
    worker& w = *seats[seat].load(acquire);
    if (turn) {
        turn->unblock(seat);
    } else {
        w.park.notify();
    }
}

void runtime::count_background_waiter(int change) {
    bool queued = false;
    {
        const std::lock_guard lock(background_mutex);
        background_waiting += static_cast<unsigned>(change);
        for (const inbox& list : background) queued = queued || list.first != no_index;
    }
    if (queued && change > 0) start_background();
}

bool runtime::hand_over(worker& w) {
    w.handed_over = true;
    handed_over.fetch_add(1, seq_cst);
    const stand_in found = start_reserve();
    if (found == stand_in::refused) take_back(w);
    // Those that are there may all wait: they hear of the work until one has to start another.
    if (found == stand_in::enough && work_visible()) wake_one();
    return found != stand_in::refused;
}

void runtime::take_back(worker& w) {
    w.handed_over = false;
    handed_over.fetch_sub(1, seq_cst);
}

}  // namespace detail

// ---- event -------------------------------------------------------------------------------------

event::event(scheduler& s, reset mode) : rt_(s.internals()), mode_(mode) {}

void event::set() {
    detail::runtime& rt = rt_;
    const unsigned how_many = mode_ == reset::automatic ? 1 : UINT32_MAX;
    // First, or who takes it could be reported before.
    if (rt.observed()) rt.tell_event(event_kind::event_set, *this);
    // acq_rel: release pairs with the acquire in try_take(). Last touch of *this: a waiter may
    // have destroyed it by the time the address is woken.
    if ((state_.fetch_or(set_bit, acq_rel) & waited_bit) == 0) return;
    rt.lot.wake(
        detail::address_key(this), how_many, [](detail::wait_record&) { return true; },
        [&](unsigned seat) { rt.notify(seat); });
}

void event::clear() { state_.fetch_and(~set_bit, acq_rel); }

bool event::try_take() {
    std::uint32_t seen = state_.load(acquire);
    if (mode_ == reset::manual) return (seen & set_bit) != 0;
    while ((seen & set_bit) != 0) {
        // acquire: pairs with set(); what the setter wrote before is visible.
        if (state_.compare_exchange_weak(seen, seen & ~set_bit, acquire, acquire)) return true;
    }
    return false;
}

bool event::take_or_mark() {
    std::uint32_t seen = state_.load(acquire);
    while (true) {
        const bool take = (seen & set_bit) != 0;
        if (take && mode_ == reset::manual) return true;
        const std::uint32_t wanted = take ? seen & ~set_bit : seen | waited_bit;
        if (state_.compare_exchange_weak(seen, wanted, acquire, acquire)) return take;
    }
}

BRAID_NAMESPACE_END
