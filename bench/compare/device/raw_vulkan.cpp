#include "device/raw_vulkan.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::device {

namespace {

constexpr VkDeviceSize bytes = raw_vulkan::items * sizeof(std::uint32_t);

void expect(VkResult r, const char* what) {
    if (r != VK_SUCCESS) throw std::runtime_error(std::string("Vulkan refused ") + what);
}

template <class Info>
Info make(VkStructureType type) {
    Info info{};
    info.sType = type;
    return info;
}

}  // namespace

raw_vulkan::raw_vulkan(const char* device, std::span<const std::uint32_t> spirv) {
    expect(volkInitialize(), "its loader");
    auto application = make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto instance = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    instance.pApplicationInfo = &application;
    expect(vkCreateInstance(&instance, nullptr, &instance_), "an instance");
    volkLoadInstance(instance_);
    open_device(device);
    make_memory();
    make_pipeline(spirv);
    waiter_ = std::thread([this] { wait_for_device(); });
}

raw_vulkan::~raw_vulkan() {
    stops_ = true;
    submitted_.fetch_add(1);
    submitted_.notify_one();
    waiter_.join();
    vkDestroyPipeline(device_, pipeline_, nullptr);
    vkDestroyDescriptorPool(device_, sets_, nullptr);
    vkDestroyPipelineLayout(device_, layout_, nullptr);
    vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    vkDestroyBuffer(device_, buffer_, nullptr);
    vkFreeMemory(device_, memory_, nullptr);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroySemaphore(device_, done_, nullptr);
    vkDestroyDevice(device_, nullptr);
    vkDestroyInstance(instance_, nullptr);
}

void raw_vulkan::open_device(const char* name) {
    std::uint32_t count = 8;
    VkPhysicalDevice all[8];
    vkEnumeratePhysicalDevices(instance_, &count, all);
    for (std::uint32_t i = 0; i < count; ++i) {
        VkPhysicalDeviceProperties p;
        vkGetPhysicalDeviceProperties(all[i], &p);
        if (std::strstr(p.deviceName, name) != nullptr) physical_ = all[i];
    }
    if (physical_ == VK_NULL_HANDLE) throw std::runtime_error("Vulkan refused the device");
    VkQueueFamilyProperties families[8];
    count = 8;
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families);
    while (family_ < count && (families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family_;

    const float priority = 1;
    auto queue = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    auto features = make<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    features.timelineSemaphore = VK_TRUE;
    auto how = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    how.pNext = &features;
    how.queueCreateInfoCount = 1;
    how.pQueueCreateInfos = &queue;
    expect(vkCreateDevice(physical_, &how, nullptr, &device_), "a device");
    volkLoadDevice(device_);
    vkGetDeviceQueue(device_, family_, 0, &queue_);

    auto timeline = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto semaphore = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    semaphore.pNext = &timeline;
    expect(vkCreateSemaphore(device_, &semaphore, nullptr, &done_), "a semaphore");
    auto pool = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family_;
    expect(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "a command pool");
    auto one = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    one.commandPool = pool_;
    one.commandBufferCount = 1;
    expect(vkAllocateCommandBuffers(device_, &one, &commands_), "a command buffer");
}

void raw_vulkan::make_memory() {
    auto buffer = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    buffer.size = bytes;
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    expect(vkCreateBuffer(device_, &buffer, nullptr, &buffer_), "a buffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, buffer_, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical_, &types);
    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    std::uint32_t type = 0;
    while (type < types.memoryTypeCount &&
           ((needs.memoryTypeBits & (1U << type)) == 0 ||
            (types.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        ++type;
    }
    auto memory = make<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = type;
    expect(vkAllocateMemory(device_, &memory, nullptr, &memory_), "memory");
    expect(vkBindBufferMemory(device_, buffer_, memory_, 0), "memory for a buffer");
    expect(vkMapMemory(device_, memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "to map memory");
}

void raw_vulkan::make_pipeline(std::span<const std::uint32_t> spirv) {
    VkDescriptorSetLayoutBinding binding{};
    binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    auto set =
        make<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = 1;
    set.pBindings = &binding;
    expect(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), "a layout");
    VkPushConstantRange constants{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(std::uint32_t)};
    auto layout = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &constants;
    expect(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "a layout");

    auto code = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = spirv.size_bytes();
    code.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    expect(vkCreateShaderModule(device_, &code, nullptr, &module), "a shader");
    auto how = make<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    how.stage =
        make<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    how.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    how.stage.module = module;
    how.stage.pName = "main";
    how.layout = layout_;
    expect(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &how, nullptr, &pipeline_),
           "a pipeline");
    vkDestroyShaderModule(device_, module, nullptr);

    VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    auto pool = make<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    expect(vkCreateDescriptorPool(device_, &pool, nullptr, &sets_), "a pool of descriptors");
    auto one = make<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    one.descriptorPool = sets_;
    one.descriptorSetCount = 1;
    one.pSetLayouts = &set_layout_;
    expect(vkAllocateDescriptorSets(device_, &one, &set_), "descriptors");
    const VkDescriptorBufferInfo lies_at{buffer_, 0, bytes};
    auto write = make<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = set_;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &lies_at;
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
}

// ---- a round -----------------------------------------------------------------------------------

void raw_vulkan::add(std::array<std::uint32_t, items>& numbers, std::uint32_t more) {
    std::memcpy(mapped_, numbers.data(), bytes);
    results_ = &numbers;
    const std::uint64_t value = submitted_.load(std::memory_order_relaxed) + 1;
    record(more);
    submit(value);
    submitted_.store(value, std::memory_order_release);
    submitted_.notify_one();
    ended_.wait(value - 1, std::memory_order_acquire);
}

/// Anew each time, as the constants are others.
void raw_vulkan::record(std::uint32_t more) {
    auto begin = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    expect(vkBeginCommandBuffer(commands_, &begin), "to record");
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0,
                            nullptr);
    vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof more, &more);
    vkCmdDispatch(commands_, 1, 1, 1);
    auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    expect(vkEndCommandBuffer(commands_), "to record");
}

void raw_vulkan::submit(std::uint64_t value) {
    auto values =
        make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    auto what = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    what.pNext = &values;
    what.commandBufferCount = 1;
    what.pCommandBuffers = &commands_;
    what.signalSemaphoreCount = 1;
    what.pSignalSemaphores = &done_;
    expect(vkQueueSubmit(queue_, 1, &what, VK_NULL_HANDLE), "a submission");
}

void raw_vulkan::wait_for_device() {
    for (std::uint64_t value = 1;; ++value) {
        submitted_.wait(value - 1, std::memory_order_acquire);
        if (stops_) return;
        auto wait = make<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
        wait.semaphoreCount = 1;
        wait.pSemaphores = &done_;
        wait.pValues = &value;
        vkWaitSemaphores(device_, &wait, UINT64_MAX);
        std::memcpy(results_->data(), mapped_, bytes);
        ended_.store(value, std::memory_order_release);
        ended_.notify_one();
    }
}

}  // namespace bench::device
