#pragma once
// A sequence is many kernels as one submission. It is made once and may be submitted many times.
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

/// How a sequence is submitted. Each member means the same as the member of submission with that
/// name.
struct sequence_order {
    std::initializer_list<ticket> after = {};
    nanoseconds deadline = no_limit;
    unsigned retry = 0;
    bool idempotent = false;
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

/// Any thread may call, one at a time. A sequence is destroyed before its processor. What its steps
/// name must stay valid and unchanged from submit() until the submission has ended, as with a
/// single kernel. A call that would change the sequence meanwhile is refused and reported.
///
/// Steps run concurrently as far as their operands allow. A step that reads what an earlier step
/// writes, or writes what an earlier step names, starts when all steps before it have ended. One
/// unit of a local_store runs its steps one after the other.
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

    /// Adds a step. Returns false if nothing was added: there was no memory, or the step is a
    /// mistake, which is reported. A step takes 1.2 KiB, which the sequence keeps until it is
    /// destroyed.
    BRAID_API bool add(const step& what);
    /// Like add(const step&), for a number of operands that is known only at run time.
    BRAID_API bool add(const device::kernel& kernel, std::span<const input> reads,
                       std::span<const output> writes, group_counts groups = {},
                       std::span<const std::byte> constants = {});
    /// Reserves memory so that add() allocates nothing for this many steps of three operands each,
    /// if these use at most `steps` separate ranges of buffers. Returns false if there is no
    /// memory, or if the sequence must not change now.
    BRAID_API bool reserve(std::size_t steps);
    /// Removes all steps. Returns false if the sequence must not change now.
    BRAID_API bool clear();

    BRAID_API std::size_t size() const;
    /// Returns the number of phases. A phase is the steps between two barriers, so there is one
    /// more than there are barriers, or 0 without a step.
    BRAID_API std::size_t phases() const;

private:
    friend class detail::sequence_state;

    // The pointer is null if there was no memory, or if the processor has ended.
    detail::sequence_state* state_ = nullptr;
};

}  // namespace device
BRAID_NAMESPACE_END
