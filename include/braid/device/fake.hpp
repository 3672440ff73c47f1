#pragma once
// A processor for tests. It fails in all the ways in which real processors fail, and a seed chooses
// the failures. It runs a kernel's CPU function at the time at which a real processor would have
// finished the kernel.

#include "braid/device/processor.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// Probabilities are 0..1 and apply each time a submission starts. `out_of_memory` also applies to
/// each new buffer. Under a chooser, the same seed produces the same failures.
struct fake_options {
    std::uint64_t seed = 1;
    nanoseconds latency = {};  // from start to end; 0 or less means that it ends at once
    nanoseconds jitter = {};   // adds 0..jitter, so that submissions end in another order
    /// The processor refuses to start a submission, or refuses the memory of a buffer. If memory
    /// was refused for buffers that a submission uses, each start of the submission makes one more
    /// random draw for each of these buffers.
    double out_of_memory = 0;
    double loss = 0;  // the processor is lost at the time at which the submission would have ended
    double hang = 0;  // the submission never ends
    double corrupt = 0;  // one bit of one output is flipped
    /// The submission ends just before the submission that was due right before it, if both have
    /// the same priority. This requires a latency above 0.
    double reorder = 0;
};

class fake : public processor {
public:
    BRAID_API explicit fake(scheduler& s, const fake_options& faults,
                            const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
