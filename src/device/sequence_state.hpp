#pragma once
// The steps of a sequence. Guarded by its processor's lock.

#include "base/accounted_array.hpp"
#include "braid/device/sequence.hpp"
#include "device/range_set.hpp"

#include <cstddef>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

/// A kernel with what it is given.
struct given {
    const device::kernel& kernel;
    std::span<const input> reads;
    std::span<const output> writes;
    group_counts groups;
    std::span<const std::byte> constants;
};

class sequence_state {
public:
    sequence_state(processor_state& p, sequence& owner, braid::detail::accounted_memory& memory,
                   const char* called)
        : of(p),
          name(called),
          owner_(&owner),
          steps_(memory),
          uses_(memory),
          named_(memory),
          written_(memory) {}

    /// Null: there was no memory for it.
    static sequence_state* of_sequence(const sequence& s);

    processor_state& of;
    const char* const name;
    sequence_state* next = nullptr;  // of its processor
    bool is_submitted = false;

    /// False: no memory.
    bool reserve(std::size_t steps);
    bool add(step& one);
    void clear();

    std::span<step> steps() { return {steps_.begin(), steps_.size()}; }
    /// All buffers, each range once.
    std::span<buffer_use> uses() { return {uses_.begin(), uses_.size()}; }
    std::size_t phases() const { return phases_; }
    std::size_t bytes() const;

    bool has_owner() const { return owner_ != nullptr; }
    void lose_owner() { owner_ = nullptr; }
    /// The processor has ended first.
    void abandon() {
        if (owner_ != nullptr) owner_->state_ = nullptr;
    }

private:
    bool meets_phase(const step& one) const;
    bool note_uses(const step& one);
    bool note_use(const operand& o, bool writes);

    sequence* owner_;
    braid::detail::accounted_array<step, memory_tag::device> steps_;
    braid::detail::accounted_array<buffer_use, memory_tag::device> uses_;
    range_set named_, written_;  // by steps since the last barrier
    std::size_t phases_ = 0;
    std::size_t memory_bytes_ = 0;  // of the program's, all operands
};

}  // namespace device::detail
BRAID_NAMESPACE_END
