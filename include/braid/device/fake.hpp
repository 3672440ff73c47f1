#pragma once
// A processor that fails in all the ways that processors fail in the field, by seed. It is for
// tests of programs that use a processor. It runs a kernel's version for cores at the moment at
// which a real processor would have finished.

#include "braid/device/processor.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// Probabilities are 0..1 and apply to each start of a submission. `out_of_memory` also applies to
/// each buffer. With a chooser the same seed fails in the same way.
struct fake_options {
    std::uint64_t seed = 1;
    nanoseconds latency = {};  // from start to end; 0 or less means at once
    nanoseconds jitter = {};   // adds 0..jitter, so that the order of ends changes
    /// The processor refuses the start of a submission, or the memory of a buffer. A start draws
    /// once more for each buffer that it names and whose memory was refused.
    double out_of_memory = 0;
    double loss = 0;     // the processor is lost when the submission would have ended
    double hang = 0;     // the submission never ends
    double corrupt = 0;  // one bit of one output is flipped
    /// The submission ends before the one that was to end just before it, if both have the same
    /// priority. This needs a latency above 0.
    double reorder = 0;
};

class fake : public processor {
public:
    BRAID_API explicit fake(scheduler& s, const fake_options& faults,
                            const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
