// The threads' side of a job list: the task of a submission, and those that join in.
#include "core/attention.hpp"
#include "core/helper_floats.hpp"
#include "core/seat_lease.hpp"
#include "job_list/job_list_state.hpp"

#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// What one thread does for a submission, from when it comes until it leaves.
struct job_part {
    job_part(job_list_state& list, worker& thread, bool stays);
    ~job_part();
    job_part(const job_part&) = delete;
    job_part& operator=(const job_part&) = delete;

    /// The first one of a submission.
    void begin();
    void run();

private:
    bool call(std::uint32_t index);
    void call_timed(const job& j, const char* name);
    void note_untimed();
    void failed(std::uint32_t index);
    bool unwanted() const;
    bool something_higher() const;
    void flush();
    void call_others();

    /// The clock stands at the end of a stretch of time; what it was spent with.
    void spent_in_jobs(std::int64_t now) {
        processing_ += now - stamp_ - std::exchange(on_top_, 0);
        stamp_ = now;
    }
    void spent_otherwise(std::int64_t now) {
        wasted_ += now - stamp_;
        stamp_ = now;
    }

    job_list_state& list_;
    worker& worker_;
    runtime& rt_;
    running_task& body_;
    job_part* const below_;
    const bool stays_;  // inline: nobody else may go on with it
    const bool timed_;
    const bool quiet_;
    const std::int64_t leave_at_;           // INT64_MAX: when nothing is left
    std::uint32_t segment_ = 0, over_ = 0;  // jobs of the segment, not yet counted there
    job_function function_ = nullptr;       // of the jobs that are not looked at for long ones yet
    unsigned untimed_ = 0;
    bool in_jobs_ = false;
    std::uint64_t executed_ = 0;
    std::int64_t began_, stamp_, processing_ = 0, wasted_ = 0;
    std::int64_t on_top_ = 0;  // time of parts that ran on top of the current job
};

job_part::job_part(job_list_state& list, worker& thread, bool stays)
    : list_(list),
      worker_(thread),
      rt_(list.rt),
      body_(*thread.top),
      below_(list.manager.units[thread.index].top),
      stays_(stays),
      timed_(list.rt.options.statistics),
      quiet_(list.options.may_be_long || list.rt.options.long_task.value <= 0),
      leave_at_(std::exchange(thread.leave_list_at, INT64_MAX)),  // not of what a job waits for
      began_(active_policy::now()),
      stamp_(began_) {
    unit_state& unit = list.manager.units[thread.index];
    unit.top = this;
    const job_list_state* const before = std::exchange(unit.stalled_in, nullptr);
    if (before != nullptr && before != &list) {
        seat_counters::add(list.record[list.writing].unit[thread.index].from_stalled);
    }
    // What a job spawns and waits for, it does as the submission.
    runtime::go_on_as(body_, thread, body_.slot, list.running());
}

job_part::~job_part() {
    const std::int64_t now = active_policy::now();
    spent_otherwise(now);
    job_unit& unit = list_.record[list_.writing].unit[worker_.index];
    seat_counters::add(unit.executed, executed_);
    seat_counters::add(unit.processing, static_cast<std::uint64_t>(processing_));
    seat_counters::add(unit.wasted, static_cast<std::uint64_t>(wasted_));
    list_.manager.units[worker_.index].top = below_;
    // Its jobs are accounted for, each by itself: the task around them took no time.
    if (timed_) worker_.elsewhere = now - began_;
    if (below_ != nullptr) below_->on_top_ += now - began_;
}

void job_part::begin() {
    job_list_statistics& sum = list_.record[list_.writing].sum;
    sum.started_at = began_;
    if (list_.feed.begin().over) sum.finished_at = began_;
    call_others();
}

void job_part::run() {
    job_feed& feed = list_.feed;
    worker_.elsewhere = 0;
    while (true) {
        std::uint32_t index = 0;
        bool goes_on = true;
        while (goes_on && feed.take(index)) goes_on = call(index);
        if (in_jobs_ && !timed_) spent_in_jobs(active_policy::now());
        in_jobs_ = false;
        if (!goes_on) break;
        flush();
        if (feed.can_take()) continue;
        if (feed.all_open()) break;
        if (!feed.leave_shut()) continue;
        seat_counters::add(list_.record[list_.writing].unit[worker_.index].stalls);
        list_.manager.units[worker_.index].stalled_in = &list_;
        break;
    }
    note_untimed();
}

/// False: the thread leaves, and need not look for anything.
bool job_part::call(std::uint32_t index) {
    const std::uint32_t segment = list_.feed.segment_of(index, segment_);
    if (segment != segment_) {
        flush();  // others may wait for the segment before, and this job may take long
        segment_ = segment;
    }
    if (unwanted()) {
        rt_.record_failure(worker_, index_of(list_.running().value), nullptr, index + 1);
        return false;
    }
    const job& j = list_.jobs[index];
    in_jobs_ = true;
    if (timed_) {
        call_timed(j, list_.manager.names.name_of(j.function));
    } else {
        if (j.function != function_) {
            note_untimed();
            function_ = j.function;
        }
        guarded(body_.context, [&] { j.function(j.data); });
        if (++untimed_ >= worker_.time_each) note_untimed();
    }
    ++executed_;
    ++over_;
    if (body_.error != nullptr) [[unlikely]]
        failed(index);
    const bool enough = leave_at_ != INT64_MAX && active_policy::now() >= leave_at_;
    if (stays_ || !(enough || something_higher()) || !list_.feed.can_take()) return true;
    flush();
    return !list_.send_runner(worker_);
}

void job_part::call_timed(const job& j, const char* name) {
    const std::int64_t started = active_policy::now();
    spent_otherwise(started);
    guarded(body_.context, [&] { j.function(j.data); });
    rt_.note_duration(worker_, name, quiet_, started);
    worker_.elsewhere = 0;
    spent_in_jobs(worker_.stamp);
}

void job_part::note_untimed() {
    const unsigned count = std::exchange(untimed_, 0);
    if (quiet_ || count == 0) return;
    // The name is looked up once for a few jobs of a kind.
    rt_.note_durations(worker_, list_.manager.names.name_of(function_), false, count);
}

void job_part::failed(std::uint32_t index) {
    rt_.record_failure(worker_, index_of(list_.running().value),
                       std::exchange(body_.error, nullptr), index + 1,
                       list_.manager.names.name_of(list_.jobs[index].function));
}

bool job_part::unwanted() const {
    return rt_.state.load(relaxed) == life::discarding ||
           rt_.scope_cancelled(rt_.slots[index_of(list_.running().value)]);
}

/// With a chooser each job is its choice, with an observer each is seen.
bool job_part::something_higher() const {
    const auto level = static_cast<unsigned>(list_.options.priority);
    return wanted_elsewhere(rt_, worker_, level) || rt_.turn != nullptr || rt_.observed() ||
           (list_.options.priority == priority_level::low && list_.manager.normal_waits());
}

/// Counts the jobs that have ended in their segment.
void job_part::flush() {
    if (over_ == 0) return;
    const job_feed::progress made = list_.feed.finish(segment_, std::exchange(over_, 0));
    if (made.opened) call_others();
    if (made.over) list_.record[list_.writing].sum.finished_at = active_policy::now();
}

void job_part::call_others() {
    if (stays_) return;
    for (std::uint32_t n = list_.feed.call_idle(); n != 0; --n) {
        // Without it fewer threads take part, and this one does.
        if (!list_.send_runner(worker_)) list_.feed.uncall();
    }
}

bool job_list_state::send_runner(worker& w) {
    const bool normal = options.priority == priority_level::normal;
    if (normal) manager.normal_runners.fetch_add(1, relaxed);
    const task_options as_task{.name = options.name,
                               .parent = running(),
                               .priority = options.priority,
                               .may_be_long = true,
                               .where = {}};
    if (submit_as<list_task>(rt, &w, as_task, draft_kind::posted, &join_in, this)) {
        return true;
    }
    if (normal) manager.normal_runners.fetch_sub(1, relaxed);
    return false;
}

void job_list_state::join_in(void* storage, task_context* context) {
    job_list_state& list = *std::launder(static_cast<list_task*>(storage))->list;
    if (list.options.priority == priority_level::normal) {
        list.manager.normal_runners.fetch_sub(1, relaxed);
    }
    if (context == nullptr) return;  // cancelled
    job_part(list, runtime::worker_of(*context), false).run();
}

/// Runs the submission like a task that was taken from a queue at once, by this thread.
task_id job_list_state::run_inline(const predecessors& after) {
    const seat_lease seat(rt, nullptr);
    worker& w = *seat;
    for (std::size_t i = 0; i < after.count; ++i) {
        outcome* received = nullptr;
        if (!rt.wait(w, {.task = after.ids[i]}, forever, help::needed, &received)) return {};
        if (received != nullptr) rt.forget(received);  // its list has it
    }
    const task_options as_task{
        .name = options.name, .priority = options.priority, .may_be_long = true, .where = {}};
    const draft d = rt.open(w, as_task, draft_kind::valued);
    if (d.storage == nullptr) return {};
    const std::uint32_t index = index_of(d);
    const task_id id = rt.id_of(index);
    set_submission(id);
    slot& s = rt.slots[index];
    s.invoke = nullptr;
    const unsigned facts = s.waits_for.load(relaxed) == 0 ? 0 : start_ready_now;
    s.waits_for.store(0, relaxed);
    s.runner.store(w.index, relaxed);
    helper_floats floats;
    floats.use(w, rt.float_control);
    const std::int64_t outer_elsewhere = w.elsewhere;
    const std::int64_t began = w.stamp = rt.task_clock();
    running_task task{index, w.top, {}, task_context(rt, w, id)};
    running_task* const outer = rt.begin_body(w, task, id);
    if (rt.observed()) rt.options.observer->on_start(w.index, id, options.name, facts, {});
    {
        job_part all(*this, w, true);
        all.begin();
        all.run();
    }
    rt.end_body(w, task, outer);
    if (rt.observed()) rt.options.observer->on_end(w.index, id, options.name, false);
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    seat_counters::add(w.counters.executed);
    rt.own_work_done(w, index);
    return id;
}

void job_list_state::begin(void* storage, task_context* context) {
    if (context == nullptr) return;  // cancelled
    job_list_state& list = *std::launder(static_cast<list_task*>(storage))->list;
    list.set_submission(context->id());
    job_part first(list, runtime::worker_of(*context), false);
    first.begin();
    first.run();
}

}  // namespace detail
BRAID_NAMESPACE_END
