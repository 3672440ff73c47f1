#pragma once
// A piece of work for a processor, and how it ends.

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

/// Names one submission of one processor. A ticket is plain data, and its value is never used
/// again. It becomes stale when the task of the submission is complete. From then on only the
/// successors and waiters of that task know how the submission ended. A submission that comes after
/// a stale ticket comes after nothing.
struct ticket {
    completion_id done;           // ends with the submission
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
    std::initializer_list<input> reads = {};    // with `writes` at most most_operands
    std::initializer_list<output> writes = {};  // none overlaps another operand
    group_counts groups = {};
    std::span<const std::byte> constants = {};  // most_constants bytes at most; copied
    /// The submission starts when these have succeeded, and fails when one of them fails. No core
    /// is involved between two submissions of the same processor. A ticket counts as succeeded if
    /// it is stale, or if it is of another processor and has ended, as ids of tasks do. A ticket of
    /// another scheduler's processor is a mistake. It is reported, and nothing is submitted.
    std::initializer_list<ticket> after = {};
    /// Counts from submit() on. When it has passed, the task fails with a completion_error whose
    /// code is completion_error::deadline_passed. What the submission uses stays in use until the
    /// processor has let go of it.
    nanoseconds deadline = no_limit;
    /// How many times the submission is run again if the processor is lost, 0..255. This requires
    /// that it is idempotent and uses no buffers, because these are lost with the processor.
    unsigned retry = 0;
    bool idempotent = false;  // may run more than once, and in part
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

template <class T>
std::span<const std::byte> bytes_of(const T& constants) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= submission::most_constants,
                  "constants are plain data of 128 bytes at most");
    return std::as_bytes(std::span<const T, 1>(&constants, 1));
}

/// The codes of the completion_error with which a task fails if its submission fails for one of
/// these reasons.
struct error_code {
    static constexpr int out_of_memory = 0x42440001;  // neither on the processor nor on the cores
    static constexpr int lost = 0x42440002;   // the processor was lost with what was in flight
    static constexpr int stale = 0x42440003;  // a buffer was stale when the submission was to start
    static constexpr int predecessor = 0x42440004;  // a submission in `after` has failed
};

}  // namespace device
BRAID_NAMESPACE_END
