#pragma once
// The processor that is always available. Each group runs as a task, so that waits help and workers
// steal. Its results are the reference: other processors must produce the same bytes.

#include "braid/device/processor.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {

class cpu : public processor {
public:
    BRAID_API explicit cpu(scheduler& s, const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
