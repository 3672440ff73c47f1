#pragma once
// A processor whose units have a small memory of their own and reach no other memory. A kernel gets
// copies of what it names, and what it writes is copied back. A kernel that runs here therefore
// touches nothing but its operands, as on the units of the Cell processor, on signal processors and
// on many accelerators.

#include "braid/base/index_range.hpp"
#include "braid/device/processor.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// A value outside its range is clamped to the nearest one inside and reported to the scheduler's
/// log.
struct local_store_options {
    static constexpr unsigned most_units = 64;
    static constexpr std::size_t least_store_bytes = std::size_t{4} << 10;
    static constexpr std::size_t most_store_bytes = std::size_t{1} << 30;

    unsigned units = 1;                                // 1..most_units, each with its own thread
    std::size_t store_bytes = std::size_t{256} << 10;  // least_store_bytes..most_store_bytes
    /// What is copied arrives this much later, in each direction. The range is 0 and above.
    nanoseconds transfer_latency = {};
    std::size_t stack_bytes = 0;  // see thread_options::stack_bytes
    /// Strict mode is for tests. A kernel ends the process if it touches what it does not name,
    /// touches a byte behind an operand, or writes an operand that it only reads. One sentence then
    /// names the kernel, the byte and the operand. A write before an operand is reported when the
    /// kernel has ended. A strict processor has one unit, and a process has one strict processor.
    /// It hides no transfer behind a kernel. An operand begins at a multiple of the largest power
    /// of two that divides its size, instead of at a multiple of 16.
    bool strict = false;
};

/// All groups of a submission, or of one step of a sequence, run on one unit, one after the other.
/// Meanwhile the operands of the unit's next submission are copied into the other half of its
/// store. A kernel runs in no task. It may wait and spawn like a thread of the program.
///
/// max_in_flight is limited to three for each unit: one that is brought in, one that runs, and one
/// that is copied back. If the system refuses the thread or the store of a unit, this is logged and
/// the processor goes on without that unit. Without any unit, submissions run on the cores.
class local_store : public processor {
public:
    /// A range of items that is cut into jobs.
    struct pieces {
        std::size_t items = 0;     // in the whole range
        std::size_t in_a_job = 0;  // items in each job, at most
        std::size_t jobs = 0;      // 0 if not even one item fits, or if `items` is 0

        index_range operator[](std::size_t job) const {
            const std::size_t begin = job * in_a_job;
            return {begin, begin + (in_a_job < items - begin ? in_a_job : items - begin)};
        }
    };

    BRAID_API explicit local_store(scheduler& s, const local_store_options& store = {},
                                   const processor_options& options = {});

    /// Returns how many bytes the operands of one submission, or of one step of a sequence, may
    /// have together: half of a store. Each operand counts with its size rounded up to 16 bytes. A
    /// submission with more is refused and reported.
    std::size_t most_bytes() const { return most_bytes_; }
    /// Cuts a range of items into jobs that fit, as few as possible if each job has 16 operands
    /// that are rounded up. `bytes_per_item` is what an item takes in all operands together.
    /// `shared_bytes` is what each job takes in addition.
    BRAID_API pieces split(std::size_t bytes_per_item, std::size_t items,
                           std::size_t shared_bytes = 0) const;

private:
    std::size_t most_bytes_ = 0;
};

}  // namespace device
BRAID_NAMESPACE_END
