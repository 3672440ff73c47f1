#pragma once
// The processor that is always there: each group is a task, so that waits help and workers steal.
// What comes out of it is what others must come to.

#include "braid/device/processor.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {

class cpu : public processor {
public:
    BRAID_API explicit cpu(scheduler& s, const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
