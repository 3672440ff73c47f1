// The owner's side of a job list: filling, submitting, waiting.
#include "braid/job_list/job_list.hpp"

#include "core/extension.hpp"
#include "job_list/job_list_state.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;
using detail::job_list_state;
using detail::list_phase;

// ---- filling -----------------------------------------------------------------------------------

bool job_list::may_add(job_function function) {
    job_list_state& s = state_;
    core::point(s.rt);
    if (s.refuse_to_change("a list takes jobs until it is submitted; wait() for it first")) {
        return false;
    }
    if (!BRAID_EXPECT(core::misuse(s.rt), s.manager.names.name_of(function) != nullptr,
                      "register_job() gives the function a name, before it is added to a list")) {
        return false;
    }
    if (size_ == s.options.max_jobs) {
        if (!s.reported_full) s.report_full(*this, "jobs", s.options.max_jobs, "max_jobs");
        s.reported_full = true;
        return false;
    }
    s.phase.store(list_phase::filling, relaxed);
    known_ = function;
    // Each add() is a point under a chooser, so each one comes here.
    limit_ = core::under_chooser(s.rt) ? size_ + 1 : s.options.max_jobs;
    return true;
}

bool job_list::signal() {
    job_list_state& s = state_;
    core::point(s.rt);
    if (s.refuse_to_change("a list takes sync points until it is submitted; wait() for it first") ||
        !BRAID_EXPECT(core::misuse(s.rt), !s.signalled,
                      "synchronize() comes before the next signal()")) {
        return false;
    }
    if (s.syncs == s.options.max_syncs) {
        s.report_full(*this, "sync points", s.options.max_syncs, "max_syncs");
        s.incomplete = true;
        return false;
    }
    s.phase.store(list_phase::filling, relaxed);
    s.points[s.syncs].signal = size_;
    s.signalled = true;
    return true;
}

bool job_list::synchronize() {
    job_list_state& s = state_;
    core::point(s.rt);
    if (s.refuse_to_change("a list takes sync points until it is submitted; wait() for it first") ||
        !BRAID_EXPECT(core::misuse(s.rt), s.signalled || s.incomplete,
                      "signal() comes before synchronize(); it says what is waited for")) {
        return false;
    }
    if (!s.signalled) return false;  // its signal() was refused
    s.points[s.syncs++].wait = size_;
    s.signalled = false;
    return true;
}

void job_list::clear() {
    core::point(state_.rt);
    if (state_.refuse_to_change("wait() takes the jobs out of a list that is submitted")) return;
    size_ = limit_ = 0;
    state_.reset();
}

// ---- running -----------------------------------------------------------------------------------

task_id job_list::submit(const job_submission& how) {
    job_list_state& s = state_;
    core::point(s.rt);
    const assertion_handler& misuse = core::misuse(s.rt);
    if (s.refuse_to_change("wait() for the list before it is submitted again") ||
        !BRAID_EXPECT(misuse, !s.signalled,
                      "signal() without synchronize(): what is added next would not wait") ||
        !BRAID_EXPECT(misuse, !s.incomplete,
                      "a sync point is missing, it was refused; raise max_syncs") ||
        !BRAID_EXPECT(misuse, how.parallelism >= job_submission::threads,
                      "parallelism is a number of threads, or one of job_submission's names")) {
        return {};
    }
    job_list_state::predecessors after;
    if (!s.find_predecessors(*this, how, after)) return {};

    const bool here = how.parallelism == job_submission::inline_run;
    detail::job_record& record = s.record[s.writing];
    const std::uint64_t before = s.record[1 - s.writing].sum.submissions;
    for (std::uint32_t i = 0; i < record.units; ++i) record.unit[i].clear();
    record.sum = {};
    record.sum.submissions = before + 1;
    record.sum.jobs = size_;
    record.sum.syncs = s.syncs;
    record.sum.submitted_at = active_policy::now();
    const std::uint32_t others = here ? 0 : s.threads_for(how.parallelism) - 1;
    s.feed.prepare(size_, s.points, s.syncs, s.pending, others);
    // Before the first job, which may look at its list.
    limit_ = size_;  // add() takes the slow way, which refuses
    const list_phase filled = s.phase.exchange(list_phase::submitted, relaxed);
    const task_id id = here ? s.run_inline(after) : s.submit_task(after);
    if (!id) {
        s.phase.store(filled, relaxed);
        return {};
    }
    s.set_submission(id);  // the task does it, too, if it comes to begin
    if (s.options.priority == priority_level::normal) {
        s.manager.submissions[s.place].store(id.value, relaxed);
        s.manager.normal_submitted.fetch_or(std::uint32_t{1} << s.place, relaxed);
    }
    return id;
}

void job_list::wait() {
    core::failure failure(state_.rt);
    if (state_.collect(*this, failure)) failure.raise();
}

bool job_list::try_wait() {
    core::point(state_.rt);
    const task_id id{state_.submission.load(relaxed)};
    constexpr nanoseconds enough = microseconds(50);
    // The owner may be the only one that can run what it polls for.
    if (core::is_open(state_.rt, id)) core::help_poll(state_.rt, id, enough);
    if (core::is_open(state_.rt, id)) return false;
    wait();
    return true;
}

task_id job_list::submission() const {
    core::point(state_.rt);
    return {state_.submission.load(acquire)};  // pairs with set_submission()
}

// ---- seeing ------------------------------------------------------------------------------------

std::uint32_t job_list::id() const { return state_.options.id; }
const char* job_list::name() const { return state_.options.name; }
std::uint32_t job_list::colour() const { return state_.options.colour; }
priority_level job_list::priority() const { return state_.options.priority; }
std::uint32_t job_list::max_jobs() const { return state_.options.max_jobs; }
std::uint32_t job_list::max_syncs() const { return state_.options.max_syncs; }

job_list_statistics job_list::statistics() const {
    core::point(state_.rt);
    return state_.record[1 - state_.writing].sum;
}

job_unit_statistics job_list::statistics(unsigned seat) const {
    core::point(state_.rt);
    if (seat >= detail::job_units) return {};
    return state_.record[1 - state_.writing].unit[seat].read();
}

// ---- the state ---------------------------------------------------------------------------------

namespace detail {

job_unit_statistics job_unit::read() const {
    return {.executed = executed.load(relaxed),
            .processing_ns = static_cast<std::int64_t>(processing.load(relaxed)),
            .wasted_ns = static_cast<std::int64_t>(wasted.load(relaxed)),
            .stalls = stalls.load(relaxed),
            .from_stalled = from_stalled.load(relaxed)};
}

void job_unit::clear() {
    for (atomic<std::uint64_t>* c : {&executed, &processing, &wasted, &stalls, &from_stalled}) {
        c->store(0, relaxed);
    }
}

void job_list_state::set_submission(task_id id) {
    // release: pairs with the acquire in job_list::submission(); who sees the id may depend on it.
    submission.store(id.value, release);
}

/// Empty again.
void job_list_state::reset() {
    syncs = 0;
    signalled = incomplete = reported_full = false;
    phase.store(list_phase::empty, relaxed);
}

bool job_list_state::refuse_to_change(const char* what_to_change) const {
    if (phase.load(relaxed) != list_phase::submitted) return false;
    report_misuse(core::misuse(rt), "the list is not submitted", what_to_change, __FILE__,
                  __LINE__);
    return true;
}

/// With the functions that fill the list, those that fill most of it first.
void job_list_state::report_full(const job_list& list, const char* of_what, unsigned limit,
                                 const char* option) const {
    constexpr int most = 8;
    std::uint32_t of_type[job_names::slots] = {};
    for (std::uint32_t i = 0; i < list.size(); ++i) ++of_type[manager.names.find(jobs[i].function)];
    char text[1024];
    int at = std::snprintf(text, sizeof text, "job list '%s' is full, with %u %s", options.name,
                           limit, of_what);
    for (int n = 0; n < most; ++n) {
        std::uint32_t* const largest = std::max_element(std::begin(of_type), std::end(of_type));
        if (*largest == 0) break;
        at += std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), "%s %u %.60s",
                            n == 0 ? ":" : ",", *largest,
                            manager.names.name_at(static_cast<std::size_t>(largest - of_type)));
        *largest = 0;
    }
    std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), "; raise %s", option);
    report_misuse(core::misuse(rt), "the list has room", text, __FILE__, __LINE__);
}

/// The submissions that are waited for. False, and reported: one that cannot be.
bool job_list_state::find_predecessors(const job_list& list, const job_submission& how,
                                       predecessors& found) const {
    const assertion_handler& misuse = core::misuse(rt);
    if (!BRAID_EXPECT(misuse, how.after.size() <= std::size(found.ids),
                      "a list comes after 8 others at most; chain them")) {
        return false;
    }
    for (const job_list* other : how.after) {
        if (other == nullptr) continue;
        const job_list_state& before = other->state_;
        if (!BRAID_EXPECT(misuse, other != &list, "a list cannot come after itself") ||
            !BRAID_EXPECT(misuse, &before.rt == &rt,
                          "lists in `after` must belong to the same scheduler") ||
            !BRAID_EXPECT(misuse, before.phase.load(relaxed) != list_phase::filling,
                          "submit the list that this one comes after first")) {
            return false;
        }
        const task_id id{before.submission.load(acquire)};  // pairs with set_submission()
        if (id) found.ids[found.count++] = id;
    }
    return true;
}

std::uint32_t job_list_state::threads_for(int parallelism) const {
    std::uint32_t threads = static_cast<std::uint32_t>(std::max(parallelism, 1));
    if (parallelism == job_submission::automatic) threads = core::worker_count(rt) + 1;
    if (parallelism == job_submission::cores) threads = manager.cores;
    if (parallelism == job_submission::threads) threads = core::hardware_threads(rt);
    return std::min<std::uint32_t>(threads, core::seat_limit);
}

task_id job_list_state::submit_task(const predecessors& after) {
    const task_id(&ids)[8] = after.ids;
    // However they end: whether this list runs must not depend on who was quicker. Empty ids are
    // passed over.
    const std::initializer_list<task_id> none = {};
    const std::initializer_list<task_id> all = {ids[0], ids[1], ids[2], ids[3],
                                                ids[4], ids[5], ids[6], ids[7]};
    return submit_as<list_task>(rt, nullptr,
                                {.name = options.name,
                                 .after_any = after.count != 0 ? all : none,
                                 .priority = options.priority,
                                 .may_be_long = true,
                                 .where = {}},
                                draft_kind::valued, &begin, this);
}

bool job_list_state::collect(job_list& list, core::failure& failure) {
    const task_id id{submission.load(relaxed)};
    if (!id) {
        BRAID_EXPECT(core::misuse(rt), phase.load(relaxed) == list_phase::empty,
                     "submit() comes before wait(); nobody runs these jobs");
        return false;
    }
    const std::int64_t began = active_policy::now();
    core::failure received(rt);  // is not rethrown: the list has the failure, too
    if (!core::wait(rt, id, help::needed, received)) return false;
    failure = core::failure_of(rt, id);
    core::release_handle(rt, id);

    job_record& done = record[writing];
    done.units = core::seat_count(rt);
    done.sum.waited_ns = active_policy::now() - began;
    for (std::uint32_t i = 0; i < done.units; ++i) {
        const job_unit_statistics unit = done.unit[i].read();
        done.sum.executed += unit.executed;
        done.sum.processing_ns += unit.processing_ns;
        done.sum.wasted_ns += unit.wasted_ns;
        done.sum.stalls += unit.stalls;
        done.sum.from_stalled += unit.from_stalled;
    }
    done.sum.cancelled = done.sum.jobs - done.sum.executed;
    writing = 1 - writing;
    submission.store(0, relaxed);
    manager.normal_submitted.fetch_and(~(std::uint32_t{1} << place), relaxed);
    list.size_ = list.limit_ = 0;
    reset();
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
