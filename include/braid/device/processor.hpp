#pragma once
// A processor other than the scheduler's cores, real or imitated. A task submits work to the
// processor and returns. The task is complete when the processor has finished that work, and no
// thread waits meanwhile.
//
//   braid::device::cpu gpu(scheduler);
//   const braid::device::kernel skin{"skin", &skin_group};
//   scheduler.spawn({.name = "skinning", .after = {poses}}, [&](braid::task_context& task) {
//       gpu.submit(task, {.kernel = skin, .reads = {in}, .writes = {out}, .groups = {blocks}});
//   });

#include "braid/core/scheduler.hpp"
#include "braid/device/sequence.hpp"
#include "braid/device/submission.hpp"

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device {

namespace detail {
class processor_state;
class back_end;
}  // namespace detail

/// A value outside its range is clamped to the nearest one inside and reported to the scheduler's
/// log.
struct processor_options {
    static constexpr std::uint32_t most_in_flight = 65'536;

    const char* name = nullptr;        // for messages; outlives the processor; null means its kind
    std::uint32_t max_in_flight = 64;  // 1..most_in_flight
    /// The operands of all submissions in flight have at most this many bytes together. A single
    /// submission with more runs alone. The range is 1 and above.
    std::size_t max_bytes = std::size_t{256} << 20;
    /// The processor counts as lost if nothing has ended for this long although something is in
    /// flight. The range is above 0.
    nanoseconds hang_after = seconds(2);
    /// After a loss the processor is used again only after this time, and after twice this time if
    /// the loss is the second within a minute. The range is 0 and above.
    nanoseconds back_off = milliseconds(10);
    /// If set, processor_report also says how long submissions took. This costs two more reads of
    /// the clock for each submission.
    bool latencies = false;
    std::source_location where = std::source_location::current();
};

/// What a processor has done so far. When no submission waits, is queued or is in flight,
/// `submitted` is the sum of the five counts of ends, and each start has ended:
/// `started + unstarted == submitted + rerun + retried`.
struct processor_report {
    std::uint64_t submitted = 0;
    // How submissions ended. Each ends in exactly one of these ways.
    std::uint64_t completed = 0;
    std::uint64_t moved_to_cores = 0;  // completed on the cores instead of the processor
    std::uint64_t failed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;

    std::uint64_t started = 0;          // starts passed to the processor
    std::uint64_t rerun = 0;            // submissions queued again after a loss
    std::uint64_t refused = 0;          // starts refused by the processor for lack of memory
    std::uint64_t retried = 0;          // refused starts that were queued again
    std::uint64_t refused_buffers = 0;  // refused for lack of memory, so on the cores
    std::uint64_t unstarted = 0;        // submissions ended without a start, or after one in vain
    std::uint64_t late_ends = 0;        // ends of submissions that had timed out before
    std::uint64_t losses = 0;
    /// How many submissions ended that something on the cores waited for or came after. The last
    /// submission of a task counts, too, if something waited for or came after that task. In a
    /// chain of submissions only the one that a core waits for counts. Waiters of a scope do not
    /// count.
    std::uint64_t waking_edges = 0;
    bool dead = false;
    std::uint32_t queued = 0, most_queued = 0;
    std::uint32_t in_flight = 0, most_in_flight = 0;
    std::size_t buffer_bytes = 0, most_buffer_bytes = 0;  // without imported memory
    /// The largest error so far of the times at which submissions began and ended on the
    /// processor. It is 0 if the processor has no clock of its own, or if no observer has received
    /// these times.
    nanoseconds clock_error{};
    /// The time from submit() to the end, of submissions that completed on the processor or on the
    /// cores. A value is at most an eighth too large. Both are 0 if processor_options::latencies is
    /// off, or if no submission has completed.
    nanoseconds latency_p50, latency_p99;
};

/// Any thread may call all functions. A processor is created before the tasks that submit to it. It
/// is destroyed after these tasks and before the scheduler. Its memory comes from the scheduler's
/// hooks (memory_tag::device): a record of 3 KiB for each submission whose task is open. Records
/// are kept for later submissions.
class processor {
public:
    processor(const processor&) = delete;
    processor& operator=(const processor&) = delete;

    /// Submits work for the running task, which is complete only when the submission has ended.
    /// Never waits: what exceeds max_in_flight or max_bytes is queued, by priority, then by age.
    /// Returns an empty ticket if the submission was refused and nothing was begun. A mistake is
    /// reported. Without memory the task fails, too.
    ///
    /// If the processor has no memory for the submission, it is tried again when something has
    /// ended. It runs on the cores if nothing is left in flight. A submission is cancelled with its
    /// task's scope. It ends at once if it is not in flight yet. Otherwise it ends when the
    /// processor has ended it.
    ///
    /// In a child of fork(), a task of a scheduler that was made in the child may submit. The
    /// calling thread runs the submission at once, on the cores. If one of its buffers lies in
    /// memory of the processor's own, the submission is not run, which is logged. Submissions of
    /// other tasks are refused.
    BRAID_API ticket submit(task_context& task, const submission& what);
    BRAID_API ticket submit(task_context& task, sequence& all, const sequence_order& order = {});
    /// Returns true if the submission has ended, in whatever way. The ticket may be of any
    /// processor of the same scheduler.
    BRAID_API bool ended(const ticket& t) const;

    /// Makes a buffer, filled with 0. If the processor has no memory for it, the buffer lies on the
    /// cores, and a submission that names it takes memory of the processor for a copy when it
    /// starts. Returns an empty handle if the cores have no memory either, which is logged with the
    /// sizes, or after a mistake, which is reported.
    BRAID_API device::buffer buffer(const buffer_options& options);
    /// Makes memory of the program a buffer. Its contents stay. A processor that can access the
    /// memory in place does so. Others copy it, as they copy all memory of the program. Returns an
    /// empty handle in the cases of buffer(). Returns one also if another buffer has a byte of the
    /// memory already, which is reported, or if a device that was lost may still write there. In
    /// that last case the memory can be imported later.
    BRAID_API device::buffer import_buffer(const import_options& options);
    /// Returns the bytes of the whole buffer. They may be accessed until a submission uses the
    /// buffer. Returns an empty span, and reports it, if a submission that has not ended uses the
    /// buffer, or if the handle is stale.
    template <class T>
    std::span<T> map(device::buffer b) {
        static_assert(std::is_trivially_copyable_v<T>, "buffers hold plain data");
        const std::span<std::byte> bytes = map_bytes(b);
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// Releases the buffer. Its memory is freed when no submission uses it any more. Returns false
    /// if the handle is stale already.
    BRAID_API bool release(device::buffer b);

    /// Uses the processor again after it was marked dead, which happens after three losses within
    /// a minute. Returns false if it is not dead.
    BRAID_API bool revive();
    BRAID_API const char* name() const;
    BRAID_API processor_report report() const;

protected:
    processor() = default;
    /// Cancels what is queued, then waits for what is in flight and helps meanwhile.
    BRAID_API ~processor();
    /// Takes ownership of the back end. A null `how` means that there was no memory for it.
    BRAID_API void start(scheduler& s, const processor_options& options, detail::back_end* how);

private:
    friend class detail::processor_state;
    BRAID_API std::span<std::byte> map_bytes(device::buffer b);

    // The pointer is null if there was no memory, or if the scheduler has ended.
    detail::processor_state* state_ = nullptr;
};

}  // namespace device
BRAID_NAMESPACE_END
