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

/// Names one submission of one processor for ever: plain data. It is stale when its task is
/// complete. Nobody knows then how the submission ended but those who came after the task or waited
/// for it; to come after a stale one is to come after nothing.
struct ticket {
    completion_id done;           // ends with it
    std::uint64_t scheduler = 0;  // no two of a process have one number
    std::uint32_t processor = 0;  // nor any two of these
    std::uint32_t index = 0;

    constexpr explicit operator bool() const { return static_cast<bool>(done); }
    friend constexpr auto operator<=>(const ticket&, const ticket&) = default;
};

struct submission {
    static constexpr std::size_t most_constants = detail::launch::most_constants;
    static constexpr std::size_t most_operands = detail::launch::most_operands;
    static constexpr std::size_t most_after = 8;

    const device::kernel& kernel;
    std::initializer_list<input> reads = {};    // together most_operands at most
    std::initializer_list<output> writes = {};  // none of them twice
    group_counts groups = {};
    std::span<const std::byte> constants = {};  // most_constants bytes at most; copied
    /// The submission starts when these have succeeded, and fails when one of them does. Those of
    /// the same processor go on without a core in between. A stale one, and one of another
    /// processor that has ended, counts as succeeded, as ids of tasks do. One of another
    /// scheduler's processor is a mistake, which is reported, and nothing is submitted.
    std::initializer_list<ticket> after = {};
    /// From now on. Its task fails with a completion_error of completion_error::deadline_passed
    /// then; what it uses stays taken until the processor has let go of it.
    nanoseconds deadline = no_limit;
    /// So many times it is run again if the processor is lost, 0..255, provided that it is
    /// idempotent and uses no buffers, which are lost, too.
    unsigned retry = 0;
    bool idempotent = false;  // may run twice, and in part
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

template <class T>
std::span<const std::byte> bytes_of(const T& constants) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= submission::most_constants,
                  "constants are plain data of 128 bytes at most");
    return std::as_bytes(std::span<const T, 1>(&constants, 1));
}

/// The code of the completion_error that a task fails with whose submission did.
struct error_code {
    static constexpr int out_of_memory = 0x42440001;  // neither there nor for the cores
    static constexpr int lost = 0x42440002;           // the processor, with what was in flight
    static constexpr int stale = 0x42440003;          // a buffer, when it was to start
    static constexpr int predecessor = 0x42440004;    // of `after` has failed
};

}  // namespace device
BRAID_NAMESPACE_END
