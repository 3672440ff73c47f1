#pragma once
// A processor whose units have a small memory of their own and reach no other: a kernel gets copies
// of what it names, and what it writes is copied back. So a kernel that runs here touches nothing
// but its operands, as on the units of the Cell processor, signal processors and many accelerators.

#include "braid/base/index_range.hpp"
#include "braid/device/processor.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// A number outside its range counts as the nearest inside, and is reported to the scheduler's log.
struct local_store_options {
    static constexpr unsigned most_units = 64;
    static constexpr std::size_t least_store_bytes = std::size_t{4} << 10;
    static constexpr std::size_t most_store_bytes = std::size_t{1} << 30;

    unsigned units = 1;                                // 1..most_units, each a thread of its own
    std::size_t store_bytes = std::size_t{256} << 10;  // least_store_bytes..most_store_bytes
    /// What is copied arrives so much later, each way. 0 and above.
    nanoseconds transfer_latency = {};
    std::size_t stack_bytes = 0;  // as thread_options::stack_bytes
    /// For tests: a kernel that touches what it does not name, a byte behind an operand, or one
    /// that it only reads to write it, ends the process with one sentence about kernel, byte and
    /// operand; a write before an operand is reported. One unit, and one such processor in a
    /// process; it hides no transfer, and an operand begins at a multiple of the power of two in
    /// its size instead of 16.
    bool strict = false;
};

/// All groups of a submission run on one unit, one after the other; while they run, what the unit's
/// next submission names is brought into the other half of its store. A kernel runs in no task: it
/// may wait, and spawn, as a thread of the program.
///
/// max_in_flight counts as three for each unit at most: one that is brought in, one that runs, one
/// that is copied back. Units whose thread or store the system refuses are logged and missing;
/// without any of them submissions run on the cores.
class local_store : public processor {
public:
    /// A range of items, cut.
    struct pieces {
        std::size_t items = 0;     // of the whole range
        std::size_t in_a_job = 0;  // at most
        std::size_t jobs = 0;      // 0: not even one item fits, or there is none

        index_range operator[](std::size_t job) const {
            const std::size_t begin = job * in_a_job;
            return {begin, begin + (in_a_job < items - begin ? in_a_job : items - begin)};
        }
    };

    BRAID_API explicit local_store(scheduler& s, const local_store_options& store = {},
                                   const processor_options& options = {});

    /// The operands of one submission have so many bytes together, each rounded up to 16; one with
    /// more is refused, and reported. It is half of a store.
    std::size_t most_bytes() const { return most_bytes_; }
    /// Into jobs that fit, as few as there can be. An item has so many bytes in all operands
    /// together; `shared_bytes`: each job has them besides.
    BRAID_API pieces split(std::size_t bytes_per_item, std::size_t items,
                           std::size_t shared_bytes = 0) const;

private:
    std::size_t most_bytes_ = 0;
};

}  // namespace device
BRAID_NAMESPACE_END
