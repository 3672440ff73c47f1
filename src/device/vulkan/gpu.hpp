#pragma once
// One logical device with its queue, from creation to loss. What was lost is destroyed and made
// anew, so that nothing of it is used again.

#include "device/vulkan/blocks.hpp"
#include "device/vulkan/device_clock.hpp"
#include "device/vulkan/instance.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

/// Where an operand lies on the device.
struct place {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0, bytes = 0;
    std::byte* copy = nullptr;  // of memory of the program. Null: it lies there itself
};

struct pipeline;

/// A step of a submission.
struct dispatch {
    pipeline* how = nullptr;
    VkDescriptorSet set = VK_NULL_HANDLE;
    place places[launch::most_operands];
};

/// Memory of the program that operands name, each byte once, with its copy there.
struct copied_range {
    std::byte *begin = nullptr, *end = nullptr;
    std::size_t offset = 0;  // in the slot's copies, at a multiple of piece_alignment
};

/// What one submission needs there.
struct slot {
    slot *next = nullptr, *next_made = nullptr;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkDescriptorPool sets = VK_NULL_HANDLE;
    record* of = nullptr;
    static constexpr std::uint64_t never = UINT64_MAX;
    std::uint64_t value = 0;             // of the semaphore, when it is done
    VkQueryPool ticks = VK_NULL_HANDLE;  // at its begin and its end
    bool takes_ticks = false;
    std::int64_t submitted_at = 0;
    piece* copies = nullptr;  // memory for them, which may be more than is used
    std::size_t copied = 0;
    // Room for so many steps, and all their operands.
    std::size_t room = 0, range_count = 0;
    dispatch* steps = nullptr;
    copied_range* ranges = nullptr;
};

/// A compute shader with the layout for so many operands.
struct pipeline {
    pipeline* next = nullptr;
    unsigned operands = 0;
    VkPipeline handle = VK_NULL_HANDLE;  // null: the driver refused it for good
    std::size_t words = 0;               // of a copy that lies behind this

    std::uint32_t* spirv() { return reinterpret_cast<std::uint32_t*>(this + 1); }
};

/// One thread at a time calls what makes and records; the rest is guarded by the processor's lock.
class gpu {
public:
    gpu(const outside_back_end& host, const instance& of, const candidate& what)
        : memory(host, vk_),
          host_(host),
          instance_(of),
          what_(what),
          clock_(what.properties.limits.timestampPeriod, what.tick_bits) {}

    VkResult open(std::span<const std::byte> pipelines_before);
    /// Waits until the device is idle, and destroys all.
    void close();

    // ---- a submission
    /// Null: no memory.
    slot* make_slot();
    /// Room for so many steps. False: no memory.
    bool widen(slot& s, std::size_t steps);
    /// Other than success: no memory, or lost; neither is remembered.
    VkResult find_pipeline(const kernel& k, unsigned operands, pipeline*& found);
    bool takes(const launch& l) const;
    /// With `timed` the device takes the times of its begin and its end, if it can.
    VkResult record_commands(slot& s, bool timed);
    /// So many at once at most.
    static constexpr std::size_t most_together = 16;
    /// All that was submitted before and that has ended, `ended`, happens before them.
    VkResult submit(std::span<slot* const> all, std::uint64_t ended);
    VkResult wait_for(std::uint64_t value, std::uint64_t ns) const;
    /// Null: it cannot say.
    VkResult reached(std::uint64_t& value) const;

    // ---- its clock, by the waiter
    struct run {
        std::int64_t begun = 0, finished = 0, error = 0;
    };
    /// The cores' time of one that has ended before `retired`, both give or take `error`. Zeros:
    /// the device does not say.
    run time_of(const slot& s, std::int64_t retired);

    std::vector<std::byte> pipelines() const;

    blocks memory;
    // Guarded by the processor's lock.
    gpu* next = nullptr;  // among those that were given up
    slot *free_slots = nullptr, *first_in_flight = nullptr, *last_in_flight = nullptr;
    std::uint64_t submitted = 0, ended = 0;
    unsigned users = 0;    // threads that use it without the lock
    unsigned buffers = 0;  // of the program
    bool lost = false;

private:
    VkResult create(std::span<const std::byte> pipelines_before);
    VkResult find_layout(unsigned operands);
    VkResult make_pipeline(pipeline& p);
    VkResult bind_all(slot& s);
    void bind(const dispatch& d) const;
    void record_launch(const slot& s, const dispatch& d, const launch& l) const;
    void drop_room(slot& s);
    bool make_ticks(slot& s);
    bool calibrate(std::int64_t now);

    const outside_back_end& host_;
    const instance& instance_;
    const candidate& what_;
    VkDevice device_ = VK_NULL_HANDLE;
    device_entries vk_;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkSemaphore done_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkPipelineCache cache_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout sets_[launch::most_operands + 1] = {};
    VkPipelineLayout layouts_[launch::most_operands + 1] = {};
    pipeline* pipelines_ = nullptr;
    slot* made_ = nullptr;
    device_clock clock_;  // the waiter's
};

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
