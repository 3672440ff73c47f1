// The functions of core/extension.hpp, own_task.hpp and held_up.hpp that are not inline. They are
// not on the path of every task.
#include "core/extension.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail::core {

void log(runtime& rt, log_level level, const char* format, ...) {
    const log_handler& to = rt.options.log;
    char text[512];
    const int name = std::snprintf(text, 100, "%s: ", rt.options.name);
    const std::size_t at = std::min<std::size_t>(name > 0 ? static_cast<std::size_t>(name) : 0, 99);
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text + at, sizeof text - at, format, arguments);
    va_end(arguments);
    to.function(to.user, level, text);
}

bool is_awaited(const runtime& rt, task_id id) {
    constexpr unsigned generations = 8;
    std::uint32_t index = index_of(id.value);
    for (unsigned up = 0; up != generations; ++up) {
        // relaxed, all loads: an open task keeps its ancestors open, so they keep their slots.
        const slot& s = rt.slots.at(index);
        if (up != 0 && index_of(s.open.load(relaxed)) != 1) return false;
        const std::uint64_t head = s.successors.load(relaxed);
        const bool is_waited_for = (static_cast<std::uint32_t>(head) & waited_bit) != 0;
        // Only the graph knows what comes after a node, so each node counts as awaited.
        const bool is_node = s.has(flag_own_kind) && s.kind != &completion_kind;
        if (is_waited_for || first_edge(head) != no_edge || is_node) return true;
        index = s.parent.load(relaxed);
        if (index == no_index) return false;
    }
    return false;
}

const char* name_of(runtime& rt, task_id id) {
    if (!add_share(rt, id)) return "";
    const char* const name = rt.slots.at(index_of(id.value)).name;
    end_share(rt, *seat_lease(rt, nullptr), id);
    return name != nullptr ? name : "";
}

void help_poll(runtime& rt, task_id id, nanoseconds enough) {
    whole_seat* const own = rt.bound();
    // A thread that runs a task always helps. Perhaps no other thread would run the work, because
    // waiting threads see that this thread is running.
    const bool in_task = own != nullptr && own->top != nullptr;
    const bool outside =
        own == nullptr || own->kind == seat_kind::main || own->kind == seat_kind::guest;
    if (outside && !in_task && rt.active_workers(relaxed) != 0) return;  // the workers run it
    whole_seat* const w =
        own != nullptr ? own : static_cast<whole_seat*>(rt.try_lease_guest(lease::wait));
    if (w == nullptr) return;
    w->leave_list_at = deadline_after(active_policy::now(), enough);
    rt.help_once(*w, id);
    w->leave_list_at = INT64_MAX;
    if (own != nullptr) return;
    rt.flush_scope_ends(*w);
    rt.return_guest(*w);
}

held_up::held_up(runtime& rt, const void* at, const char* what, const char* name)
    : rt_(rt), seat_(rt.bound()) {
    if (seat_ == nullptr) return;
    record_.named = true;
    record_.what = what;
    record_.name = name;
    record_.depth = static_cast<std::uint16_t>(std::min<unsigned>(seat_->depth, UINT16_MAX));
    rt.lot().enter(record_, own_key(at), seat_->index, [] { return true; });
}

held_up::~held_up() {
    if (seat_ == nullptr) return;
    rt_.lot().leave(record_);
}

bool own_thread::start(runtime& rt, const platform::thread_request& how) {
    rt_ = &rt;
    given_ = request_ = how;
    request_.entry = [](void* self) { static_cast<own_thread*>(self)->run(); };
    request_.argument = this;
    over_.store(false, relaxed);
    if (rt.serial != nullptr) {
        const locked lock(rt.without_seat().lock);
        seat_ = rt.take_guest(lease::good);
    }
    if (seat_ != nullptr) {
        rt.serial->add(seat_->index);
    } else if (rt.serial != nullptr) {
        rt.serial->note_unchosen();
    }
    thread_ = platform::start_thread(request_);
    if (thread_ != 0) return true;
    if (seat_ == nullptr) return false;
    rt.serial->leave(seat_->index);
    rt.return_guest(*std::exchange(seat_, nullptr));
    return false;
}

bool own_thread::rests_in_wait() const {
    if (this_thread_state.module_wait == &waits_in_) return true;  // the caller counts as at rest
    // seq_cst: pairs with wait_loop::begin(). The pointer is read twice, because the seat with the
    // flag may be another thread's by now. If this thread has left the seat and come back
    // meanwhile, it has seen that the scheduler is frozen.
    const atomic<bool>* const at_rest = waits_in_.load(seq_cst);
    return at_rest != nullptr && at_rest->load(seq_cst) && waits_in_.load(seq_cst) == at_rest;
}

void own_thread::run() {
    this_thread_state.module_wait = &waits_in_;
    if (seat_ == nullptr) return given_.entry(given_.argument);
    rt_->sit_down(*seat_);
    given_.entry(given_.argument);
    rt_->flush_scope_ends(static_cast<seat&>(*seat_));
    // release: pairs with join(), which continues when this thread has left the gate.
    over_.store(true, release);
    wake_at_gate(*rt_, this);
    rt_->stand_up(*seat_);
}

void own_thread::join() {
    if (thread_ == 0) return;
    if (seat_ != nullptr && passes_gate(*rt_)) {
        sleep_at_gate(*rt_, this, {.waits = true}, [this] { return !over_.load(acquire); });
    }
    // If the thread to join has no seat, it may need the gate before it can end. So the caller
    // leaves the gate while it waits.
    seat* const here = seat_ == nullptr && passes_gate(*rt_) ? rt_->bound() : nullptr;
    const bool leaves = here != nullptr && !here->outside_gate;
    if (leaves) rt_->serial->leave(here->index);
    platform::join_thread(std::exchange(thread_, 0));
    if (leaves) rt_->serial->enter(here->index);
    if (seat_ != nullptr) rt_->return_guest(*std::exchange(seat_, nullptr));
}

task_at_once::task_at_once(runtime& rt, seat& w, const draft& opened, const char* name)
    : rt_(rt),
      seat_(w),
      index_(index_of(opened)),
      id_(rt.slots.id_of(index_)),
      name_(name),
      body_{index_, w.top, {}, task_context(rt, w, id_)} {
    slot& s = rt.slots.at(index_);
    s.invoke = nullptr;
    const unsigned facts = s.ready_is_reported() ? 0 : start_ready_now;
    s.waits_for.store(0, relaxed);
    s.runner.store(w.index, relaxed);
    floats_.use(w, rt.float_control());
    outer_elsewhere_ = w.report.elsewhere;
    began_ = w.report.stamp = rt.report.task_clock();
    outer_ = rt.begin_body(w, body_, id_);
    if (rt.report.observed()) rt.report.watcher().on_start(w.index, id_, name, facts, {});
}

task_at_once::~task_at_once() {
    rt_.end_body(seat_, body_, outer_);
    if (rt_.report.observed()) rt_.report.watcher().on_end(seat_.index, id_, name_, false);
    seat_.report.elsewhere = outer_elsewhere_ + (seat_.report.stamp - began_);
    seat_counters::add(seat_.report.counters.executed);
    rt_.own_work_done(seat_, index_);
}

std::uint32_t make_own_task_of(runtime& rt, seat& w, const task_options& o, const task_kind& kind) {
    const std::uint32_t index = rt.slots.take(w.slots);
    if (index == no_index) return no_index;
    slot& s = rt.slots.at(index);
    s.name = o.name;
    s.kind = &kind;
    s.module = 0;
    const bool detailed = (runtime::flags_of(o) & flag_detailed) != 0;
    if ((!detailed && !rt.identified()) || rt.fill_detail(w, s, o, draft_kind::spawned)) {
        return index;
    }
    free_own_task(rt, w, index);
    return no_index;
}

void free_own_task(runtime& rt, seat& w, std::uint32_t index) {
    rt.details.free(w.details, rt.slots.at(index));
    rt.slots.clean_and_give(w.slots, index);
}

}  // namespace detail::core
BRAID_NAMESPACE_END
