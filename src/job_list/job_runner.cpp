// The threads' side of a job list: the task of a submission, and those that join in.
#include "core/extension.hpp"
#include "job_list/job_list_state.hpp"

#include <new>
#include <optional>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// To what this thread alone counts. relaxed: the end of the submission's task hands it on.
void add(atomic<std::uint64_t>& count, std::uint64_t n = 1) {
    count.store(count.load(relaxed) + n, relaxed);
}

}  // namespace

/// What one thread does for a submission, from when it comes until it leaves. Its jobs are a source
/// of bodies (see body_source) within the body of the runner.
struct job_part {
    job_part(job_list_state& list, core::seat& thread, bool stays);
    ~job_part();
    job_part(const job_part&) = delete;
    job_part& operator=(const job_part&) = delete;

    /// The first one of a submission.
    void begin();
    void run();

    void invoke(const core::running_body& body);
    bool ended(const core::running_body& body);
    bool next(const core::running_body& body);

private:
    bool take_next();
    void call_timed(const job& j, const core::running_body& body);
    void note_untimed();
    void failed(const core::running_body& body);
    bool unwanted() const;
    bool something_higher() const;
    void flush(bool free = true);
    void call_others(bool free = true);

    /// The clock stands at the end of a stretch of time; what it was spent with.
    void spent_in_jobs(std::int64_t now) {
        processing_ += now - stamp_ - std::exchange(on_top_, 0);
        stamp_ = now;
    }
    void stop_clock() {
        if (in_jobs_ && !timed_) spent_in_jobs(active_policy::now());
        in_jobs_ = false;
    }
    void spent_otherwise(std::int64_t now) {
        wasted_ += now - stamp_;
        stamp_ = now;
    }

    job_list_state& list_;
    core::seat& seat_;
    runtime& rt_;
    const core::running_body body_;
    unit_state& thread_;
    job_unit& unit_;
    job_part* const below_;
    const bool stays_;  // inline: nobody else may go on with it
    const bool timed_;
    const bool quiet_;
    const std::int64_t leave_at_;           // INT64_MAX: when nothing is left
    std::uint32_t index_ = 0;               // of the current job
    std::uint32_t segment_ = 0, over_ = 0;  // jobs of the segment, not yet counted there
    job_function function_ = nullptr;       // of the jobs that are not looked at for long ones yet
    unsigned untimed_ = 0;
    bool in_jobs_ = false;
    const std::uint64_t identity_;  // of the submission's jobs
    std::optional<core::part_of_task> as_job_;
    std::uint64_t executed_ = 0;
    std::int64_t began_, stamp_, processing_ = 0, wasted_ = 0;
    std::int64_t on_top_ = 0;  // time of parts that ran on top of the current job
};

job_part::job_part(job_list_state& list, core::seat& thread, bool stays)
    : list_(list),
      seat_(thread),
      rt_(list.rt),
      body_(thread),
      thread_(list.manager.units[core::number_of(thread)]),
      unit_(list.record[list.writing].unit[core::number_of(thread)]),
      below_(thread_.top),
      stays_(stays),
      timed_(core::options(list.rt).statistics),
      quiet_(list.options.may_be_long || core::options(list.rt).long_task.value <= 0),
      leave_at_(core::take_help_deadline(thread)),  // not of what a job waits for
      identity_(list.identity_of_jobs()),
      began_(active_policy::now()),
      stamp_(began_) {
    thread_.top = this;
    const job_list_state* const before = std::exchange(thread_.stalled_in, nullptr);
    if (before != nullptr && before != &list) add(unit_.from_stalled);
    // What a job spawns and waits for, it does as the submission.
    body_.go_on_as(list.running());
}

job_part::~job_part() {
    const std::int64_t now = active_policy::now();
    spent_otherwise(now);
    add(unit_.executed, executed_);
    add(unit_.processing, static_cast<std::uint64_t>(processing_));
    add(unit_.wasted, static_cast<std::uint64_t>(wasted_));
    thread_.top = below_;
    // Its jobs are accounted for, each by itself: the task around them took no time.
    if (timed_) core::set_elsewhere(seat_, now - began_);
    if (below_ != nullptr) below_->on_top_ += now - began_;
}

void job_part::begin() {
    job_list_statistics& sum = list_.record[list_.writing].sum;
    sum.started_at = began_;
    if (list_.feed.begin().over) sum.finished_at = began_;
    call_others();
}

void job_part::run() {
    core::set_elsewhere(seat_, 0);
    if (next(body_)) core::run_sequence(body_, *this);
    stop_clock();
    note_untimed();
}

/// False: nothing is left for this thread.
bool job_part::take_next() {
    job_feed& feed = list_.feed;
    while (!feed.take(index_)) {
        stop_clock();
        flush();
        if (feed.can_take()) continue;
        if (feed.all_taken()) return false;
        if (!feed.leave_shut()) continue;
        add(unit_.stalls);
        thread_.stalled_in = &list_;
        return false;
    }
    return true;
}

bool job_part::next(const core::running_body&) {
    if (!take_next()) return false;
    const std::uint32_t segment = list_.feed.segment_of(index_, segment_);
    if (segment != segment_) {
        flush(false);  // others may wait for the segment before, and this job may take long
        segment_ = segment;
    }
    if (!unwanted()) return true;
    core::record_failure(rt_, seat_, list_.running(), {nullptr, index_ + 1});
    return false;
}

void job_part::invoke(const core::running_body& body) {
    const job& j = list_.jobs[index_];
    if (identity_ != 0) as_job_.emplace(seat_, core::join_stable_ids(identity_, index_));
    in_jobs_ = true;
    if (timed_) return call_timed(j, body);
    if (j.function != function_) {
        note_untimed();
        function_ = j.function;
    }
    guarded(body.context(), [&] { j.function(j.data); });
    if (++untimed_ >= core::bodies_a_look(seat_)) note_untimed();
}

/// False: the thread leaves, and need not look for anything.
bool job_part::ended(const core::running_body& body) {
    ++executed_;
    ++over_;
    if (body.failed()) [[unlikely]]
        failed(body);
    const bool enough = leave_at_ != INT64_MAX && active_policy::now() >= leave_at_;
    bool goes_on = stays_ || !(enough || something_higher()) || !list_.feed.can_take();
    if (!goes_on) {
        flush();
        goes_on = !list_.send_runner(seat_);  // as the job: any thread may do it
    }
    if (identity_ != 0) as_job_.reset();
    return goes_on;
}

void job_part::call_timed(const job& j, const core::running_body& body) {
    const std::int64_t started = active_policy::now();
    spent_otherwise(started);
    guarded(body.context(), [&] { j.function(j.data); });
    core::note_duration(seat_, list_.manager.names.name_of(j.function), quiet_, started);
    core::set_elsewhere(seat_, 0);
    spent_in_jobs(core::last_end(seat_));
}

void job_part::note_untimed() {
    const unsigned count = std::exchange(untimed_, 0);
    if (quiet_ || count == 0) return;
    // The name is looked up once for a few jobs of a kind.
    core::note_durations(seat_, list_.manager.names.name_of(function_), false, count);
}

void job_part::failed(const core::running_body& body) {
    const char* const name = list_.manager.names.name_of(list_.jobs[index_].function);
    core::record_failure(rt_, seat_, list_.running(), {body.take_error(), index_ + 1, name});
}

bool job_part::unwanted() const { return core::is_unwanted(rt_, list_.running()); }

/// With a chooser each job is its choice, with an observer each is seen.
bool job_part::something_higher() const {
    return core::wanted_elsewhere(seat_, list_.options.priority) || core::under_chooser(rt_) ||
           core::observed(rt_) ||
           (list_.options.priority == priority_level::low && list_.manager.normal_waits());
}

/// Counts the jobs that have ended in their segment. Not `free`: the thread has its next job.
void job_part::flush(bool free) {
    if (over_ == 0) return;
    const job_feed::progress made = list_.feed.finish(segment_, std::exchange(over_, 0));
    if (made.opened) call_others(free);
    if (made.over) list_.record[list_.writing].sum.finished_at = active_policy::now();
}

void job_part::call_others(bool free) {
    if (stays_) return;
    for (std::uint32_t n = list_.feed.call_idle(free); n != 0; --n) {
        // Without it fewer threads take part, and this one does.
        if (!list_.send_runner(seat_)) list_.feed.uncall();
    }
}

std::uint64_t job_list_state::identity_of_jobs() const {
    const std::uint64_t all = core::stable_id_of(rt, running());
    return all != 0 ? core::join_stable_ids(all, options.name) : 0;
}

bool job_list_state::send_runner(core::seat& w) {
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
    job_part(list, core::seat_of(*context), false).run();
}

/// Runs the submission like a task that was taken from a queue at once, by this thread.
task_id job_list_state::run_inline(const predecessors& after) {
    for (std::size_t i = 0; i < after.count; ++i) {
        core::failure received(rt);  // is not rethrown: the predecessor's list has it, too
        if (!core::wait(rt, after.ids[i], help::needed, received)) return {};
    }
    const core::body_lease seat(rt);
    if (!seat) return {};
    const task_options as_task{
        .name = options.name, .priority = options.priority, .may_be_long = true, .where = {}};
    const draft opened = open_task(rt, &*seat, as_task, draft_kind::valued);
    if (opened.storage == nullptr) return {};
    const core::task_at_once task(rt, *seat, opened, options.name);
    set_submission(task.id());
    job_part all(*this, *seat, true);
    all.begin();
    all.run();
    return task.id();
}

void job_list_state::begin(void* storage, task_context* context) {
    if (context == nullptr) return;  // cancelled
    job_list_state& list = *std::launder(static_cast<list_task*>(storage))->list;
    list.set_submission(context->id());
    job_part first(list, core::seat_of(*context), false);
    first.begin();
    first.run();
}

}  // namespace detail
BRAID_NAMESPACE_END
