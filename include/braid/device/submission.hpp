#pragma once
// Declares a submission, which is a piece of work for a processor, its ticket, and the error codes
// of its failures.

#include "braid/base/time.hpp"
#include "braid/core/completion.hpp"
#include "braid/device/buffer.hpp"
#include "braid/device/kernel.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device {

/// Identifies one submission of one processor. A ticket is plain data, and its value is never used
/// again. A ticket becomes stale when the task of the submission is complete. After that, the
/// processor may forget how the submission ended, and only the successors and waiters of the task
/// are guaranteed to know it. A stale ticket in submission::after has no effect if the processor
/// has forgotten that the submission failed.
struct ticket {
    completion_id done;           // settled when the submission ends
    std::uint64_t scheduler = 0;  // the scheduler's number, unique in the process
    std::uint32_t processor = 0;  // the processor's number, unique in the process
    std::uint32_t index = 0;

    constexpr explicit operator bool() const { return static_cast<bool>(done); }
    friend constexpr auto operator<=>(const ticket&, const ticket&) = default;
};

struct submission {
    static constexpr std::size_t most_constants = detail::launch::most_constants;
    static constexpr std::size_t most_operands = detail::launch::most_operands;
    static constexpr std::size_t most_after = 8;

    const device::kernel& kernel;
    std::initializer_list<input> reads = {};    // with `writes` at most most_operands in total
    std::initializer_list<output> writes = {};  // an output must not overlap another operand
    group_counts groups = {};
    std::span<const std::byte> constants = {};  // at most most_constants bytes; copied
    /// The tickets of the predecessors, at most most_after. The submission starts when all
    /// predecessors have succeeded, and fails if one of them fails. Between two submissions to the
    /// same processor, no core is involved. The failure of a predecessor may have been forgotten if
    /// its ticket is stale, or if the predecessor was submitted to another processor and has ended.
    /// A predecessor whose failure was forgotten is treated as succeeded, like a task whose failure
    /// was forgotten (see task_state). If a ticket belongs to a processor of another scheduler,
    /// submit() calls the assertion handler and submits nothing.
    std::initializer_list<ticket> after = {};
    /// The time that the submission may take, measured from submit(). If the submission takes
    /// longer, the task fails with a completion_error whose code is
    /// completion_error::deadline_passed. The operands of the submission stay in use until the
    /// processor has released them.
    nanoseconds deadline = no_limit;
    /// How many times the submission is run again if the processor is lost, 0..255. A retry
    /// requires that the submission is idempotent and uses no buffers, because buffers are lost
    /// with the processor.
    unsigned retry = 0;
    bool idempotent = false;  // the submission may run more than once, and may run partially
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

template <class T>
std::span<const std::byte> bytes_of(const T& constants) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= submission::most_constants,
                  "constants are plain data of 128 bytes at most");
    return std::as_bytes(std::span<const T, 1>(&constants, 1));
}

/// The codes of completion_error for failed submissions. If a submission fails for one of these
/// reasons, its task fails with a completion_error that has the code.
struct error_code {
    static constexpr int out_of_memory = 0x42440001;  // no memory on the processor or on the cores
    static constexpr int lost = 0x42440002;   // the processor was lost during the submission
    static constexpr int stale = 0x42440003;  // a buffer was stale when the submission started
    static constexpr int predecessor = 0x42440004;  // a submission in `after` has failed
};

}  // namespace device
BRAID_NAMESPACE_END
