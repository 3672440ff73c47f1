#pragma once
// A processor whose units each have a small private memory, the store. A unit accesses no other
// memory. A kernel works on copies of its operands in the store. When the kernel has ended, its
// outputs are copied back. A kernel for this processor therefore accesses only its operands, as on
// the units of the Cell processor, on signal processors and on many accelerators.

#include "braid/base/index_range.hpp"
#include "braid/device/processor.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// A value outside its range is clamped to the range, and the scheduler logs this.
struct local_store_options {
    static constexpr unsigned most_units = 64;
    static constexpr std::size_t least_store_bytes = std::size_t{4} << 10;
    static constexpr std::size_t most_store_bytes = std::size_t{1} << 30;

    unsigned units = 1;                                // 1..most_units; each has its own thread
    std::size_t store_bytes = std::size_t{256} << 10;  // least_store_bytes..most_store_bytes
    /// The delay of each copy into a store and of each copy out of a store. The range is 0 and
    /// above.
    nanoseconds transfer_latency = {};
    std::size_t stack_bytes = 0;  // see thread_options::stack_bytes
    /// Strict mode is for tests. The process ends if a kernel accesses a buffer of the processor
    /// instead of the copy in the store, accesses bytes past the end of an operand, or writes to an
    /// input. A message on standard error then reports the kernel, the byte, and the operand or the
    /// buffer. Caller-owned memory is not protected. If a kernel writes before the start of an
    /// output, the assertion handler is called when the kernel has ended.
    ///
    /// A strict processor has one unit, and a process can have only one strict processor. Transfers
    /// do not overlap with kernels. Each operand is aligned to the largest power of two that
    /// divides its size, instead of to 16 bytes.
    bool strict = false;
};

/// A unit runs all groups of a submission, or of one step of a sequence, one after the other. A
/// unit's store has two halves. While a kernel works in one half, the operands of the unit's next
/// submission are transferred to the other half. A kernel does not run in a task, but it may wait
/// and spawn like a thread of the program.
///
/// processor_options::max_in_flight is limited to three times the number of units: for each unit,
/// one submission is copied in, one runs, and one is copied back. If the operating system refuses
/// the thread or the store of a unit, the scheduler logs this, and the processor works without that
/// unit. If no unit exists, submissions run on the cores.
class local_store : public processor {
public:
    /// A range of items, split into jobs.
    struct pieces {
        std::size_t items = 0;     // in the whole range
        std::size_t in_a_job = 0;  // the most items in one job
        std::size_t jobs = 0;      // 0 if `items` is 0 or not even one item fits

        index_range operator[](std::size_t job) const {
            const std::size_t begin = job * in_a_job;
            return {begin, begin + (in_a_job < items - begin ? in_a_job : items - begin)};
        }
    };

    BRAID_API explicit local_store(scheduler& s, const local_store_options& store = {},
                                   const processor_options& options = {});

    /// Returns the most bytes that the operands of one submission, or of one step of a sequence,
    /// may have together: half of a store. The size of each operand is rounded up to a multiple of
    /// 16. A submission or a step with more bytes is refused, and the assertion handler is called.
    std::size_t most_bytes() const { return most_bytes_; }
    /// Splits `items` items into the fewest jobs that fit into half of a store. 256 bytes of each
    /// job are reserved for the rounding of up to 16 operands. `bytes_per_item` is the size of one
    /// item in all operands together. `shared_bytes` is the additional size of each job.
    BRAID_API pieces split(std::size_t bytes_per_item, std::size_t items,
                           std::size_t shared_bytes = 0) const;

private:
    std::size_t most_bytes_ = 0;
};

}  // namespace device
BRAID_NAMESPACE_END
