#pragma once
// A sequence combines many kernels into one submission. A sequence is built once and may be
// submitted many times.
//
//   braid::device::sequence crowd(gpu, "crowd");
//   crowd.add({.kernel = skin, .reads = {mesh}, .writes = {posed}, .groups = {blocks}});
//   crowd.add({.kernel = bounds, .reads = {posed}, .writes = {boxes}, .groups = {blocks}});
//   … gpu.submit(task, crowd);

#include "braid/device/submission.hpp"

#include <cstddef>
#include <initializer_list>
#include <source_location>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device {

class processor;

namespace detail {
class sequence_state;
}

/// Options for the submission of a sequence. Each member has the same meaning as the member of
/// `submission` with the same name.
struct sequence_order {
    std::initializer_list<ticket> after = {};
    nanoseconds deadline = no_limit;
    unsigned retry = 0;
    bool idempotent = false;
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

/// Any thread may use a sequence, but only one thread at a time. A sequence must be destroyed
/// before its processor. The kernels and operands of the steps must stay valid and unchanged from
/// submit() until the submission has ended, as for a single kernel. A call that would change the
/// sequence during this time is refused, and the assertion handler is called.
///
/// Steps run concurrently if their operands allow it. A step needs a barrier before it if it reads
/// an operand that an earlier step writes, or writes an operand that an earlier step uses. A step
/// after a barrier starts when all steps before the barrier have ended. A unit of a local_store
/// runs its steps one after the other.
class sequence {
public:
    static constexpr std::size_t most_steps = 65'536;

    struct step {
        const device::kernel& kernel;
        std::initializer_list<input> reads = {};
        std::initializer_list<output> writes = {};
        group_counts groups = {};
        std::span<const std::byte> constants = {};
    };

    /// The name is for messages and must outlive the sequence.
    BRAID_API explicit sequence(processor& of, const char* name = "sequence");
    BRAID_API ~sequence();
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;

    /// Adds a step. Returns false if there is no memory. On misuse, add() calls the assertion
    /// handler and returns false. In both cases the step is not added. A step occupies 1.2 KiB. The
    /// sequence keeps this memory until it is destroyed.
    BRAID_API bool add(const step& what);
    /// Like add(const step&), but for a number of operands that is known only at run time.
    BRAID_API bool add(const device::kernel& kernel, std::span<const input> reads,
                       std::span<const output> writes, group_counts groups = {},
                       std::span<const std::byte> constants = {});
    /// Reserves memory for `steps` steps of three operands each, so that add() allocates nothing
    /// for these steps. Together, the steps may use at most `steps` separate ranges of buffers.
    /// Returns false if there is no memory, or if a submission of the sequence has not ended.
    BRAID_API bool reserve(std::size_t steps);
    /// Removes all steps. Returns false if a submission of the sequence has not ended.
    BRAID_API bool clear();

    BRAID_API std::size_t size() const;
    /// Returns the number of phases. A phase is a series of steps without a barrier between them,
    /// so the number of phases is the number of barriers plus 1. The number is 0 if the sequence
    /// has no steps.
    BRAID_API std::size_t phases() const;

private:
    friend class detail::sequence_state;

    // The pointer is null if there was no memory, or if the processor was destroyed first.
    detail::sequence_state* state_ = nullptr;
};

}  // namespace device
BRAID_NAMESPACE_END
