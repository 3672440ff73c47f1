// What a device does that fails, is lost, hangs, or imports memory.
#include "faulty_vulkan.hpp"
#include "scratch_folder.hpp"

#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

namespace {

using namespace braid_test;
using braid::milliseconds;
using braid::task_context;
using device::ticket;

class DeviceVulkanFaults : public faulty_vulkan_test {};
INSTANTIATE_TEST_SUITE_P(Workers, DeviceVulkanFaults, testing::Values(2),
                         [](const auto& count) { return std::to_string(count.param); });

// ---- what the driver says ----------------------------------------------------------------------

TEST_P(DeviceVulkanFaults, WhatTheDriverDoesNotCompileRunsOnTheCores) {
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick());
    let_fail(number_of_CreateComputePipelines, VK_ERROR_UNKNOWN);
    std::vector<std::uint32_t> numbers(64);
    for (int i = 0; i < 3; ++i) {
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
        }));
    }
    EXPECT_EQ(numbers[63], 3U);
    EXPECT_EQ(gpu.report().moved_to_cores, 3U);
    EXPECT_EQ(notes_.count(&recorder::log, "the Vulkan driver refused the SPIR-V of 'add_one'"),
              1U);
}

TEST_P(DeviceVulkanFaults, NeitherALossNorAWantOfMemoryCountsAsABrokenKernel) {
    braid::scheduler s(options());
    for (const entry e : {number_of_CreateShaderModule, number_of_CreateComputePipelines}) {
        for (const bool lost : {false, true}) {
            SCOPED_TRACE(std::to_string(e) + (lost ? " lost" : " no memory"));
            faulty_vulkan gpu(s, tested(), quick());
            let_fail(e, lost ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY);
            std::vector<std::uint32_t> numbers(64);
            for (int i = 0; i < 2; ++i) {
                s.wait(s.spawn([&](task_context& t) {
                    gpu.submit(t, {.kernel = add_one,
                                   .writes = {std::span(numbers)},
                                   .retry = 1,
                                   .idempotent = true});
                }));
            }
            EXPECT_EQ(numbers[63], 2U);
            const device::processor_report r = gpu.report();
            EXPECT_EQ(r.losses, lost ? 1U : 0U);
            EXPECT_EQ(r.rerun, lost ? 1U : 0U);
            // Nothing was in flight that could have given memory back.
            EXPECT_EQ(r.moved_to_cores, lost ? 0U : 1U);
            EXPECT_EQ(r.completed, lost ? 2U : 1U);
            forget_faults();
        }
    }
    EXPECT_EQ(notes_.count(&recorder::log, "refused the SPIR-V"), 0U);
}

/// How long the driver takes to say how far the queue is.
std::atomic<PFN_vkGetSemaphoreCounterValue> get_counter{nullptr};
std::mutex times_mutex;
std::vector<std::int64_t> times_of_counter;
const vk::interposer timed_counter{
    .instance = all_entries.instance, .device = [](vk::device_entries& vk) {
        all_entries.device(vk);
        get_counter =
            std::exchange(vk.GetSemaphoreCounterValue,
                          [](VkDevice d, VkSemaphore s, std::uint64_t* value) -> VkResult {
                              const std::int64_t before = braid::active_policy::now();
                              const VkResult r = get_counter.load()(d, s, value);
                              const std::lock_guard lock(times_mutex);
                              times_of_counter.push_back(braid::active_policy::now() - before);
                              return r;
                          });
    }};

/// After a wait, if more is in flight, and never to wait.
TEST_P(DeviceVulkanFaults, TheQueueIsAskedHowFarItIsOnceAWaitAndNotWhereNothingMoreIsThere) {
    braid::scheduler s(options());
    device::vulkan_options how = tested();
    how.validation = false;  // it would be timed, too
    faulty_vulkan gpu(s, how, {.max_in_flight = 16}, timed_counter);
    std::vector<std::uint32_t> numbers(64 * 64);
    for (int i = 0; i < 20; ++i) {
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers).first(64)}});
        }));
    }
    EXPECT_EQ(calls_of(number_of_GetSemaphoreCounterValue), 0);
    EXPECT_GE(calls_of(number_of_WaitSemaphores), 20);
    for (int round = 0; round < 20; ++round) {
        s.wait(s.spawn([&](task_context& t) {
            for (std::size_t i = 0; i < 64; ++i) {
                gpu.submit(t,
                           {.kernel = add_one, .writes = {std::span(numbers).subspan(64 * i, 64)}});
            }
        }));
    }
    EXPECT_GT(calls_of(number_of_GetSemaphoreCounterValue), 0);
    EXPECT_LE(calls_of(number_of_GetSemaphoreCounterValue),
              calls_of(number_of_WaitSemaphores) - 20);
    ASSERT_FALSE(times_of_counter.empty());
    std::sort(times_of_counter.begin(), times_of_counter.end());
    std::printf("%d waits, %zu questions of %lld ns (median)\n", calls_of(number_of_WaitSemaphores),
                times_of_counter.size(),
                static_cast<long long>(times_of_counter[times_of_counter.size() / 2]));
}

/// A loss of that one is reported when so many have completed.
std::atomic<const device::processor*> loser{nullptr};
std::atomic<std::uint64_t> complete_before_loss{0};
const vk::interposer late_losses{
    .instance = all_entries.instance, .device = all_entries.device, .before_loss = [] {
        const auto deadline = std::chrono::steady_clock::now() + braid_test::hang_limit;
        while (loser.load()->report().completed < complete_before_loss &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    }};

/// What was submitted by a call that failed runs all the same, and has ended before the loss is
/// reported: that device is not used any more, and the next loss is one, too.
TEST_P(DeviceVulkanFaults, ALossIsOneThoughAllHasEndedBeforeItIsReported) {
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick(), late_losses);
    loser = &gpu;
    std::vector<std::uint32_t> numbers(64);
    const auto run = [&] {
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one,
                           .writes = {std::span(numbers)},
                           .retry = 1,
                           .idempotent = true});
        }));
    };
    complete_before_loss = 1;
    let_fail(number_of_QueueSubmit, VK_ERROR_DEVICE_LOST, 0, 1, true);
    run();
    run();
    EXPECT_EQ(gpu.report().losses, 1U);
    EXPECT_EQ(calls_of(number_of_CreateDevice), 2);
    complete_before_loss = 0;
    let_fail(number_of_QueueSubmit, VK_ERROR_DEVICE_LOST);
    run();
    EXPECT_EQ(numbers[63], 3U);
    const device::processor_report r = gpu.report();
    EXPECT_EQ(r.losses, 2U);
    EXPECT_EQ(r.rerun, 1U);
    EXPECT_EQ(r.completed, 3U);
    EXPECT_EQ(calls_of(number_of_CreateDevice), 3);
}

/// The one before it ends meanwhile.
TEST_P(DeviceVulkanFaults, WhatTheQueueHasNotGotDoesNotEndWithWhatItHas) {
    BRAID_SKIP_UNLESS_LAVAPIPE("does the kernel take long");
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick(), late_losses);
    loser = &gpu;
    complete_before_loss = 1;
    let_fail(number_of_EndCommandBuffer, VK_ERROR_UNKNOWN, 1);
    std::array<std::uint32_t, 2> spun{};
    std::vector<std::uint32_t> numbers(64);
    s.wait(s.spawn([&](task_context& t) {
        gpu.submit(t, {.kernel = spin, .writes = {std::span(spun)}, .groups = {100}});
        gpu.submit(
            t, {.kernel = add_one, .writes = {std::span(numbers)}, .retry = 1, .idempotent = true});
    }));
    EXPECT_EQ(spun[0], 1U);
    EXPECT_EQ(numbers[63], 1U);
    const device::processor_report r = gpu.report();
    EXPECT_EQ(r.losses, 1U);
    EXPECT_EQ(r.rerun, 1U);
    EXPECT_EQ(r.completed, 2U);
}

/// The driver never says that it has come to its end, so the device is given up with it.
TEST_P(DeviceVulkanFaults, CompiledKernelsAreKeptThoughOneIsStillInFlightAtTheEnd) {
    braid::scheduler s(options());
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "pipelines").string();
    {
        device::vulkan_options how = tested();
        how.pipeline_cache = path.c_str();
        faulty_vulkan gpu(s, how, quick());
        let_fail(number_of_WaitSemaphores, VK_TIMEOUT, 0, INT_MAX);
        std::vector<std::uint32_t> numbers(64);
        // One that is late before the device has it is not in flight.
        while (gpu.report().in_flight == 0) {
            const int code = code_of(s.async([&](task_context& t) {
                gpu.submit(t, {.kernel = add_one,
                               .writes = {std::span(numbers)},
                               .deadline = milliseconds(5)});
            }),
                                     braid::completion_error::deadline_passed);
            ASSERT_EQ(code, braid::completion_error::deadline_passed);
        }
    }
    std::ifstream file(path, std::ios::binary);
    EXPECT_GT(std::string(std::istreambuf_iterator<char>(file), {}).size(), 64U);
}

// ---- memory, and devices -----------------------------------------------------------------------

/// What is large goes back to the device at once; what is small is merged.
TEST_P(DeviceVulkanFaults, MemoryOfBuffersIsUsedAgain) {
    BRAID_SKIP_UNLESS_LAVAPIPE("has all memory one type");
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick());
    for (int round = 0; round < 3; ++round) {
        const device::buffer large = gpu.buffer({.bytes = std::size_t{17} << 20});
        EXPECT_EQ(blocks_alive.load(), round == 0 ? 1 : 2);
        gpu.release(large);
        EXPECT_EQ(blocks_alive.load(), round == 0 ? 0 : 1);
        device::buffer all[40];
        for (device::buffer& b : all) b = gpu.buffer({.bytes = std::size_t{400} << 10});
        EXPECT_EQ(blocks_alive.load(), 1);
        for (int i = 0; i < 40; ++i) EXPECT_TRUE(gpu.release(all[i * 7 % 40]));
        const device::buffer whole = gpu.buffer({.bytes = std::size_t{16} << 20});
        EXPECT_EQ(blocks_alive.load(), 1);
        gpu.release(whole);
    }
    EXPECT_EQ(gpu.report().buffer_bytes, 0U);
}

std::atomic<bool> gate_is_open{false};
/// On the cores alone, so that the device has nothing to do meanwhile.
constexpr device::kernel gate{"gate", [](const device::group&) {
                                  while (!gate_is_open) std::this_thread::yield();
                              }};

/// All that comes after one goes in one call, up to 16.
TEST_P(DeviceVulkanFaults, WhatStartsInOneMomentIsSubmittedInOneCall) {
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), {});
    const auto calls = [] { return calls_of(number_of_QueueSubmit); };
    std::vector<std::uint32_t> numbers(64 * 40);
    for (const std::size_t count : {1U, 8U, 40U}) {
        gate_is_open = false;
        const int before = calls();
        std::atomic<bool> submitted{false};
        const braid::task_id task = s.spawn([&](task_context& t) {
            const ticket first = gpu.submit(t, {.kernel = gate});
            for (std::size_t i = 0; i < count; ++i) {
                gpu.submit(t, {.kernel = add_one,
                               .writes = {std::span(numbers).subspan(64 * i, 64)},
                               .after = {first}});
            }
            submitted = true;
        });
        while (!submitted) std::this_thread::yield();
        EXPECT_EQ(calls(), before);
        gate_is_open = true;
        s.wait(task);
        EXPECT_EQ(calls() - before, static_cast<int>((count + 15) / 16));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_EQ(numbers[i], i < 64 ? 3U : i < 512 ? 2U : 1U) << i;
    }
    EXPECT_EQ(gpu.report().completed, 49U);
    expect_account(gpu.report());
}

struct alignas(4'096) pages {
    std::array<std::uint32_t, 4'096> numbers{};

    std::span<std::byte> bytes(std::size_t from, std::size_t size) {
        return std::as_writable_bytes(std::span(numbers)).subspan(from, size);
    }
};

/// A copy would be a second block. What lies beside it on its pages stays as it is.
TEST_P(DeviceVulkanFaults, ImportedMemoryIsComputedOnWhereItLies) {
    BRAID_SKIP_UNLESS_LAVAPIPE("is it known that memory can be imported");
    auto memory = std::make_unique<pages>();
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick());
    const device::buffer first = gpu.import_buffer({.memory = memory->bytes(256, 512)});
    const device::buffer next = gpu.import_buffer({.memory = memory->bytes(768, 4'096)});
    ASSERT_TRUE(first && next);
    EXPECT_EQ(blocks_alive.load(), 2);
    for (int round = 0; round < 2; ++round) {
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {first}, .groups = {2}});
            gpu.submit(t, {.kernel = add_one,
                           .writes = {device::buffer_range{next, 256, 1'024}},
                           .groups = {4}});
        }));
    }
    for (std::size_t i = 0; i < memory->numbers.size(); ++i) {
        const bool is_named = (i >= 64 && i < 192) || (i >= 256 && i < 512);
        ASSERT_EQ(memory->numbers[i], is_named ? 2U : 0U) << i;
    }
    EXPECT_EQ(blocks_alive.load(), 2);
    EXPECT_EQ(static_cast<void*>(gpu.map<std::byte>(next).data()), memory->bytes(768, 1).data());
    EXPECT_EQ(gpu.report().buffer_bytes, 0U);
    EXPECT_TRUE(gpu.release(first));
    EXPECT_TRUE(gpu.release(next));
    EXPECT_EQ(blocks_alive.load(), 0);
    EXPECT_EQ(gpu.report().completed, 4U);
}

/// Where no operand may begin, where the driver refuses it, and where it has no such thing.
TEST_P(DeviceVulkanFaults, MemoryThatCannotBeImportedIsCopied) {
    BRAID_SKIP_UNLESS_LAVAPIPE("is it known that memory can be imported");
    auto memory = std::make_unique<pages>();
    braid::scheduler s(options());
    const auto run = [&](device::processor& gpu, std::size_t from, std::uint32_t wanted) {
        const device::buffer b = gpu.import_buffer({.memory = memory->bytes(from, 64)});
        EXPECT_EQ(blocks_alive.load(), 0);
        s.wait(
            s.spawn([&](task_context& t) { gpu.submit(t, {.kernel = add_one, .writes = {b}}); }));
        EXPECT_EQ(memory->numbers[from / 4 + 15], wanted);
        EXPECT_EQ(memory->numbers[from / 4 + 16], 0U);
        EXPECT_EQ(blocks_alive.load(), 1);
        EXPECT_EQ(gpu.report().completed, 1U);
    };
    {
        faulty_vulkan gpu(s, tested(), quick());
        run(gpu, 4, 1);
    }
    memory->numbers = {};
    for (const entry e : {number_of_GetMemoryHostPointerPropertiesEXT,
                          number_of_EnumerateDeviceExtensionProperties}) {
        let_fail(e, VK_ERROR_INVALID_EXTERNAL_HANDLE);
        faulty_vulkan gpu(s, tested(), quick());
        run(gpu, 0, e == number_of_GetMemoryHostPointerPropertiesEXT ? 1 : 2);
    }
}

/// Runs `attempt` with a time after which what ends does not look hung, whatever else the machine
/// does: where it was lost nevertheless, which `attempt` says, it is tried again with twice the
/// time.
template <class Attempt>
void with_time_enough(Attempt&& attempt) {
    braid::nanoseconds hang_after = milliseconds(400);
    while (!attempt(hang_after)) {
        hang_after.value *= 2;
        ASSERT_LT(hang_after, braid::seconds(5));
    }
}

/// What hangs may still write to imported memory, and read a large buffer, until it ends.
TEST_P(DeviceVulkanFaults, WhatWasLostKeepsItsMemoryUntilItHasEnded) {
    BRAID_SKIP_UNLESS_LAVAPIPE("is it known that memory can be imported");
    constexpr auto one = std::bit_cast<std::uint32_t>(1.0F);
    const auto attempt = [&](braid::nanoseconds hang_after) {
        auto memory = std::make_unique<pages>();
        braid::scheduler s(options());
        device::processor_options o = quick();
        o.hang_after = hang_after;
        faulty_vulkan gpu(s, tested(), o);
        const device::buffer large = gpu.buffer({.bytes = std::size_t{17} << 20});
        const device::buffer own = gpu.import_buffer({.memory = memory->bytes(0, 256)});
        gpu.map<float>(large)[0] = 1;
        hold_ends();
        const int code = code_of(s.async([&](task_context& t) {
            gpu.submit(t, {.kernel = saxpy,
                           .reads = {large},
                           .writes = {own},
                           .constants = device::bytes_of(1.0F)});
        }),
                                 device::error_code::lost);
        EXPECT_EQ(code, device::error_code::lost);
        until_devices_were_looked_at();
        EXPECT_EQ(blocks_alive.load(), 2);
        EXPECT_FALSE(gpu.import_buffer({.memory = memory->bytes(128, 256)}));
        EXPECT_EQ(devices_alive.load(), 1);
        forget_faults();
        work_until(s, [] { return devices_alive == 0; });
        EXPECT_EQ(memory->numbers[0], one);
        const device::buffer again = gpu.import_buffer({.memory = memory->bytes(0, 256)});
        EXPECT_TRUE(again);
        const int code_of_next = code_of(s.async([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {again}});
        }),
                                         device::error_code::lost);
        if (gpu.report().losses != 1) return false;
        EXPECT_EQ(code_of_next, 0);
        EXPECT_EQ(memory->numbers[0], one + 1);
        EXPECT_EQ(memory->numbers[63], 1U);
        EXPECT_EQ(memory->numbers[64], 0U);
        expect_account(gpu.report());
        return true;
    };
    with_time_enough(attempt);
}

/// The one that hangs is destroyed when it has come to its end.
TEST_P(DeviceVulkanFaults, WhatHangsIsLostAndTheNextOneRunsOnADeviceMadeAnew) {
    std::size_t attempts = 0;
    const auto attempt = [&](braid::nanoseconds hang_after) {
        ++attempts;
        braid::scheduler s(options());
        device::processor_options o = quick();
        o.hang_after = hang_after;
        faulty_vulkan gpu(s, tested(), o);
        const device::buffer b = gpu.buffer({.bytes = 8});
        hold_ends();
        const int code = code_of(
            s.async([&](task_context& t) { gpu.submit(t, {.kernel = add_one, .writes = {b}}); }),
            device::error_code::lost);
        EXPECT_EQ(code, device::error_code::lost);
        EXPECT_EQ(gpu.report().losses, 1U);
        EXPECT_TRUE(gpu.map<std::uint32_t>(b).empty());
        EXPECT_EQ(notes_.count(&recorder::misuse, "the buffer is stale"), attempts);
        until_devices_were_looked_at();
        EXPECT_EQ(devices_alive.load(), 1);
        forget_faults();
        work_until(s, [] { return devices_alive == 0; });
        const device::buffer c = gpu.buffer({.bytes = 8});
        std::vector<std::uint32_t> numbers(64);
        const int code_of_next = code_of(s.async([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
            gpu.submit(t, {.kernel = add_one, .writes = {c}});
        }),
                                         device::error_code::lost);
        if (gpu.report().losses != 1) return false;
        EXPECT_EQ(code_of_next, 0);
        EXPECT_EQ(numbers[63], 1U);
        EXPECT_EQ(gpu.map<std::uint32_t>(c)[1], 1U);
        EXPECT_EQ(gpu.report().completed, 2U);
        expect_account(gpu.report());
        return true;
    };
    with_time_enough(attempt);
}

}  // namespace
