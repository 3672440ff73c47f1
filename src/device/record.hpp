#pragma once
// One submission. Guarded by its processor's lock, but for what is written before anybody else has
// it, and for the count of groups.
//
//   unused ──► held ──► queued ──► in flight ──► over ──► unused
//              (comes after others)   │  ▲          (when its task is complete)
//                                     └──┘ run again
//
// How it ended is decided once, and may be earlier than `over`: what has timed out in flight keeps
// its operands until the processor lets go of it.

#include "braid/base/policy.hpp"
#include "braid/device/submission.hpp"
#include "device/ticket_words.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <iterator>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

class processor_state;
struct record;
class sequence_state;

/// In the list of its buffer, as long as it orders submissions that come later.
struct buffer_use {
    record* by = nullptr;
    buffer_use *next = nullptr, *before = nullptr;
    buffer of;
    std::size_t begin = 0, end = 0;
    bool writes = false, listed = false;
};

/// A kernel with what it was given.
struct step {
    device::kernel kernel;
    launch what;  // its operands from the submission's start on
    operand operands[launch::most_operands];
    bool behind_barrier = false;    // all steps before it have ended when it starts
    std::uint64_t first_group = 0;  // groups of its phase that come before its own

    // For its submission, and the back end that runs it.
    record* by = nullptr;
    step* next = nullptr;
    std::int64_t due = INT64_MAX;
    std::uint8_t verdict = 0;

    std::uint64_t groups() const {
        return std::uint64_t{what.groups.x} * what.groups.y * what.groups.z;
    }
    std::span<const operand> all_operands() const { return {operands, what.reads + what.writes}; }
};

/// An edge to a submission that comes after another one of this processor.
struct order_edge {
    record* successor = nullptr;
    order_edge* next = nullptr;
};

/// What of a record begins anew with each submission.
struct record_facts {
    stage at = stage::unused;
    ending how = ending::open;
    bool native = true;        // it runs as the processor runs it, not on the cores instead
    bool has_started = false;  // the processor has it, or had it last
    bool is_unwanted = false;  // cancelled in flight: it is not run again
    bool asked_early = false;  // by the core, before it had an id
    bool idempotent = false;
    std::uint8_t reruns_left = 0;
    std::uint8_t verdict = 0;  // the back end's
    priority_level level = priority_level::normal;
    std::uint32_t starts = 0;
    std::uint64_t number = 0;  // of its processor, from 1
    completion_id done;
    task_id task;
    std::int64_t deadline = INT64_MAX;
    std::int64_t due = INT64_MAX;  // the back end's
    // Its latest start, by active_policy::now(), and only where an observer listens.
    std::int64_t passed_at = 0;
    /// When the processor began with it and ended it. 0: the back end does not say so, and the
    /// times of start() and ended() count.
    std::int64_t begun = 0, finished = 0;
    std::int64_t clock_error = 0;  // of both, if another clock than ours has them
    /// All that it reads had come, and what it wrote began to leave. 0: not known.
    std::int64_t arrived = 0, left = 0;
    std::source_location where;
    const char* name = "";
    std::size_t bytes = 0;       // of all operands
    std::int64_t submitted = 0;  // by active_policy::now(); with processor_options::latencies
    std::span<step> steps;       // its own one, or those of its sequence
    std::span<buffer_use> uses;
    unsigned copies = 0;  // of these: buffers that lie on the cores, when it was started last
    sequence_state* sequence = nullptr;
    // Steps between two barriers run at a time.
    std::size_t phase_begin = 0, phase_end = 0;
    std::size_t running = 0;  // steps of the phase, for a back end that runs them one by one

    std::uint32_t waits_for = 0;  // predecessors, and one while it is made
    record* first_of_task = nullptr;
    std::uint32_t unsettled = 0;  // of those whose first_of_task this is
    unsigned predecessor_count = 0;
    unsigned other_count = 0;
    order_edge* successors = nullptr;
    record* next_visit = nullptr;  // of that walk; or of those that have just ended
    std::uint64_t visit = 0;       // the walk that has come by

    record *next = nullptr, *before = nullptr;  // in the list of its stage
    record* next_unsettled = nullptr;
    // Known before it could start: failed, or cancelled as what it comes after was.
    ending fate = ending::open;
    int code = 0;  // with a failure, and `sentence`
    std::exception_ptr error;
};

struct record : record_facts {
    record(processor_state& s, std::uint32_t i) : of(s), index(i) {}

    processor_state& of;
    const std::uint32_t index;
    step only;
    buffer_use own_uses[launch::most_operands];
    order_edge edges[submission::most_after];  // the facts say how many are in use
    record* predecessors[submission::most_after];
    task_id
        others[submission::most_after];  // that pass on the end of what it comes after elsewhere
    char sentence[192];

    /// From its first step on; then next_phase().
    void begin() {
        phase_end = 0;
        next_phase();
    }
    /// False: all have run.
    bool next_phase() {
        if (phase_end == steps.size()) return false;
        phase_begin = phase_end++;
        while (phase_end != steps.size() && !steps[phase_end].behind_barrier) ++phase_end;
        quarter_shift_ = std::max(static_cast<int>(std::bit_width(groups() - 1)), 2) - 2;
        for (quarter& q : done_) q.groups.store(0, relaxed);
        return true;
    }
    std::span<step> phase() const { return steps.subspan(phase_begin, phase_end - phase_begin); }
    /// In the phase.
    std::uint64_t groups() const {
        const step& last = steps[phase_end - 1];
        return last.first_group + last.groups();
    }
    step& step_with(std::uint64_t group) const {
        const std::span<step> all = phase();
        if (all.size() == 1) return all.front();
        return *std::prev(
            std::upper_bound(all.begin(), all.end(), group,
                             [](std::uint64_t g, const step& s) { return g < s.first_group; }));
    }
    /// Groups that have run are counted by quarters, as neighbours are mostly run by one thread.
    /// relaxed: who reads it comes after all groups, by the task that they are.
    void count_group(std::uint64_t which) {
        done_[which >> quarter_shift_].groups.fetch_add(1, relaxed);
    }
    bool all_groups_ran() const {
        std::uint64_t sum = 0;
        for (const quarter& q : done_) sum += q.groups.load(relaxed);
        return sum == groups();
    }

private:
    struct alignas(64) quarter {
        atomic<std::uint64_t> groups{0};
    };
    int quarter_shift_ = 0;
    quarter done_[4];
};
static_assert(sizeof(record) <= 3'072, "the manual says what a record takes");

}  // namespace device::detail
BRAID_NAMESPACE_END
