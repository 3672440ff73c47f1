// A submission runs: queued, started, ended, and its completion settled.
#include "braid/core/spawn_batch.hpp"
#include "device/processor_state.hpp"
#include "device/run_on_cores.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

// ---- lists -------------------------------------------------------------------------------------

void processor_state::list::push_back(record& r) {
    r.next = nullptr;
    r.before = last;
    (last != nullptr ? last->next : first) = &r;
    last = &r;
}

void processor_state::list::push_front(record& r) {
    r.before = nullptr;
    r.next = first;
    (first != nullptr ? first->before : last) = &r;
    first = &r;
}

void processor_state::list::remove(record& r) {
    (r.before != nullptr ? r.before->next : first) = r.next;
    (r.next != nullptr ? r.next->before : last) = r.before;
    r.next = r.before = nullptr;
}

processor_state::list& processor_state::queue_of(const record& r) {
    return queued_[static_cast<unsigned>(r.level)];
}

// ---- queued ------------------------------------------------------------------------------------

/// The last share makes it ready, or ends it, if what it comes after has failed.
void processor_state::drop_wait(record& r) {
    if (--r.waits_for != 0 || r.at != stage::held) return;
    if (r.fate != ending::open) {
        finish(r, r.fate);
        return settle_later(r);
    }
    r.at = stage::queued;
    queue_of(r).push_back(r);
    counts_.most_queued = std::max(counts_.most_queued, ++counts_.queued);
}

void processor_state::go_on() {
    action next;
    {
        const locked lock(lock_);
        next = next_action();
    }
    go_on(next);
}

void processor_state::go_on(action next) {
    while (next.what != action::nothing) {
        if (next.what == action::settle) {
            settle_all(*next.of, next.more);
            const locked lock(lock_);
            next = next_action();
            continue;
        }
        if (next.what == action::start) {
            start(*next.of, next.on);
        } else {
            how_.flush();
        }
        next = stop_starting();
    }
}

processor_state::action processor_state::next_action() {
    if (record* const r = take_unsettled()) {
        return {.what = action::settle, .of = r, .more = unsettled_first_ != nullptr};
    }
    const action next = next_start();
    if (next.what == action::nothing) --inside_;
    return next;
}

/// Something on the cores waits for it, or it is the last one of a task for which something waits.
bool processor_state::wakes_cores(record& r) {
    const bool is_last = r.first_of_task != nullptr && --r.first_of_task->unsettled == 0;
    return core::is_awaited(rt_, r.done.task()) || (is_last && core::is_awaited(rt_, r.task));
}

processor_state::action processor_state::next_start() {
    // Who starts one looks again afterwards (D3).
    if (starting_) return {};
    for (std::size_t level = away_until_ == 0 ? std::size(queued_) : 0; level-- != 0;) {
        record* const r = queued_[level].first;
        if (r == nullptr) continue;
        if (!fits(*r)) break;
        queued_[level].remove(*r);
        --counts_.queued;
        enter_flight(*r);
        starting_ = true;
        return {.what = action::start, .of = r, .on = choose_way(*r)};
    }
    starting_ = how_.has_collected();
    return {.what = starting_ ? action::flush : action::nothing};
}

bool processor_state::fits(const record& r) const {
    if (counts_.in_flight == 0) return true;
    return !starved_ && counts_.in_flight < options_.max_in_flight &&
           r.bytes <= options_.max_bytes - std::min(bytes_in_flight_, options_.max_bytes);
}

void processor_state::enter_flight(record& r) {
    // It may have been idle since the last alarm was set: what starts now has all of hang_after.
    if (was_busy_ && !how_.is_busy()) was_busy_ = false;
    r.at = stage::in_flight;
    bytes_in_flight_ += r.bytes;
    ++counts_.in_flight;
    counts_.most_in_flight = std::max(counts_.most_in_flight, counts_.in_flight);
}

void processor_state::leave_flight(record& r) {
    bytes_in_flight_ -= r.bytes;
    --counts_.in_flight;
    starved_ = false;
    if (was_busy_) progress_ = now();
}

// ---- in flight ---------------------------------------------------------------------------------

void processor_state::start(record& r, way w) {
    r.passed_at = w == way::processor && core::observed(rt_) ? active_policy::now() : 0;
    r.begun = r.finished = r.clock_error = r.arrived = r.left = 0;
    if (w == way::cores) {
        r.native = false;
        run_on_cores(r);
    } else if (w == way::none) {
        ended(r, attempt::failed);
    } else if (!how_.start(r)) {
        refused(r);
    }
}

void processor_state::refused(record& r) {
    if (take_back(r)) return;
    r.native = false;
    run_on_cores(r);
}

processor_state::action processor_state::stop_starting() {
    {
        const locked lock(lock_);
        starting_ = false;
        if (set_alarm()) return next_action();
    }
    go_on_without_time();
    const locked lock(lock_);
    return next_action();
}

/// False: a buffer is stale.
bool processor_state::find_operands(step& s) const {
    std::span<std::byte>* to = s.what.operands;
    for (const operand& o : s.all_operands()) {
        std::span<std::byte>& bytes = *to++;
        bytes = {o.memory, o.bytes};
        if (!o.range.of) continue;
        bytes = buffers_.bytes(o.range.of);
        if (bytes.empty()) return false;
        bytes = bytes.subspan(o.range.offset, o.range.bytes);
    }
    return true;
}

processor_state::way processor_state::choose_way(record& r) {
    for (step& s : r.steps) {
        s.by = &r;
        if (find_operands(s)) continue;
        doom(r, error_code::stale, "a buffer of '%.60s' is stale: it was released, or lost",
             s.kernel.name);
        return way::none;
    }
    r.begin();
    if (counts_.dead) return way::cores;
    r.copies = 0;
    for (const buffer_use& u : r.uses) r.copies += buffers_.lies_on_cores(u.of);
    r.has_started = true;
    ++r.starts;
    ++counts_.started;
    return way::processor;
}

/// There was no memory for it: again when something has ended, unless nobody wants it any more.
/// False: nothing is left that could end.
bool processor_state::take_back(record& r) {
    const locked lock(lock_);
    ++counts_.refused;
    if (!is_wanted(r)) {
        finish(r, ending::cancelled);
        return true;
    }
    if (counts_.in_flight == 1) return false;
    bytes_in_flight_ -= r.bytes;
    --counts_.in_flight;
    starved_ = true;
    ++counts_.retried;
    put_back(r);
    return true;
}

void processor_state::put_back(record& r) {
    r.has_started = false;
    r.at = stage::queued;
    queue_of(r).push_front(r);
    counts_.most_queued = std::max(counts_.most_queued, ++counts_.queued);
}

/// One that has timed out meanwhile is not run, as its task may be complete.
void processor_state::run_on_cores(record& r) {
    // What the processor does as if, by tasks, is reported when they have ended: they may fail.
    if (r.finished == 0) r.passed_at = 0;
    bool wanted = false;
    {
        const locked lock(lock_);
        wanted = r.how == ending::open;
        // Nobody ends the task before the groups are its children.
        if (wanted) {
            core::add_share(rt_, r.task);
            come_in();
        }
    }
    if (!wanted) return ended(r, attempt::cancelled);
    braid::detail::runtime& rt = rt_;
    const core::making_children making(rt);
    const task_id task = r.task;
    const task_options options{.name = r.phase().front().kernel.name,
                               .parent = r.task,
                               .priority = r.level,
                               .where = r.where};
    if (r.groups() == 1) {
        scheduler_.spawn(options, all_groups(r));
    } else {
        scheduler_.spawn_batch(options, r.groups(), all_groups(r));
    }
    // By now they may have ended, and this be no more (D5).
    core::end_share(rt, making.seat_of_thread(), task);
}

void processor_state::note_failure(record& r, std::exception_ptr error) {
    const locked lock(lock_);
    if (r.error == nullptr && r.how == ending::open) r.error = std::move(error);
}

/// A phase of it.
void processor_state::ended_on_cores(record& r) {
    bool goes_on = false, is_heard = false;
    attempt how = attempt::went_well;
    action next;
    {
        const locked lock(lock_);
        const bool whole = r.all_groups_ran();
        goes_on = whole && r.error == nullptr && r.how == ending::open && r.next_phase();
        is_heard = !goes_on && r.passed_at != 0;
        if (!goes_on) how = judge(r, whole);
        if (!goes_on && !is_heard) {
            end_attempt(r, how);
            next = next_action();
        }
    }
    if (goes_on) {
        run_on_cores(r);
        return go_on();
    }
    if (is_heard) {
        report_run(r, how);
        const locked lock(lock_);
        end_attempt(r, how);
        next = next_action();
    }
    go_on(next);
}

processor_state::attempt processor_state::judge(record& r, bool whole) {
    if (whole && r.native) how_.touch_up(r);
    if (r.error != nullptr) return attempt::failed;
    if (whole) return attempt::went_well;
    if (core::discarding(rt_) || core::is_unwanted(rt_, r.task)) return attempt::cancelled;
    doom(r, error_code::out_of_memory,
         "'%.60s' was not run: no memory for its tasks on the cores, %llu groups over %zu bytes",
         r.name, static_cast<unsigned long long>(r.groups()), r.bytes);
    return attempt::failed;
}

// ---- ended -------------------------------------------------------------------------------------

void processor_state::ended(record& r, attempt how) {
    record* const only[] = {&r};
    ended(only, how);
}

void processor_state::ended(std::span<record* const> all, attempt how) {
    for (record* const r : all) report_run(*r, how);
    action next;
    {
        const locked lock(lock_);
        for (record* const r : all) end_attempt(*r, how);
        come_in();
        next = next_action();
    }
    go_on(next);
}

/// Once for each start. What ran on the cores in place of the processor is reported as tasks.
void processor_state::report_run(record& r, attempt how) const {
    const std::int64_t passed_at = std::exchange(r.passed_at, 0);
    if (passed_at == 0 || !core::observed(rt_)) return;
    const std::int64_t end = r.finished != 0 ? r.finished : active_policy::now();
    const std::int64_t begin = r.begun != 0 ? r.begun : passed_at;
    core::observer_of(rt_).on_external({.processor = id_,
                                        .processor_name = name(),
                                        .work = r.done.task(),
                                        .task = r.task,
                                        .name = r.name,
                                        .where = r.where,
                                        .begin = std::min(begin, end),
                                        .end = end,
                                        .clock_error = r.clock_error,
                                        .arrived = r.arrived,
                                        .left = r.left,
                                        .lost = how != attempt::went_well});
}

void processor_state::end_attempt(record& r, attempt how) {
    switch (how) {
        case attempt::went_well:
            return finish(r, r.native ? ending::completed : ending::moved);
        case attempt::failed:
            return finish(r, ending::failed);
        case attempt::cancelled:
            return finish(r, ending::cancelled);
        case attempt::lost:
            break;
    }
    if (!takes_rerun(r, may_run_twice(r))) {
        doom(r, error_code::lost, "'%.60s' was in flight when its processor was lost", r.name);
        return finish(r, ending::failed);
    }
    leave_flight(r);
    ++counts_.rerun;
    put_back(r);
}

bool processor_state::may_run_twice(const record& r) const {
    return r.idempotent && r.uses.empty() && !closing_ && !core::discarding(rt_);
}

/// The processor has let go of it, or never had it.
void processor_state::finish(record& r, ending how) {
    const letting_go what = let_go(r, how);
    if (what.was_in_flight) leave_flight(r);
    if (what.was_queued) {
        queue_of(r).remove(r);
        --counts_.queued;
    }
    if (what.settles()) settle_later(r);
    counts_.late_ends += what.is_late();
    forget_order(r);
    over_.push_back(r);
    if (r.sequence != nullptr) end_use(*std::exchange(r.sequence, nullptr));
    if (what.decides) note_ending(r);
}

/// How it ended has been decided: who comes after it is to know.
void processor_state::note_ending(record& r) {
    std::uint64_t* const counts[] = {nullptr,         &counts_.completed, &counts_.moved_to_cores,
                                     &counts_.failed, &counts_.timed_out, &counts_.cancelled};
    ++*counts[static_cast<unsigned>(r.how)];
    counts_.unstarted += !r.has_started;
    const bool well = ended_well(r);
    if (well && options_.latencies) {
        latencies_.add(nanoseconds{active_policy::now() - r.submitted});
    }
    // A chain that ends with its first one takes no more stack than one of them.
    r.next_visit = std::exchange(just_ended_, &r);
    if (std::exchange(releasing_, true)) return;
    while (just_ended_ != nullptr) {
        release_successors(*std::exchange(just_ended_, just_ended_->next_visit));
    }
    releasing_ = false;
}

void processor_state::release_successors(record& r) {
    const bool well = ended_well(r);
    // The newest is the first of the list, and the oldest goes first.
    order_edge* oldest = nullptr;
    for (order_edge* e = std::exchange(r.successors, nullptr); e != nullptr;) {
        order_edge* const next = std::exchange(e->next, oldest);
        oldest = std::exchange(e, next);
    }
    for (order_edge* e = oldest; e != nullptr;) {
        order_edge& edge = *std::exchange(e, e->next);
        record& s = *edge.successor;
        s.predecessors[&edge - s.edges] = nullptr;
        if (!well) doom_after(s, r);
        drop_wait(s);
    }
}

/// The record leaves the lists of buffers, and of predecessors that have not ended.
void processor_state::forget_order(record& r) {
    for (buffer_use& u : r.uses) buffers_.end_use(u);
    for (unsigned i = 0; i < r.predecessor_count; ++i) {
        record* const p = std::exchange(r.predecessors[i], nullptr);
        if (p == nullptr) continue;
        order_edge** link = &p->successors;
        while (*link != &r.edges[i]) link = &(*link)->next;
        *link = r.edges[i].next;
    }
}

/// Admitted, and refused before anybody could know of it.
void processor_state::drop_made(record& r) {
    forget_order(r);
    r.how = ending::cancelled;
    r.at = stage::over;
    over_.push_back(r);
    if (r.sequence != nullptr) end_use(*std::exchange(r.sequence, nullptr));
}

/// Why it will fail; the first reason counts.
void processor_state::doom(record& r, int code, const char* format, ...) {
    if (r.fate != ending::open || r.how != ending::open) return;
    r.fate = ending::failed;
    r.code = code;
    va_list values;
    va_start(values, format);
    std::vsnprintf(r.sentence, sizeof r.sentence, format, values);
    va_end(values);
}

/// With the same cause: what comes after one that was cancelled is cancelled.
void processor_state::doom_after(record& r, const record& ended) {
    if (ended.how == ending::cancelled) {
        if (r.fate == ending::open) r.fate = ending::cancelled;
        return;
    }
    doom(r, error_code::predecessor,
         "'%.60s' was not run, as '%.60s', which it comes after, has %s", r.name, ended.name,
         ended.how == ending::timed_out ? "timed out" : "failed");
}

// ---- settled -----------------------------------------------------------------------------------

void processor_state::settle_later(record& r) {
    r.next_unsettled = nullptr;
    (unsettled_first_ != nullptr ? unsettled_last_->next_unsettled : unsettled_first_) = &r;
    unsettled_last_ = &r;
}

/// Null: there is none.
record* processor_state::take_unsettled() {
    record* const r = unsettled_first_;
    if (r == nullptr) return nullptr;
    unsettled_first_ = r->next_unsettled;
    // Before who waits for it can ask.
    counts_.waking_edges += wakes_cores(*r);
    return r;
}

/// One that has failed is settled alone: who hears of a failure may do as they like.
record* processor_state::take_well_ended() {
    const locked lock(lock_);
    return unsettled_first_ != nullptr && ended_well(*unsettled_first_) ? take_unsettled()
                                                                        : nullptr;
}

/// What has ended in one moment wakes one thread, which wakes the next one if there is more than
/// it can run.
void processor_state::settle_all(record& first, bool more) {
    const core::seat_lease seat(rt_, nullptr);
    record* next = more && ended_well(first) ? take_well_ended() : nullptr;
    if (next == nullptr) return settle(first, *seat);
    const core::one_wake together(rt_);
    settle(first, *seat);
    while (next != nullptr) settle(*std::exchange(next, take_well_ended()), *seat);
}

/// The task may be complete afterwards, and the record another submission's (D2).
void processor_state::settle(record& r, core::seat& w) {
    std::exception_ptr error = std::exchange(r.error, nullptr);  // ends without the lock
    switch (r.how) {
        case ending::cancelled:
            core::settle_as_cancelled(rt_, w, r.done);
            break;
        case ending::timed_out:
            core::settle(rt_, w, r.done, {.code = completion_error::deadline_passed});
            break;
        case ending::failed:
            core::settle(rt_, w, r.done,
                         {.code = r.code, .sentence = r.sentence, .error = std::move(error)});
            break;
        default:
            core::settle(rt_, w, r.done);
    }
}

}  // namespace device::detail
BRAID_NAMESPACE_END
