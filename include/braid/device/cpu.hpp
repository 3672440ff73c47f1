#pragma once
// A processor that uses the scheduler's cores and is always available. Each group of a kernel runs
// as a task, so waiting threads help to run groups and workers steal groups. The results of this
// processor are the reference: other processors must produce the same bytes.

#include "braid/device/processor.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {

class cpu : public processor {
public:
    BRAID_API explicit cpu(scheduler& s, const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
