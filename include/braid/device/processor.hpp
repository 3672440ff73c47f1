#pragma once
// A processor that is none of the scheduler's cores, or does as if. A task hands work to it and
// returns; the task is complete when the processor is done, and no thread waits meanwhile.
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

/// A number outside its range counts as the nearest inside, and is reported to the scheduler's log.
struct processor_options {
    static constexpr std::uint32_t most_in_flight = 65'536;

    const char* name = nullptr;        // for messages; outlives it. Null: what kind it is
    std::uint32_t max_in_flight = 64;  // 1..most_in_flight
    /// All operands of what is in flight have so many at most; one submission that has more runs
    /// alone. 1..
    std::size_t max_bytes = std::size_t{256} << 20;
    /// Where nothing has ended for that long, though something is in flight, the processor counts
    /// as lost. Above 0.
    nanoseconds hang_after = seconds(2);
    /// After a loss the processor is used again so much later, twice as much after the next one
    /// within a minute. 0 and above.
    nanoseconds back_off = milliseconds(10);
    /// processor_report says how long submissions took, for two more looks at the clock each.
    bool latencies = false;
    std::source_location where = std::source_location::current();
};

/// What a processor has done so far. At rest `submitted` is the sum of those that ended, and each
/// start has come to its end: `started + unstarted == submitted + rerun + retried`.
struct processor_report {
    std::uint64_t submitted = 0;
    // How they ended, each in one way.
    std::uint64_t completed = 0;
    std::uint64_t moved_to_cores = 0;  // completed there, as the processor could not
    std::uint64_t failed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;

    std::uint64_t started = 0;          // handed to the processor
    std::uint64_t rerun = 0;            // after a loss
    std::uint64_t refused = 0;          // by the processor, for memory
    std::uint64_t retried = 0;          // of these: waited in the queue again
    std::uint64_t refused_buffers = 0;  // by the processor, for memory: they lie on the cores
    std::uint64_t unstarted = 0;        // ended without a start, or after the last one was in vain
    std::uint64_t late_ends = 0;        // of what had timed out before
    std::uint64_t losses = 0;
    /// Ends of submissions that something on the cores waits for, or comes after, and of the last
    /// ones of tasks for which it does. In a chain of submissions it is the one that a core waits
    /// for. Who waits for a scope does not count.
    std::uint64_t waking_edges = 0;
    bool dead = false;
    std::uint32_t queued = 0, most_queued = 0;
    std::uint32_t in_flight = 0, most_in_flight = 0;
    std::size_t buffer_bytes = 0, most_buffer_bytes = 0;  // without what was imported
    /// When submissions began and ended there is known to so much, at the worst so far. 0: the
    /// processor has no clock of its own, or nobody has listened who gets these times.
    nanoseconds clock_error{};
    /// From the submit of those that completed to their end, wherever; an eighth too much at most.
    /// 0: processor_options::latencies is off, or none has completed.
    nanoseconds latency_p50, latency_p99;
};

/// Any thread. Created before the tasks that submit to it, destroyed after them and before the
/// scheduler. Memory is that of the scheduler's hooks (memory_tag::device): one record of 3 KiB
/// for each submission whose task is open, kept for the next ones.
class processor {
public:
    processor(const processor&) = delete;
    processor& operator=(const processor&) = delete;

    /// For the running task, which is complete when that is. Never waits: more than max_in_flight
    /// or max_bytes is queued, by priority, then by age. Empty: refused, and nothing was begun; a
    /// mistake is reported, and without memory the task fails, too.
    ///
    /// A processor without memory for it gets it again when something has ended; with nothing left
    /// in flight it runs on the cores. Cancelled with the task's scope: what is queued ends at
    /// once, what is in flight ends as it does.
    ///
    /// In a child of fork() what a task of a scheduler submits that was made there runs on the
    /// cores at once, unless a buffer lies in memory of the processor's own; others are refused.
    BRAID_API ticket submit(task_context& task, const submission& what);
    BRAID_API ticket submit(task_context& task, sequence& all, const sequence_order& order = {});
    /// The submission has ended, in whatever way. Of a processor of the same scheduler.
    BRAID_API bool ended(const ticket& t) const;

    /// Filled with 0. One for which the processor has no memory lies on the cores: a submission
    /// that names it takes memory there for a copy when it starts. Empty: no memory on the cores
    /// either, which is logged with the sizes, or a mistake, which is reported.
    BRAID_API device::buffer buffer(const buffer_options& options);
    /// Memory of the program as a buffer: what is in it stays, and a processor that can reaches it
    /// where it lies. Others copy it as they copy all memory of the program. Empty: as with
    /// buffer(); a buffer has a byte of it already, which is reported; or a processor that was lost
    /// may still write there, so that it can be imported later.
    BRAID_API device::buffer import_buffer(const import_options& options);
    /// The whole buffer, from now until it is used by a submission. Empty, and reported: one that
    /// has not ended uses it, or it is stale.
    template <class T>
    std::span<T> map(device::buffer b) {
        static_assert(std::is_trivially_copyable_v<T>, "buffers hold plain data");
        const std::span<std::byte> bytes = map_bytes(b);
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// False: it is stale already. Its memory goes when no submission uses it any more.
    BRAID_API bool release(device::buffer b);

    /// One that was marked dead, after three losses within a minute, is tried again. False: it is
    /// not dead.
    BRAID_API bool revive();
    BRAID_API const char* name() const;
    BRAID_API processor_report report() const;

protected:
    processor() = default;
    /// Waits for what is in flight, and helps; what is queued is cancelled.
    BRAID_API ~processor();
    /// Takes the back end over. Null: no memory.
    BRAID_API void start(scheduler& s, const processor_options& options, detail::back_end* how);

private:
    friend class detail::processor_state;
    BRAID_API std::span<std::byte> map_bytes(device::buffer b);

    detail::processor_state* state_ = nullptr;  // null: no memory, or the scheduler has ended
};

}  // namespace device
BRAID_NAMESPACE_END
