#include "device/vulkan/gpu.hpp"

#include <algorithm>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

namespace {

constexpr std::int64_t often_enough = 10'000'000;  // ns; two clocks part by 5 us at most meanwhile

/// Makes what is written before it visible to what comes behind it.
void barrier(const device_entries& vk, VkCommandBuffer to, VkPipelineStageFlags stage,
             VkAccessFlags access) {
    VkMemoryBarrier b{};
    b.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    b.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    b.dstAccessMask = access;
    vk.CmdPipelineBarrier(to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, stage, 0, 1, &b, 0, nullptr, 0,
                          nullptr);
}

}  // namespace

// ---- it comes and goes -------------------------------------------------------------------------

VkResult gpu::open(std::span<const std::byte> pipelines_before) {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = what_.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceVulkan12Features features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.timelineSemaphore = VK_TRUE;
    VkDeviceCreateInfo how{};
    how.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    how.pNext = &features;
    how.queueCreateInfoCount = 1;
    how.pQueueCreateInfos = &queue;
    const std::vector<const char*> extensions = what_.extensions();
    how.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    how.ppEnabledExtensionNames = extensions.data();
    VkResult r = instance_.vk().CreateDevice(what_.handle, &how, nullptr, &device_);
    if (r != VK_SUCCESS) {
        device_ = VK_NULL_HANDLE;
        return r;
    }
    vk_ = instance_.entries_of(device_);
    VkPhysicalDeviceMemoryProperties types{};
    instance_.vk().GetPhysicalDeviceMemoryProperties(what_.handle, &types);
    memory.open(device_, types);
    return create(pipelines_before);
}

VkResult gpu::create(std::span<const std::byte> pipelines_before) {
    vk_.GetDeviceQueue(device_, what_.queue_family, 0, &queue_);
    VkSemaphoreTypeCreateInfo timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo semaphore{};
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = &timeline;
    VkResult r = vk_.CreateSemaphore(device_, &semaphore, nullptr, &done_);
    if (r != VK_SUCCESS) {
        done_ = VK_NULL_HANDLE;
        return r;
    }
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = what_.queue_family;
    r = vk_.CreateCommandPool(device_, &pool, nullptr, &pool_);
    if (r != VK_SUCCESS) {
        pool_ = VK_NULL_HANDLE;
        return r;
    }
    VkPipelineCacheCreateInfo cache{};
    cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    cache.initialDataSize = pipelines_before.size();
    cache.pInitialData = pipelines_before.data();
    r = vk_.CreatePipelineCache(device_, &cache, nullptr, &cache_);
    if (r != VK_SUCCESS) cache_ = VK_NULL_HANDLE;
    return r;
}

void gpu::close() {
    if (device_ == VK_NULL_HANDLE) return;
    vk_.DeviceWaitIdle(device_);  // a lost one is
    while (slot* const s = made_) {
        made_ = s->next_made;
        drop_room(*s);
        vk_.DestroyQueryPool(device_, s->ticks, nullptr);
        host_.release(s, sizeof(slot));
    }
    while (pipeline* const p = pipelines_) {
        pipelines_ = p->next;
        vk_.DestroyPipeline(device_, p->handle, nullptr);
        host_.release(p, sizeof(pipeline) + p->words * sizeof(std::uint32_t));
    }
    for (unsigned i = 0; i <= launch::most_operands; ++i) {
        vk_.DestroyPipelineLayout(device_, layouts_[i], nullptr);
        vk_.DestroyDescriptorSetLayout(device_, sets_[i], nullptr);
    }
    memory.close();
    vk_.DestroyPipelineCache(device_, cache_, nullptr);
    vk_.DestroyCommandPool(device_, pool_, nullptr);
    vk_.DestroySemaphore(device_, done_, nullptr);
    vk_.DestroyDevice(device_, nullptr);
}

std::vector<std::byte> gpu::pipelines() const {
    std::size_t bytes = 0;
    if (vk_.GetPipelineCacheData(device_, cache_, &bytes, nullptr) != VK_SUCCESS) return {};
    std::vector<std::byte> all(bytes);
    if (vk_.GetPipelineCacheData(device_, cache_, &bytes, all.data()) != VK_SUCCESS) return {};
    all.resize(bytes);
    return all;
}

// ---- pipelines ---------------------------------------------------------------------------------

bool gpu::takes(const launch& l) const {
    const VkPhysicalDeviceLimits& most = what_.properties.limits;
    const unsigned operands = l.reads + l.writes;
    if (operands > most.maxPerStageDescriptorStorageBuffers ||
        operands > most.maxDescriptorSetStorageBuffers) {
        return false;
    }
    return std::all_of(l.operands, l.operands + operands, [&](std::span<std::byte> o) {
        return !o.empty() && o.size() <= most.maxStorageBufferRange;
    });
}

VkResult gpu::find_layout(unsigned operands) {
    VkDescriptorSetLayoutBinding bindings[launch::most_operands] = {};
    for (unsigned i = 0; i < operands; ++i) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayout& set = sets_[operands];
    if (set == VK_NULL_HANDLE) {
        VkDescriptorSetLayoutCreateInfo how{};
        how.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
        how.bindingCount = operands;
        how.pBindings = bindings;
        const VkResult r = vk_.CreateDescriptorSetLayout(device_, &how, nullptr, &set);
        if (r != VK_SUCCESS) {
            set = VK_NULL_HANDLE;
            return r;
        }
    }
    if (layouts_[operands] != VK_NULL_HANDLE) return VK_SUCCESS;
    VkPushConstantRange constants{};
    constants.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    constants.size = launch::most_constants;
    VkPipelineLayoutCreateInfo how{};
    how.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    how.setLayoutCount = 1;
    how.pSetLayouts = &set;
    how.pushConstantRangeCount = 1;
    how.pPushConstantRanges = &constants;
    const VkResult r = vk_.CreatePipelineLayout(device_, &how, nullptr, &layouts_[operands]);
    if (r != VK_SUCCESS) layouts_[operands] = VK_NULL_HANDLE;
    return r;
}

/// By content: another kernel may lie at the address of one that is gone.
VkResult gpu::find_pipeline(const kernel& k, unsigned operands, pipeline*& found) {
    const std::size_t bytes = k.spirv.size_bytes();
    for (pipeline* p = pipelines_; p != nullptr; p = p->next) {
        if (p->operands != operands || p->words != k.spirv.size() ||
            std::memcmp(p->spirv(), k.spirv.data(), bytes) != 0) {
            continue;
        }
        found = p;
        return VK_SUCCESS;
    }
    void* const room = host_.allocate(sizeof(pipeline) + bytes);
    if (room == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
    auto* const p = ::new (room) pipeline{.operands = operands, .words = k.spirv.size()};
    std::memcpy(p->spirv(), k.spirv.data(), bytes);
    const VkResult r = make_pipeline(*p);
    if (is_no_memory(r) || r == VK_ERROR_DEVICE_LOST) {
        host_.release(p, sizeof(pipeline) + bytes);
        return r;
    }
    if (r != VK_SUCCESS) {
        host_.log(log_level::error,
                  "the Vulkan driver refused the SPIR-V of '%.60s' (%d): it runs on the cores",
                  k.name, r);
    }
    p->next = std::exchange(pipelines_, p);
    found = p;
    return VK_SUCCESS;
}

VkResult gpu::make_pipeline(pipeline& p) {
    VkResult r = find_layout(p.operands);
    if (r != VK_SUCCESS) return r;
    VkShaderModuleCreateInfo code{};
    code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    code.codeSize = p.words * sizeof(std::uint32_t);
    code.pCode = p.spirv();
    VkShaderModule module = VK_NULL_HANDLE;
    r = vk_.CreateShaderModule(device_, &code, nullptr, &module);
    if (r != VK_SUCCESS) return r;
    VkComputePipelineCreateInfo how{};
    how.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    how.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    how.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    how.stage.module = module;
    how.stage.pName = "main";
    how.layout = layouts_[p.operands];
    r = vk_.CreateComputePipelines(device_, cache_, 1, &how, nullptr, &p.handle);
    if (r != VK_SUCCESS) p.handle = VK_NULL_HANDLE;
    vk_.DestroyShaderModule(device_, module, nullptr);
    return r;
}

// ---- a submission ------------------------------------------------------------------------------

slot* gpu::make_slot() {
    void* const room = host_.allocate(sizeof(slot));
    if (room == nullptr) return nullptr;
    auto* const s = ::new (room) slot;
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    if (vk_.AllocateCommandBuffers(device_, &commands, &s->commands) == VK_SUCCESS) {
        s->next_made = std::exchange(made_, s);
        return s;
    }
    host_.release(s, sizeof(slot));
    return nullptr;
}

bool gpu::widen(slot& s, std::size_t steps) {
    if (steps <= s.room) return true;
    drop_room(s);
    const std::size_t operands = steps * launch::most_operands;
    VkDescriptorPoolSize size{};
    size.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    size.descriptorCount = static_cast<std::uint32_t>(operands);
    VkDescriptorPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = static_cast<std::uint32_t>(steps);
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    s.steps = static_cast<dispatch*>(host_.allocate(steps * sizeof(dispatch)));
    s.ranges = static_cast<copied_range*>(host_.allocate(operands * sizeof(copied_range)));
    s.room = steps;
    const bool there = s.steps != nullptr && s.ranges != nullptr &&
                       vk_.CreateDescriptorPool(device_, &pool, nullptr, &s.sets) == VK_SUCCESS;
    if (!there) drop_room(s);
    return there;
}

void gpu::drop_room(slot& s) {
    vk_.DestroyDescriptorPool(device_, std::exchange(s.sets, VK_NULL_HANDLE), nullptr);
    const std::size_t steps = std::exchange(s.room, 0);
    if (s.steps != nullptr)
        host_.release(std::exchange(s.steps, nullptr), steps * sizeof(dispatch));
    if (s.ranges == nullptr) return;
    host_.release(std::exchange(s.ranges, nullptr),
                  steps * launch::most_operands * sizeof(copied_range));
}

void gpu::bind(const dispatch& d) const {
    VkDescriptorBufferInfo lie_at[launch::most_operands];
    VkWriteDescriptorSet writes[launch::most_operands];
    for (unsigned i = 0; i < d.how->operands; ++i) {
        lie_at[i] = {d.places[i].buffer, d.places[i].offset, d.places[i].bytes};
        writes[i] = {};
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = d.set;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &lie_at[i];
    }
    vk_.UpdateDescriptorSets(device_, d.how->operands, writes, 0, nullptr);
}

VkResult gpu::bind_all(slot& s) {
    vk_.ResetDescriptorPool(device_, s.sets, 0);
    for (dispatch& d : std::span(s.steps, s.of->steps.size())) {
        VkDescriptorSetAllocateInfo one{};
        one.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        one.descriptorPool = s.sets;
        one.descriptorSetCount = 1;
        one.pSetLayouts = &sets_[d.how->operands];
        const VkResult r = vk_.AllocateDescriptorSets(device_, &one, &d.set);
        if (r != VK_SUCCESS) return r;
        bind(d);
    }
    return VK_SUCCESS;
}

void gpu::record_launch(const slot& s, const dispatch& d, const launch& l) const {
    VkPipelineLayout layout = layouts_[d.how->operands];
    std::byte constants[launch::most_constants] = {};
    std::memcpy(constants, l.constants, l.constant_bytes);
    vk_.CmdBindPipeline(s.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.how->handle);
    vk_.CmdBindDescriptorSets(s.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &d.set, 0,
                              nullptr);
    vk_.CmdPushConstants(s.commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof constants,
                         constants);
    vk_.CmdDispatch(s.commands, l.groups.x, l.groups.y, l.groups.z);
}

/// False: no clock, or no memory; it runs all the same.
bool gpu::make_ticks(slot& s) {
    if (s.ticks != VK_NULL_HANDLE) return true;
    if (!clock_.has_ticks()) return false;
    VkQueryPoolCreateInfo how{};
    how.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    how.queryType = VK_QUERY_TYPE_TIMESTAMP;
    how.queryCount = 2;
    if (vk_.CreateQueryPool(device_, &how, nullptr, &s.ticks) == VK_SUCCESS) return true;
    s.ticks = VK_NULL_HANDLE;
    return false;
}

VkResult gpu::record_commands(slot& s, bool timed) {
    VkResult r = bind_all(s);
    if (r != VK_SUCCESS) return r;
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    r = vk_.BeginCommandBuffer(s.commands, &begin);
    if (r != VK_SUCCESS) return r;
    // When all before it has run, so that waiting in the queue does not count.
    s.takes_ticks = timed && make_ticks(s);
    const auto take_tick = [&](std::uint32_t which) {
        if (!s.takes_ticks) return;
        vk_.CmdWriteTimestamp(s.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, s.ticks, which);
    };
    if (s.takes_ticks) vk_.CmdResetQueryPool(s.commands, s.ticks, 0, 2);
    take_tick(0);
    const dispatch* d = s.steps;
    for (const step& one : s.of->steps) {
        if (one.behind_barrier) {
            barrier(vk_, s.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        }
        record_launch(s, *d++, one.what);
    }
    take_tick(1);
    // The cores read it when the semaphore says so.
    barrier(vk_, s.commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return vk_.EndCommandBuffer(s.commands);
}

/// The queue waits for what has ended long ago, which keeps nothing back: only so is what was
/// written there visible here.
VkResult gpu::submit(std::span<slot* const> all, std::uint64_t ended_before) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    VkTimelineSemaphoreSubmitInfo values[most_together];
    VkSubmitInfo infos[most_together];
    for (std::size_t i = 0; i < all.size(); ++i) {
        values[i] = {};
        values[i].sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
        values[i].waitSemaphoreValueCount = 1;
        values[i].pWaitSemaphoreValues = &ended_before;
        values[i].signalSemaphoreValueCount = 1;
        values[i].pSignalSemaphoreValues = &all[i]->value;
        VkSubmitInfo& what = infos[i] = {};
        what.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        what.pNext = &values[i];
        what.waitSemaphoreCount = 1;
        what.pWaitSemaphores = &done_;
        what.pWaitDstStageMask = &stage;
        what.commandBufferCount = 1;
        what.pCommandBuffers = &all[i]->commands;
        what.signalSemaphoreCount = 1;
        what.pSignalSemaphores = &done_;
    }
    return vk_.QueueSubmit(queue_, static_cast<std::uint32_t>(all.size()), infos, VK_NULL_HANDLE);
}

VkResult gpu::wait_for(std::uint64_t value, std::uint64_t ns) const {
    VkSemaphoreWaitInfo what{};
    what.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    what.semaphoreCount = 1;
    what.pSemaphores = &done_;
    what.pValues = &value;
    return vk_.WaitSemaphores(device_, &what, ns);
}

VkResult gpu::reached(std::uint64_t& value) const {
    return vk_.GetSemaphoreCounterValue(device_, done_, &value);
}

// ---- its clock ---------------------------------------------------------------------------------

gpu::run gpu::time_of(const slot& s, std::int64_t retired) {
    std::uint64_t ticks[2];
    if (!s.takes_ticks ||
        vk_.GetQueryPoolResults(device_, s.ticks, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                                VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return {};
    }
    if (!calibrate(retired)) clock_.narrow(ticks[0], ticks[1], s.submitted_at, retired);
    const std::int64_t begun = std::clamp(clock_.time_of(ticks[0]), s.submitted_at, retired);
    const std::int64_t error = std::max(clock_.error_at(ticks[0]), clock_.error_at(ticks[1]));
    return {begun, std::clamp(clock_.time_of(ticks[1]), begun, retired),
            std::min(error, retired - s.submitted_at)};
}

/// Anew after a while, as clocks differ in speed. A thread that loses its core between two reads
/// makes the deviation large, so the best of three counts. False: the driver cannot say.
bool gpu::calibrate(std::int64_t now) {
    if (!what_.is_calibrated) return false;
    if (clock_.is_known() && now - clock_.known_at() < often_enough) return true;
    VkCalibratedTimestampInfoEXT domains[2] = {};
    domains[0].sType = domains[1].sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
    domains[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    domains[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    std::uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
        std::uint64_t ticks[2], deviation = 0;
        if (vk_.GetCalibratedTimestampsEXT(device_, 2, domains, ticks, &deviation) != VK_SUCCESS ||
            deviation >= best) {
            continue;
        }
        best = deviation;
        clock_.set(ticks[0], static_cast<std::int64_t>(ticks[1]),
                   static_cast<std::int64_t>(deviation));
    }
    return best != UINT64_MAX;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
