#pragma once
// Vulkan without Braid: one thread records and submits, another one waits for the device and wakes
// the first. What a program writes that has nothing else to do.

#include <volk.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>

namespace bench::device {

class raw_vulkan {
public:
    static constexpr std::size_t items = 64;

    /// The device with this in its name. Throws std::runtime_error where Vulkan refuses.
    raw_vulkan(const char* device, std::span<const std::uint32_t> spirv);
    ~raw_vulkan();
    raw_vulkan(const raw_vulkan&) = delete;
    raw_vulkan& operator=(const raw_vulkan&) = delete;

    /// Adds `more` to each number there. The results are back when it returns.
    void add(std::array<std::uint32_t, items>& numbers, std::uint32_t more);

private:
    void open_device(const char* name);
    void make_memory();
    void make_pipeline(std::span<const std::uint32_t> spirv);
    void record(std::uint32_t more);
    void submit(std::uint64_t value);
    void wait_for_device();

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    std::uint32_t family_ = 0;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkSemaphore done_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    void* mapped_ = nullptr;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkDescriptorPool sets_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;

    std::array<std::uint32_t, items>* results_ = nullptr;
    // release: what was submitted, or copied back, is seen by who acquires the value.
    std::atomic<std::uint64_t> submitted_{0}, ended_{0};
    std::atomic<bool> stops_{false};
    std::thread waiter_;
};

}  // namespace bench::device
