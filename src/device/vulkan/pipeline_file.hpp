#pragma once
// What a driver made of kernels, from one run of the program to the next.

#include "device/vulkan/entries.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

/// Stands before the driver's own bytes, which some drivers do not check.
struct pipeline_file_header {
    static constexpr std::uint32_t magic_number = 0x50444252, version_now = 1;

    std::uint32_t magic = magic_number, version = version_now;
    std::uint32_t vendor = 0, device = 0, driver = 0, unused = 0;
    std::uint8_t driver_cache[VK_UUID_SIZE] = {};
    std::uint64_t bytes = 0, sum = 0;  // of what follows

    static pipeline_file_header of(const VkPhysicalDeviceProperties& p);
    bool operator==(const pipeline_file_header&) const = default;
};

/// Null: read, or there is none; otherwise what is wrong with it.
const char* read_pipelines(const char* path, const VkPhysicalDeviceProperties& p,
                           std::vector<std::byte>& to);
/// In place of the old one, or not at all. False: the system refuses.
bool write_pipelines(const char* path, const VkPhysicalDeviceProperties& p,
                     std::span<const std::byte> from);

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
