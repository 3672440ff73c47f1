#pragma once
// Many kernels as one submission, made once and submitted again and again.
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

/// How a sequence is submitted: each as the member of submission with that name.
struct sequence_order {
    std::initializer_list<ticket> after = {};
    nanoseconds deadline = no_limit;
    unsigned retry = 0;
    bool idempotent = false;
    priority_level priority = priority_level::normal;
    std::source_location where = std::source_location::current();
};

/// Any thread, one at a time. Destroyed before its processor. What its steps name stays as it is
/// from submit() until that has ended, as with a submission; the sequence itself, too: what changes
/// it meanwhile is refused, and reported.
///
/// Steps run beside each other as far as their operands allow: a step that reads what an earlier
/// one writes, or writes what an earlier one names, starts when all steps before it have ended. A
/// local_store runs them one after the other.
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

    /// The name is for messages and outlives the sequence.
    BRAID_API explicit sequence(processor& of, const char* name = "sequence");
    BRAID_API ~sequence();
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;

    /// False: no memory, and nothing was added; or a mistake, which is reported. 1.2 KiB a step,
    /// kept until the end.
    BRAID_API bool add(const step& what);
    /// For operands of which the program knows only as it runs how many they are.
    BRAID_API bool add(const device::kernel& kernel, std::span<const input> reads,
                       std::span<const output> writes, group_counts groups = {},
                       std::span<const std::byte> constants = {});
    /// Nothing is allocated for so many steps of three operands.
    BRAID_API bool reserve(std::size_t steps);
    BRAID_API bool clear();

    BRAID_API std::size_t size() const;
    /// A step more than there are barriers.
    BRAID_API std::size_t phases() const;

private:
    friend class detail::sequence_state;

    detail::sequence_state* state_ = nullptr;  // null: no memory, or its processor has ended
};

}  // namespace device
BRAID_NAMESPACE_END
