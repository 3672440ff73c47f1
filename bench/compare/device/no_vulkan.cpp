// In place of vulkan.cpp where this was built without Vulkan.
#include "device/vulkan.hpp"

namespace bench::device {

void add_vulkan(suite& s) {
    for (const char* name : {"device.roundtrip.p50", "device.roundtrip.p99", "device.gpu",
                             "device.gpu.characters", "device.gpu.bytes"}) {
        s.at(name, "us", "a graphics processor").add("braid", []() -> measure {
            throw not_here("this was built without Vulkan: scripts/setup.sh vulkan");
        });
    }
}

}  // namespace bench::device
