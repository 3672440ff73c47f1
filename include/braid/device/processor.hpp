#pragma once
// A processor other than the scheduler's cores, real or emulated. A task submits work to the
// processor, and then its body returns. The task is complete when the processor has finished the
// work. No thread waits for the processor.
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

/// A value outside its range is clamped to the range, and the scheduler logs this.
struct processor_options {
    static constexpr std::uint32_t most_in_flight = 65'536;

    /// A name for messages. It must outlive the processor. If it is null, the name of the
    /// processor's class is used, such as "cpu".
    const char* name = nullptr;
    std::uint32_t max_in_flight = 64;  // 1..most_in_flight
    /// The limit for the bytes of all operands of the submissions in flight. A submission that
    /// exceeds the limit by itself runs alone. The range is 1 and above.
    std::size_t max_bytes = std::size_t{256} << 20;
    /// A processor is considered lost if it is busy but finishes nothing for this long. The range
    /// is above 0. The processors `cpu` and `local_store` are never considered lost.
    nanoseconds hang_after = seconds(2);
    /// How long the processor stays unused after a loss. The time is doubled after a second loss
    /// within a minute. The range is 0 and above.
    nanoseconds back_off = milliseconds(10);
    /// If set, processor_report includes latency_p50 and latency_p99. This costs two more clock
    /// reads for each submission.
    bool latencies = false;
    std::source_location where = std::source_location::current();
};

/// The counts of a processor since its construction, and its current state. When no submission
/// waits, is queued or is in flight, the count `submitted` equals the sum of the counts `completed`
/// to `cancelled`. At that moment, `started + unstarted` equals `submitted + rerun + retried`,
/// because each start has ended.
struct processor_report {
    std::uint64_t submitted = 0;
    // The ends of submissions. Each submission ends in exactly one of these five ways.
    std::uint64_t completed = 0;
    std::uint64_t moved_to_cores = 0;  // completed on the cores instead of the processor
    std::uint64_t failed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;

    std::uint64_t started = 0;          // starts passed to the processor
    std::uint64_t rerun = 0;            // submissions queued again after a loss
    std::uint64_t refused = 0;          // starts refused by the processor for lack of memory
    std::uint64_t retried = 0;          // refused starts that were queued again
    std::uint64_t refused_buffers = 0;  // buffers on the cores because the processor had no memory
    std::uint64_t unstarted = 0;        // submissions that ended before a first or next start
    std::uint64_t late_ends = 0;        // ends of submissions that had timed out before
    std::uint64_t losses = 0;
    /// How many submissions made the cores react when they ended. A submission is counted if a
    /// waiter or a successor on the cores depends on it. The last submission of a task is counted,
    /// too, if a waiter or a successor depends on the task. In a chain of submissions, only the
    /// submission that a core waits for is counted. A wait for a scope is not counted.
    std::uint64_t waking_edges = 0;
    bool dead = false;
    std::uint32_t queued = 0, most_queued = 0;
    std::uint32_t in_flight = 0, most_in_flight = 0;
    std::size_t buffer_bytes = 0, most_buffer_bytes = 0;  // without imported memory
    /// The largest error so far in the times at which submissions began and ended on the processor.
    /// It is 0 if the processor has no clock of its own, or if no observer has received these
    /// times.
    nanoseconds clock_error{};
    /// The time from submit() to the end of a submission, for submissions that completed on the
    /// processor or on the cores. A value is at most an eighth too large. Both values are 0 if
    /// processor_options::latencies is off, or if no submission has completed.
    nanoseconds latency_p50, latency_p99;
};

/// Any thread may call all functions. A processor must be created before the tasks that submit to
/// it. It must be destroyed after these tasks and before the scheduler. A processor allocates a
/// record of 3 KiB for each submission whose task is open. It keeps the records and uses them again
/// for later submissions. The memory is allocated through the scheduler's hooks
/// (memory_tag::device). Misuse calls the scheduler's assertion handler
/// (scheduler_options::assertion).
class processor {
public:
    processor(const processor&) = delete;
    processor& operator=(const processor&) = delete;

    /// Submits work for the running task. The task is complete only when the submission has ended.
    /// submit() never waits. A submission that exceeds max_in_flight or max_bytes is queued by
    /// priority and, at equal priority, by age. If the submission is refused, submit() starts
    /// nothing and returns an empty ticket. A submission is refused on misuse, which calls the
    /// assertion handler. A submission is refused, too, if there is no memory, and the task then
    /// fails.
    ///
    /// If the processor has no memory for the submission, the submission is tried again when
    /// another submission has ended. If no other submission is in flight, this submission runs on
    /// the cores. A submission is cancelled when the scope of its task is cancelled. A cancelled
    /// submission that is not yet in flight ends at once. A cancelled submission that is in flight
    /// ends when the processor has ended it.
    ///
    /// In a child of fork(), tasks of a scheduler that was created in the child may submit. The
    /// calling thread runs the submission at once, on the cores. A submission is not run if one of
    /// its buffers is in the processor's own memory, and the scheduler logs this. Submissions of
    /// other tasks are refused.
    BRAID_API ticket submit(task_context& task, const submission& what);
    BRAID_API ticket submit(task_context& task, sequence& all, const sequence_order& order = {});
    /// Returns true if the submission has ended in any of the ways that processor_report lists. The
    /// ticket may come from any processor of the same scheduler.
    BRAID_API bool ended(const ticket& t) const;

    /// Allocates a buffer, filled with 0. If the processor has no memory for the buffer, the buffer
    /// is allocated in the memory of the cores. Each start of a submission that uses such a buffer
    /// then allocates memory of the processor for a copy. If the memory of the cores is exhausted,
    /// too, buffer() returns an empty handle, and the scheduler logs the sizes. On misuse, buffer()
    /// calls the assertion handler and returns an empty handle.
    BRAID_API device::buffer buffer(const buffer_options& options);
    /// Makes a buffer of memory that the caller owns. The contents of the memory are kept. A
    /// processor that can access the memory in place does so. Other processors copy the memory, as
    /// they copy all caller-owned memory.
    ///
    /// Returns an empty handle if there is no memory for the handle. On misuse, import_buffer()
    /// calls the assertion handler and returns an empty handle. An overlap with the memory of
    /// another buffer is misuse. Returns an empty handle if the processor is lost during the call,
    /// or if a lost device may still write to the memory. In these two cases the memory can be
    /// imported later.
    BRAID_API device::buffer import_buffer(const import_options& options);
    /// Returns the bytes of the whole buffer. The bytes may be accessed until a submission uses the
    /// buffer. Returns an empty span if a submission that has not ended uses the buffer, or if the
    /// handle is stale. Both cases are misuse and call the assertion handler.
    template <class T>
    std::span<T> map(device::buffer b) {
        static_assert(std::is_trivially_copyable_v<T>, "buffers hold plain data");
        const std::span<std::byte> bytes = map_bytes(b);
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// Releases the buffer. The memory is freed when no submission uses the buffer any more.
    /// Returns false if the handle is already stale.
    BRAID_API bool release(device::buffer b);

    /// Allows use of the processor again after it was marked dead. A processor is marked dead when
    /// it is lost three times within a minute. Returns false if the processor is not dead.
    BRAID_API bool revive();
    BRAID_API const char* name() const;
    BRAID_API processor_report report() const;

protected:
    processor() = default;
    /// Cancels queued submissions, then waits for submissions in flight. The waiting thread helps.
    BRAID_API ~processor();
    /// Starts the processor and takes ownership of the back end. If `how` is null because the back
    /// end could not be allocated, start() does nothing.
    BRAID_API void start(scheduler& s, const processor_options& options, detail::back_end* how);

private:
    friend class detail::processor_state;
    BRAID_API std::span<std::byte> map_bytes(device::buffer b);

    // The pointer is null if there was no memory, or if the scheduler was destroyed first.
    detail::processor_state* state_ = nullptr;
};

}  // namespace device
BRAID_NAMESPACE_END
