#pragma once
// The functions of Vulkan that are used, as tables, so that a test can put itself in between.

#include <volk.h>

#include "braid/base/version.hpp"

#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

// Functions that return a VkResult come first.
#define BRAID_VULKAN_INSTANCE_ENTRIES(X)            \
    X(EnumeratePhysicalDevices)                     \
    X(GetPhysicalDeviceCalibrateableTimeDomainsEXT) \
    X(EnumerateDeviceExtensionProperties)           \
    X(CreateDevice)                                 \
    X(DestroyInstance)                              \
    X(GetPhysicalDeviceProperties)                  \
    X(GetPhysicalDeviceProperties2)                 \
    X(GetPhysicalDeviceExternalBufferProperties)    \
    X(GetPhysicalDeviceFeatures2)                   \
    X(GetPhysicalDeviceQueueFamilyProperties)       \
    X(GetPhysicalDeviceMemoryProperties)            \
    X(GetDeviceProcAddr)

#define BRAID_VULKAN_DEVICE_RESULTS(X)   \
    X(CreateCommandPool)                 \
    X(AllocateCommandBuffers)            \
    X(BeginCommandBuffer)                \
    X(EndCommandBuffer)                  \
    X(CreateDescriptorSetLayout)         \
    X(CreatePipelineLayout)              \
    X(CreateDescriptorPool)              \
    X(AllocateDescriptorSets)            \
    X(CreateShaderModule)                \
    X(CreateComputePipelines)            \
    X(CreatePipelineCache)               \
    X(GetPipelineCacheData)              \
    X(CreateSemaphore)                   \
    X(WaitSemaphores)                    \
    X(GetSemaphoreCounterValue)          \
    X(AllocateMemory)                    \
    X(MapMemory)                         \
    X(GetMemoryHostPointerPropertiesEXT) \
    X(CreateBuffer)                      \
    X(BindBufferMemory)                  \
    X(CreateQueryPool)                   \
    X(GetQueryPoolResults)               \
    X(GetCalibratedTimestampsEXT)        \
    X(QueueSubmit)                       \
    X(DeviceWaitIdle)

#define BRAID_VULKAN_DEVICE_OTHERS(X) \
    X(ResetDescriptorPool)            \
    X(DestroyCommandPool)             \
    X(CmdBindPipeline)                \
    X(CmdBindDescriptorSets)          \
    X(CmdPushConstants)               \
    X(CmdDispatch)                    \
    X(CmdPipelineBarrier)             \
    X(CmdResetQueryPool)              \
    X(CmdWriteTimestamp)              \
    X(DestroyDescriptorSetLayout)     \
    X(DestroyPipelineLayout)          \
    X(DestroyDescriptorPool)          \
    X(UpdateDescriptorSets)           \
    X(DestroyShaderModule)            \
    X(DestroyPipeline)                \
    X(DestroyPipelineCache)           \
    X(DestroySemaphore)               \
    X(DestroyQueryPool)               \
    X(FreeMemory)                     \
    X(DestroyBuffer)                  \
    X(GetBufferMemoryRequirements)    \
    X(GetDeviceQueue)                 \
    X(DestroyDevice)

#define BRAID_VULKAN_ENTRY(name) PFN_vk##name name = nullptr;
struct instance_entries {
    BRAID_VULKAN_INSTANCE_ENTRIES(BRAID_VULKAN_ENTRY)
};
struct device_entries {
    BRAID_VULKAN_DEVICE_RESULTS(BRAID_VULKAN_ENTRY)
    BRAID_VULKAN_DEVICE_OTHERS(BRAID_VULKAN_ENTRY)
};
#undef BRAID_VULKAN_ENTRY

/// What a test changes in them, after they were loaded. Null: nothing.
struct interposer {
    void (*instance)(instance_entries& entries) = nullptr;
    void (*device)(device_entries& entries) = nullptr;
    /// A thread has seen a loss and is about to report it; without the lock.
    void (*before_loss)() = nullptr;
};

inline bool is_no_memory(VkResult r) {
    return r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
           r == VK_ERROR_OUT_OF_POOL_MEMORY || r == VK_ERROR_FRAGMENTED_POOL ||
           r == VK_ERROR_MEMORY_MAP_FAILED || r == VK_ERROR_TOO_MANY_OBJECTS;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
