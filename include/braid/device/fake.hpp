#pragma once
// A processor for tests. It fails in all the ways in which real processors fail, and a seed chooses
// the failures. The processor runs a kernel's CPU function at the time at which a real processor
// would have finished the kernel.

#include "braid/device/processor.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// The members of type double are probabilities, 0..1. They apply each time a submission starts.
/// `out_of_memory` applies to each new buffer, too. If the scheduler has a chooser (see
/// core/decision.hpp), the same seed produces the same failures.
struct fake_options {
    std::uint64_t seed = 1;
    nanoseconds latency = {};  // from the start to the end of a submission; less than 0 means 0
    nanoseconds jitter = {};   // a random 0..jitter is added to the latency; this reorders the ends
    /// The processor refuses to start a submission, or refuses the memory of a buffer. A submission
    /// may use buffers whose memory was refused. Each start of the submission then makes one more
    /// random draw for each of these buffers.
    double out_of_memory = 0;
    double loss = 0;  // the processor is lost at the time at which the submission would have ended
    double hang = 0;  // the submission never ends
    double corrupt = 0;  // one bit of one output is flipped
    /// The submission overtakes the submission that was due right before it, and ends just before
    /// that submission. This happens only if both have the same priority and the latency is above
    /// 0.
    double reorder = 0;
};

class fake : public processor {
public:
    BRAID_API explicit fake(scheduler& s, const fake_options& faults,
                            const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
