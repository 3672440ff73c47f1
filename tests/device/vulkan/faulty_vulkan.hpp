#pragma once
// A back end for Vulkan with every function of the driver in between: a test lets calls fail, and
// counts them.

#include "device/vulkan/vulkan_processor.hpp"
#include "vulkan_fixture.hpp"

#include <atomic>
#include <climits>
#include <tuple>
#include <type_traits>

namespace braid_test {

namespace vk = device::detail::vk;

#define BRAID_NUMBER(name) number_of_##name,
enum entry : unsigned {
    BRAID_VULKAN_DEVICE_RESULTS(BRAID_NUMBER) BRAID_VULKAN_INSTANCE_ENTRIES(BRAID_NUMBER)
        BRAID_VULKAN_DEVICE_OTHERS(BRAID_NUMBER) entries
};
#undef BRAID_NUMBER

#define BRAID_NAME(name) #name,
inline constexpr const char* entry_names[] = {BRAID_VULKAN_DEVICE_RESULTS(
    BRAID_NAME) BRAID_VULKAN_INSTANCE_ENTRIES(BRAID_NAME) BRAID_VULKAN_DEVICE_OTHERS(BRAID_NAME)};
#undef BRAID_NAME

/// What of Vulkan's fails. Any thread.
struct fault {
    std::atomic<int> calls_left{INT_MAX};  // 0 and below: it fails
    std::atomic<int> failures_left{0};
    std::atomic<VkResult> with{VK_SUCCESS};
    std::atomic<bool> is_called{false};  // and then says that it has failed
};
inline fault faults[entries];
inline std::atomic<int> devices_alive{0}, blocks_alive{0};

inline void forget_faults() {
    for (fault& f : faults) {
        f.calls_left = INT_MAX;
        f.failures_left = 0;
        f.is_called = false;
    }
}

/// The `count` calls after `before` fail.
inline void let_fail(entry e, VkResult with, int before = 0, int count = 1,
                     bool is_called = false) {
    fault& f = faults[e];
    f.with = with;
    f.is_called = is_called;
    f.failures_left = count;
    f.calls_left = before;
}

/// The driver says of nothing that it has ended, until the faults are forgotten: what is submitted
/// stays in flight, however long the device takes for it.
inline void hold_ends() { let_fail(number_of_WaitSemaphores, VK_TIMEOUT, 0, INT_MAX); }

/// While they are held: the processor's thread has looked at every device since, and would have
/// destroyed one that it takes for idle. It asks the driver again each time that it looks.
inline void until_devices_were_looked_at() {
    const std::atomic<int>& calls_left = faults[number_of_WaitSemaphores].calls_left;
    const int before = calls_left;
    until([&] { return before - calls_left >= 3 || devices_alive == 0; });
}

/// Since the faults were forgotten.
inline int calls_of(entry e) { return INT_MAX - faults[e].calls_left; }

// ---- in between --------------------------------------------------------------------------------

template <unsigned Entry, class Function>
struct between;
template <unsigned Entry, class R, class... A>
struct between<Entry, R(VKAPI_PTR*)(A...)> {
    using function = R(VKAPI_PTR*)(A...);
    static inline std::atomic<function> original{nullptr};

    static R VKAPI_PTR call(A... a) {
        fault& f = faults[Entry];
        const bool fails = f.calls_left.fetch_sub(1) <= 0 && f.failures_left.fetch_sub(1) > 0;
        if constexpr (std::is_same_v<R, VkResult>) {
            if (!fails) return counted(original.load()(a...));
            if (f.is_called || Entry == number_of_DeviceWaitIdle) original.load()(a...);
            return f.with;
        } else if constexpr (std::is_void_v<R>) {
            original.load()(a...);
            count_end(a...);
        } else {
            return original.load()(a...);
        }
    }
    static VkResult counted(VkResult r) {
        if (r != VK_SUCCESS) return r;
        devices_alive += Entry == number_of_CreateDevice;
        blocks_alive += Entry == number_of_AllocateMemory;
        return r;
    }
    static void count_end(A... a) {
        if constexpr (Entry == number_of_FreeMemory) {
            blocks_alive -= std::get<1>(std::tuple(a...)) != VK_NULL_HANDLE;
        }
        if constexpr (Entry == number_of_DestroyDevice) --devices_alive;
    }
    static void put(function& at) {
        if (at == nullptr) return;  // of an extension that the driver has not
        original = at;
        at = &call;
    }
};

inline const vk::interposer all_entries{.instance =
                                            [](vk::instance_entries& vk) {
#define BRAID_PUT(name) between<number_of_##name, PFN_vk##name>::put(vk.name);
                                                BRAID_VULKAN_INSTANCE_ENTRIES(BRAID_PUT)
                                            },
                                        .device =
                                            [](vk::device_entries& vk) {
                                                BRAID_VULKAN_DEVICE_RESULTS(BRAID_PUT)
                                                BRAID_VULKAN_DEVICE_OTHERS(BRAID_PUT)
#undef BRAID_PUT
                                            }};

class faulty_vulkan : public device::processor {
public:
    faulty_vulkan(braid::scheduler& s, const device::vulkan_options& how,
                  const device::processor_options& o, const vk::interposer& between = all_entries) {
        void* const room = device::detail::outside_back_end::room(s, sizeof(vk::vulkan_processor));
        start(s, o, room != nullptr ? ::new (room) vk::vulkan_processor(how, between) : nullptr);
    }
};

class faulty_vulkan_test : public vulkan_test {
protected:
    faulty_vulkan_test() { forget_faults(); }
    void TearDown() override {
        forget_faults();
        EXPECT_EQ(devices_alive.load(), 0);
        EXPECT_EQ(blocks_alive.load(), 0);
        vulkan_test::TearDown();
    }
    /// A kernel that a busy machine compiles for seconds is no hang.
    static device::processor_options quick() {
        return {.max_in_flight = 3,
                .hang_after = braid::seconds(60),
                .back_off = braid::milliseconds(1)};
    }
};

}  // namespace braid_test
