#pragma once
// A processor with all that fails in the field, by seed: for tests of programs that use one. It
// runs the cores' version of a kernel at the moment at which a processor would have been done.

#include "braid/device/processor.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device {

/// Probabilities are of one start, 0..1; that of memory is of one buffer, too. With a chooser the
/// same seed fails in the same way.
struct fake_options {
    std::uint64_t seed = 1;
    nanoseconds latency = {};  // from start to end; 0 and below: at once
    nanoseconds jitter = {};   // added: 0..jitter, so that they end in another order
    /// Refuses to start, or the memory of a buffer; what names such a one is refused once more.
    double out_of_memory = 0;
    double loss = 0;     // the processor is lost when this would have ended
    double hang = 0;     // this never ends
    double corrupt = 0;  // one bit of one output is another
    /// This ends before the one of its priority that was to end just before it. With latency.
    double reorder = 0;
};

class fake : public processor {
public:
    BRAID_API explicit fake(scheduler& s, const fake_options& faults,
                            const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
