// The functions of braid::scheduler. Each finds the caller's seat and then calls the runtime.
#include "braid/core/scheduler.hpp"

#include "braid/core/error.hpp"
#include "braid/core/event.hpp"
#include "braid/core/future.hpp"
#include "braid/core/scope.hpp"
#include "braid/core/spawn_batch.hpp"
#include "braid/core/task_builder.hpp"
#include "core/control/seat_lease.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

BRAID_NAMESPACE_BEGIN

version_number library_version() { return header_version; }

using detail::long_call;
using detail::running_task;
using detail::seat_lease;
using detail::whole_seat;

scheduler::scheduler(const scheduler_options& options) : rt_(detail::runtime::create(options)) {}
scheduler::~scheduler() { detail::runtime::destroy(rt_); }

task_id scheduler::spawn(const task_options& options, empty_task) {
    const seat_lease seat(*rt_, nullptr);
    rt_->point();
    const detail::draft d = rt_->open(*seat, options, detail::draft_kind::spawned);
    return d.storage == nullptr ? task_id{} : rt_->publish(*seat, d, nullptr);
}

task_builder scheduler::begin(const task_options& options, empty_task) {
    const seat_lease seat(*rt_, nullptr);
    rt_->point();
    const detail::draft d = rt_->open(*seat, options, detail::draft_kind::built);
    return {*rt_, d.storage == nullptr ? task_id{} : rt_->build_empty(d)};
}

bool scheduler::try_post(void (*function)(void* data), void* data) noexcept {
    whole_seat* own = rt_->bound();
    detail::seats_seat* seat = own != nullptr ? own : rt_->enter_post_seat();
    if (seat == nullptr) return false;
    if (seat->outside_gate && rt_->serial != nullptr) rt_->serial->note_unchosen();
    const bool done = rt_->try_post(static_cast<whole_seat&>(*seat), function, data);
    if (own == nullptr) rt_->leave_post_seat();
    return done;
}

// ---- waiting -----------------------------------------------------------------------------------

void scheduler::wait(task_id id, help policy) { wait_for(id, no_limit, policy); }

bool scheduler::wait_for(task_id id, nanoseconds timeout, help policy) {
    if (!id) return true;
    if (!BRAID_EXPECT(rt_->options.assertion, rt_->slots.state_of(id) != task_state::unknown,
                      "wait only for ids that this scheduler has issued")) {
        return true;
    }
    detail::runtime& rt = *rt_;  // a task that runs meanwhile may destroy *this
    const long_call call(rt);
    detail::outcome* received = nullptr;
    const bool over = rt.wait_here({.task = id}, timeout, policy, &received);
    rt.outcomes.raise(received);
    return over;
}

task_state scheduler::state(task_id id) const {
    rt_->point();
    const task_state now = rt_->slots.state_of(id);
    const std::uint16_t failure = now == task_state::done ? rt_->slots.failure_of(id) : 0;
    if (failure == 0) return now;
    return (failure & detail::flag_cancel) != 0 ? task_state::cancelled : task_state::failed;
}

bool scheduler::done(task_id id) const {
    rt_->point();
    return rt_->slots.state_of(id) == task_state::done;
}

namespace {

/// Returns false and reports it if the event is another scheduler's, because a wait would not end.
bool is_own(const detail::runtime& rt, event& e) {
    return BRAID_EXPECT(rt.options.assertion, &e.internals().rt == &rt,
                        "the event is another scheduler's: wait for it there");
}

}  // namespace

bool scheduler::do_work_while_waiting_for(event& e, nanoseconds timeout) {
    if (!is_own(*rt_, e)) return false;
    const long_call call(*rt_);
    return rt_->wait_here({.signal = &e}, timeout, help::any, nullptr);
}

bool scheduler::work_until(event& stop) {
    if (!is_own(*rt_, stop)) return false;
    const long_call call(*rt_);
    return rt_->wait_here({.signal = &stop, .run_everything = true}, no_limit, help::any, nullptr);
}

bool scheduler::begin_blocking(detail::runtime& rt) {
    whole_seat* w = rt.bound();
    if (w == nullptr || w->permit_released || w->kind == seat_kind::background) return false;
    return rt.begin_blocking(*w);
}
void scheduler::end_blocking(detail::runtime& rt, bool stood_in) {
    if (whole_seat* const w = rt.bound()) rt.end_blocking(*w, stood_in);
}

// ---- threads -----------------------------------------------------------------------------------

unsigned scheduler::worker_count() const {
    rt_->point();
    return rt_->active_workers(acquire);
}
void scheduler::set_worker_count(unsigned count) {
    rt_->point();
    rt_->set_worker_count(count);
}

thread_ref scheduler::worker_thread(unsigned index) const {
    rt_->point();
    const thread_ref found = rt_->worker_thread(index);
    BRAID_EXPECT(rt_->options.assertion, static_cast<bool>(found),
                 "worker_thread(i) needs i < worker_count()");
    return found;
}

thread_ref scheduler::this_thread() const {
    const whole_seat* w = rt_->bound();
    return w != nullptr ? rt_->ref_of(*w) : thread_ref{};
}

unsigned scheduler::seat_count() const { return detail::sleepers::capacity; }
void scheduler::expect_work(nanoseconds in) {
    rt_->point();
    if constexpr (detail::policies::expect_work) rt_->expect_work(in);
}
void scheduler::freeze() {
    rt_->point();
    rt_->freeze(INT64_MAX);
}
void scheduler::resume() {
    rt_->point();
    rt_->resume();
}

void scheduler::set_priority_table(const priority_level* levels, std::size_t count) {
    const auto is_none = [](priority_level level) { return level > priority_level::high; };
    if (!BRAID_EXPECT(rt_->options.assertion, count <= detail::slot_table::categories,
                      "a priority table has at most 256 entries") ||
        !BRAID_EXPECT(rt_->options.assertion, count == 0 || levels != nullptr,
                      "give set_priority_table() the levels that it counts") ||
        !BRAID_EXPECT(rt_->options.assertion, std::none_of(levels, levels + count, is_none),
                      "the levels of a priority table are low, normal and high")) {
        return;
    }
    rt_->point();
    for (std::size_t i = 0; i < count; ++i) {
        rt_->slots.set_level(static_cast<std::uint8_t>(i), levels[i]);
    }
    const seat_lease seat(*rt_, nullptr);
    rt_->requeue_by_table(*seat);
}

void scheduler::shut_down(shutdown how) {
    rt_->point();
    rt_->shut_down(how);
}

main_thread::main_thread(scheduler& s, const char* name) : rt_(s.internals()) {
    if (rt_.serial != nullptr) rt_.serial->note_unchosen();
    whole_seat* w = rt_.add_main(name);
    if (w != nullptr) ref_ = rt_.ref_of(*w);
}
main_thread::~main_thread() {
    if (ref_) rt_.remove_main(rt_.seat_at(ref_.seat));
}

// ---- seeing ------------------------------------------------------------------------------------

scheduler_statistics scheduler::statistics() const {
    rt_->point();
    return rt_->statistics();
}

seat_statistics scheduler::statistics(unsigned seat) const {
    rt_->point();
    seat_statistics row;
    if (seat >= rt_->seat_count()) return row;
    const detail::report_part& report = rt_->seat_at(seat).report;
    row.name = report.name;
    row.executed = report.counters.executed.load(acquire);
    row.stolen = report.counters.stolen.load(relaxed);
    row.helped = report.counters.helped.load(relaxed);
    row.parks = report.counters.parks.load(relaxed);
    row.busy_ns = report.counters.busy_ns.load(relaxed);
    return row;
}

namespace {

/// Adds to the row of the same name, or to a new row if there is room. `types` counts the types.
void add_type(const detail::type_row& from, task_type_statistics* rows, std::size_t capacity,
              std::size_t& types) {
    task_type_statistics* const end = rows + std::min(types, capacity);
    task_type_statistics* row = std::find_if(rows, end, [&](const task_type_statistics& r) {
        return std::strcmp(r.name, from.name) == 0;
    });
    if (row == end) {
        if (types++ >= capacity) return;
        *row = {.name = from.name};
    }
    row->count += from.count;
    row->total_ns += from.total_ns;
    row->longest_ns = std::max(row->longest_ns, from.longest_ns);
}

}  // namespace

std::size_t scheduler::statistics(task_type_statistics* rows, std::size_t capacity) const {
    rt_->point();
    std::size_t types = 0;
    for (unsigned i = 0; i < rt_->seat_count(); ++i) {
        detail::report_part& report = rt_->seat_at(i).report;
        const detail::locked lock(report.types_mutex);
        for (unsigned r = 0; report.types != nullptr && r < detail::type_rows; ++r) {
            if (report.types[r].name != nullptr) add_type(report.types[r], rows, capacity, types);
        }
    }
    return types;
}

// These do not call point(), because handlers call them, also under a lock of the library.
std::size_t scheduler::bytes(memory_tag tag) const { return rt_->memory.bytes(tag); }
std::uint64_t scheduler::allocations() const { return rt_->memory.allocations(); }

// ---- inside a task -----------------------------------------------------------------------------

const char* task_context::name() const {
    const char* text = state_.rt.slots.at(state_.seat->top->slot).name;
    return text != nullptr ? text : "";
}
task_environment task_context::environment() const {
    const auto* e = state_.rt.slots.at(state_.seat->top->slot).environment.load(relaxed);
    return e != nullptr ? *e : task_environment{};
}
unsigned task_context::seat() const { return state_.seat->index; }
bool task_context::cancelled() const {
    state_.rt.point();
    return state_.rt.phase(relaxed) == detail::life::discarding ||
           state_.rt.scope_cancelled(state_.rt.slots.at(state_.seat->top->slot));
}
void task_context::wait(task_id id, help policy) {
    if (!id) return;
    if (!BRAID_EXPECT(state_.rt.options.assertion,
                      state_.rt.slots.state_of(id) != task_state::unknown,
                      "wait only for ids that this scheduler has issued")) {
        return;
    }
    detail::outcome* received = nullptr;
    state_.rt.wait(*state_.seat, {.task = id}, no_limit, policy, &received);
    state_.rt.outcomes.raise(received);
}
bool task_context::yield_to_higher() {
    state_.rt.point();
    return state_.rt.yield_to_higher(*state_.seat);
}

// ---- joins -------------------------------------------------------------------------------------

fork_context::fork_context(task_context& task)
    : fork_context(task.internals().rt.joins_of_body(*task.internals().seat)) {}

fork_context fork_context::find_current() {
    running_task* task = detail::current_task();
    if (task != nullptr) return {task->context};
    BRAID_EXPECT(assertion_handler{}, detail::this_thread_state.unseated_joins != nullptr,
                 "a join outside tasks needs a scheduler: call it within fork_join()");
    return detail::serial_context();
}
unsigned fork_context::seat() const {
    const whole_seat* w = top_->stack->owner;
    return w != nullptr ? w->index : 0;
}
bool fork_context::cancelled() const {
    const whole_seat* w = top_->stack->owner;
    // The thread has no task if the scheduler was shut down or out of memory at fork_join().
    return w != nullptr && w->top != nullptr && w->top->context.cancelled();
}

namespace this_task {

task_id id() {
    const running_task* t = detail::current_task();
    return t == nullptr ? task_id{} : t->context.id();
}
const char* name() {
    const running_task* t = detail::current_task();
    return t == nullptr ? "" : t->context.name();
}
bool cancelled() {
    const running_task* t = detail::current_task();
    return t != nullptr && t->context.cancelled();
}
void point() {
    const running_task* t = detail::current_task();
    if (t != nullptr) t->context.internals().rt.point();
}

}  // namespace this_task

// ---- builders and values -----------------------------------------------------------------------

task_builder::~task_builder() {
    if (id_) rt_->finish_building(*seat_lease(*rt_, nullptr), id_, true);
}
bool task_builder::add_dependency(task_id predecessor) {
    rt_->point();
    return id_ && rt_->add_dependency(*seat_lease(*rt_, nullptr), id_, predecessor);
}
task_id task_builder::finish() {
    rt_->point();
    const task_id id = std::exchange(id_, {});
    if (id) rt_->finish_building(*seat_lease(*rt_, nullptr), id, false);
    return id;
}

namespace detail {

void spawn_members(task_context& context, const batch_bodies& all) {
    runtime& rt = runtime_of(context);
    rt.spawn_members(*rt.bound(), all);
}

bool good_batch(const runtime& rt, std::size_t count) {
    return BRAID_EXPECT(rt.options.assertion, count <= scheduler::most_bodies,
                        "a batch has at most 2^40 bodies; let each deal with several");
}

runtime& runtime_of(task_context& context) { return context.internals().rt; }

void keep_value(task_context& context, closure_fn destroy) {
    const runtime& rt = context.internals().rt;
    slot& s = rt.slots.at(context.internals().seat->top->slot);
    s.invoke = destroy;
    rt.details.find(s)->has_value.store(true, relaxed);  // published by the task's completion
}

void wait_value(runtime& rt, task_id id) {
    // Usually the task was awaited before and has succeeded, so there is no wait. If it failed, the
    // wait below receives the failure.
    const slot& s = rt.slots.at(id);
    const bool done = rt.slots.state_of(id) == task_state::done && !s.has(flag_failed);
    if (done && rt.serial == nullptr && !rt.report.observed()) return;
    const long_call call(rt);
    outcome* received = nullptr;
    rt.wait_here({.task = id}, no_limit, help::needed, &received);
    rt.outcomes.drop(received);
}

void* take_value(runtime& rt, task_id id) {
    slot& s = rt.slots.at(id);
    // The failure comes first: a task whose child failed has a value, too, but counts as failed.
    if (s.has(flag_failed)) {
        outcome* result = rt.outcomes.find(s);
        if (result != nullptr && result->error != nullptr)
            rt.outcomes.raise(rt.outcomes.share(result));
    }
    if (rt.details.find(s)->has_value.load(relaxed)) return s.storage;
#if BRAID_HAS_EXCEPTIONS
    // The task was cancelled, or there was no memory for its error, or it is not complete. In the
    // last case the task asked for its own value, and wait_value() has reported that.
    if (s.has(flag_cancel | flag_failed) || rt.slots.is_open(id)) throw broken_promise{};
#endif
    return nullptr;
}

std::exception_ptr take_failure(runtime& rt, task_id id) {
    const slot& s = rt.slots.at(id);
    return s.has(flag_failed) ? rt.outcomes.take_error(rt.outcomes.share(s)) : nullptr;
}
void* value_of(runtime& rt, task_id id) {
    slot& s = rt.slots.at(id);
    return rt.details.find(s)->has_value.load(relaxed) ? s.storage : nullptr;
}
bool value_ready(runtime& rt, task_id id) {
    rt.point();
    return rt.slots.state_of(id) == task_state::done;
}

void release_value(runtime& rt, task_id id) { rt.release_holder(*seat_lease(rt, nullptr), id); }

}  // namespace detail

BRAID_NAMESPACE_END
