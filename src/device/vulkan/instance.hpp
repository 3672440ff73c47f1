#pragma once
// Vulkan itself, and which device of it is meant.

#include "device/vulkan/entries.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

/// A device with what it lacks.
struct candidate {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties{};
    std::uint32_t queue_family = 0;
    std::size_t import_alignment = 0;  // of memory of the program. 0: it cannot be imported
    unsigned tick_bits = 0;            // of what its queue counts. 0: it has no clock
    bool is_calibrated = false;        // the driver can say when a tick is
    std::string lacks;

    /// Names what the device has of extensions that are used.
    std::vector<const char*> extensions() const;
};

const char* type_of(const VkPhysicalDeviceProperties& properties);

class instance {
public:
    using message_handler = void (*)(void* user, const char* text);

    instance() = default;
    instance(const instance&) = delete;
    instance& operator=(const instance&) = delete;
    ~instance();

    /// Null: it went well; otherwise what is missing. `say` gets what the validation layer has to
    /// say, on any thread; null: without that layer.
    const char* open(const interposer& between, message_handler say, void* user);
    bool has_validation() const { return messenger_ != VK_NULL_HANDLE; }

    std::vector<candidate> candidates() const;
    const instance_entries& vk() const { return vk_; }
    /// Functions of a device of this instance.
    device_entries entries_of(VkDevice device) const;

private:
    VkResult create(bool with_validation, const VkDebugUtilsMessengerCreateInfoEXT& messages);
    std::string judge(candidate& c) const;
    void find_extensions(candidate& c) const;
    bool can_import(const candidate& c) const;
    bool can_calibrate(const candidate& c) const;

    VkInstance handle_ = VK_NULL_HANDLE;
    instance_entries vk_;
    interposer between_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    message_handler say_ = nullptr;
    void* user_ = nullptr;
};

/// By a part of its name, or the best; null, with one sentence about what there is.
const candidate* choose(std::span<const candidate> all, const char* name, std::span<char> why);

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
