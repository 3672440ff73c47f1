#include "braid/device/vulkan.hpp"

#include "device/vulkan/vulkan_processor.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {

namespace vk = detail::vk;

vulkan::vulkan(scheduler& s, const vulkan_options& how, const processor_options& options) {
    void* const memory = detail::outside_back_end::room(s, sizeof(vk::vulkan_processor));
    start(s, options,
          memory != nullptr ? ::new (memory) vk::vulkan_processor(how, vk::interposer{}) : nullptr);
}

std::vector<vulkan::device_facts> vulkan::devices() {
    vk::instance i;
    if (i.open({}, nullptr, nullptr) != nullptr) return {};
    std::vector<device_facts> all;
    for (const vk::candidate& c : i.candidates()) {
        all.push_back({c.properties.deviceName, vk::type_of(c.properties), c.lacks});
    }
    return all;
}

}  // namespace device
BRAID_NAMESPACE_END
