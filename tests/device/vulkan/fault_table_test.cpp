// Every function of Vulkan that may fail fails once, in each way that the specification has for it,
// at each of its calls in a short program: submissions end once each and as they should, what has
// succeeded is right, and nothing is left.
#include "faulty_vulkan.hpp"
#include "refusing_memory.hpp"
#include "scratch_folder.hpp"

#include <cstdio>
#include <utility>

namespace {

using namespace braid_test;
using braid::task_context;
using device::ticket;

// ---- a short program ---------------------------------------------------------------------------

/// How the submissions and tasks of a run have ended.
struct outcomes {
    std::uint64_t submitted = 0, completed = 0, on_cores = 0, rerun = 0, refused = 0, failed = 0,
                  losses = 0;
    unsigned lost = 0, stale = 0, predecessor = 0;  // of tasks
    std::uint64_t refused_buffers = 0;

    void add(const outcomes& o) {
        submitted += o.submitted;
        completed += o.completed;
        on_cores += o.on_cores;
        rerun += o.rerun;
        refused += o.refused;
        failed += o.failed;
        losses += o.losses;
        lost += o.lost;
        stale += o.stale;
        predecessor += o.predecessor;
        refused_buffers += o.refused_buffers;
    }
    void note_task(int code) {
        lost += code == device::error_code::lost;
        stale += code == device::error_code::stale;
        predecessor += code == device::error_code::predecessor;
        EXPECT_TRUE(code == 0 || code == device::error_code::lost ||
                    code == device::error_code::stale || code == device::error_code::predecessor)
            << code;
    }
    void note_all(const device::processor_report& r) {
        submitted = r.submitted;
        completed = r.completed;
        on_cores = r.moved_to_cores;
        rerun = r.rerun;
        refused = r.refused;
        failed = r.failed;
        losses = r.losses;
        refused_buffers = r.refused_buffers;
    }
};

/// Also without any failure, as one kernel has a function for the cores alone.
constexpr std::uint64_t always_on_cores = 1;

class DeviceVulkanShortRun : public faulty_vulkan_test {
protected:
    outcomes play(braid::scheduler& s);
};
INSTANTIATE_TEST_SUITE_P(Workers, DeviceVulkanShortRun, testing::Values(2),
                         [](const auto& count) { return std::to_string(count.param); });

std::array<std::uint32_t, 64> uniform(std::uint32_t n) {
    std::array<std::uint32_t, 64> all{};
    all.fill(n);
    return all;
}

/// Chains on buffers, memory of the program, imported or not, and kernels for the cores alone.
outcomes DeviceVulkanShortRun::play(braid::scheduler& s) {
    outcomes seen;
    std::vector<std::uint32_t> numbers(64 * 4), scaled(8);
    alignas(256) std::array<std::uint32_t, 64> own{};
    std::vector<braid::future<void>> tasks;
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "pipelines").string();
    {
        device::vulkan_options how = tested();
        how.pipeline_cache = path.c_str();
        faulty_vulkan gpu(s, how, quick());
        const device::buffer list = gpu.buffer({.bytes = 64});
        EXPECT_TRUE(list);  // on the cores, if there is no memory for it
        const auto append_to_list = [&](task_context& t, std::uint32_t count) {
            ticket last;
            for (std::uint32_t i = 0; i < count; ++i) {
                last = gpu.submit(t, {.kernel = append,
                                      .writes = {list},
                                      .constants = device::bytes_of(i),
                                      .after = {last}});
            }
        };
        tasks.push_back(s.async([&](task_context& t) { append_to_list(t, 3); }));
        for (std::size_t i = 0; i < 4; ++i) {
            tasks.push_back(s.async([&, i](task_context& t) {
                gpu.submit(t, {.kernel = add_one,
                               .writes = {std::span(numbers).subspan(64 * i, 64)},
                               .retry = i % 2 == 0 ? 3U : 0U,
                               .idempotent = i % 2 == 0});
            }));
        }
        tasks.push_back(s.async([&](task_context& t) {
            gpu.submit(t, {.kernel = scale_kernel,
                           .reads = {std::span(numbers).first(8)},
                           .writes = {std::span(scaled)},
                           .constants = device::bytes_of(0U)});
        }));
        const device::buffer imported =
            gpu.import_buffer({.memory = std::as_writable_bytes(std::span(own))});
        tasks.push_back(s.async([&](task_context& t) {
            if (imported) gpu.submit(t, {.kernel = add_one, .writes = {imported}});
        }));
        bool appended_well = false;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const int code = code_of(std::move(tasks[i]), device::error_code::lost);
            if (code == 0 && i >= 1 && i <= 4) {
                for (std::size_t n = 0; n < 64; ++n) {
                    EXPECT_EQ(numbers[64 * (i - 1) + n], 1U);
                }
            }
            if (i == 0) appended_well = code == 0;
            if (code == 0 && i == 6 && imported) {
                EXPECT_EQ(own, uniform(1));
            }
            seen.note_task(code);
        }
        // Before all have ended, one of the others may still lose the device, and the list with it.
        if (appended_well && gpu.report().losses == 0) {
            const std::span<const std::uint32_t> appended = gpu.map<std::uint32_t>(list);
            EXPECT_EQ(appended.size(), 16U);
            if (appended.size() == 16) {
                EXPECT_EQ(appended[0], 3U);
                EXPECT_EQ(appended[3], 2U);
            }
        }
        // What was made before a loss is stale, and what was not is still good.
        const bool was_lost = gpu.report().losses != 0;
        const int code = code_of(s.async([&](task_context& t) { append_to_list(t, 1); }),
                                 device::error_code::stale);
        if (was_lost) {
            EXPECT_EQ(code, device::error_code::stale);
        }
        seen.note_task(code);
        gpu.release(list);
        gpu.release(imported);
        const device::processor_report r = gpu.report();
        expect_account(r);
        EXPECT_EQ(r.submitted, 9U + (imported ? 1U : 0U));
        EXPECT_EQ(r.buffer_bytes, 0U);
        seen.note_all(r);
    }
    EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
    EXPECT_EQ(devices_alive.load(), 0);
    EXPECT_EQ(blocks_alive.load(), 0);
    return seen;
}

// ---- what is right for each failure ------------------------------------------------------------

enum class harm {
    none,      // every task goes well, here or on the cores, and no device is lost
    refusal,   // none, and a submission was refused, to be tried again
    nothing,   // none, and nothing goes to the cores or is tried again
    one_loss,  // a device is lost, once
    losses     // until it is dead, perhaps
};

struct way {
    entry of;
    VkResult with;
    harm right;
    int failures = 1;
    bool is_called = false;
    bool is_in_each_part = false;  // at its first call
};

const char* name_of(VkResult r) {
    switch (r) {
        case VK_TIMEOUT:
            return "TIMEOUT";
        case VK_ERROR_OUT_OF_HOST_MEMORY:
            return "OUT_OF_HOST_MEMORY";
        case VK_ERROR_OUT_OF_DEVICE_MEMORY:
            return "OUT_OF_DEVICE_MEMORY";
        case VK_ERROR_DEVICE_LOST:
            return "DEVICE_LOST";
        case VK_ERROR_MEMORY_MAP_FAILED:
            return "MEMORY_MAP_FAILED";
        case VK_ERROR_OUT_OF_POOL_MEMORY:
            return "OUT_OF_POOL_MEMORY";
        case VK_ERROR_FRAGMENTED_POOL:
            return "FRAGMENTED_POOL";
        default:
            return "INITIALIZATION_FAILED";
    }
}

/// On the way of a submission, so that it is refused.
bool is_of_a_submission(entry e) {
    switch (e) {
        case number_of_AllocateCommandBuffers:
        case number_of_BeginCommandBuffer:
        case number_of_EndCommandBuffer:
        case number_of_CreateDescriptorSetLayout:
        case number_of_CreatePipelineLayout:
        case number_of_CreateDescriptorPool:
        case number_of_AllocateDescriptorSets:
        case number_of_CreateShaderModule:
        case number_of_CreateComputePipelines:
        case number_of_QueueSubmit:
            return true;
        default:
            return false;
    }
}

/// What the specification says that functions return, where a test does not say more.
std::vector<way> ways() {
    constexpr VkResult host = VK_ERROR_OUT_OF_HOST_MEMORY, there = VK_ERROR_OUT_OF_DEVICE_MEMORY,
                       lost = VK_ERROR_DEVICE_LOST;
    std::vector<way> all;
    // All of a device, and those of an instance up to the one that makes a device.
    for (unsigned i = 0; i <= number_of_CreateDevice; ++i) {
        const auto e = static_cast<entry>(i);
        const harm right = is_of_a_submission(e) ? harm::refusal : harm::none;
        all.push_back({e, host, right});
        if (e != number_of_GetMemoryHostPointerPropertiesEXT) all.push_back({e, there, right});
    }
    all.push_back({number_of_QueueSubmit, lost, harm::one_loss});
    all.push_back({number_of_WaitSemaphores, lost, harm::one_loss});
    all.push_back({number_of_GetSemaphoreCounterValue, lost, harm::one_loss});
    all.push_back({number_of_WaitSemaphores, VK_TIMEOUT, harm::nothing});
    // It has ended, and only its times are not known.
    all.push_back({number_of_GetQueryPoolResults, lost, harm::nothing});
    all.push_back({number_of_DeviceWaitIdle, lost, harm::nothing});
    // There is none yet that could be lost.
    all.push_back({number_of_CreateDevice, lost, harm::none});
    all.push_back({number_of_CreateDevice, VK_ERROR_INITIALIZATION_FAILED, harm::none});
    all.push_back({number_of_MapMemory, VK_ERROR_MEMORY_MAP_FAILED, harm::none});
    all.push_back({number_of_AllocateDescriptorSets, VK_ERROR_OUT_OF_POOL_MEMORY, harm::refusal});
    all.push_back({number_of_AllocateDescriptorSets, VK_ERROR_FRAGMENTED_POOL, harm::refusal});
    // Not in the specification, but drivers that compile on the device do.
    all.push_back({number_of_CreateComputePipelines, lost, harm::one_loss});
    // It was begun, and nobody knows.
    all.push_back({number_of_QueueSubmit, lost, harm::one_loss, 1, true});
    // For good.
    all.push_back({number_of_QueueSubmit, lost, harm::losses, INT_MAX, false, true});
    all.push_back({number_of_WaitSemaphores, lost, harm::losses, INT_MAX});
    all.push_back({number_of_QueueSubmit, there, harm::refusal, INT_MAX});
    all.push_back({number_of_AllocateMemory, there, harm::none, INT_MAX, false, true});
    all.push_back({number_of_CreateDevice, there, harm::none, INT_MAX});
    all.push_back({number_of_CreateDevice, lost, harm::none, INT_MAX});
    return all;
}

void expect_right(const way& w, const outcomes& seen) {
    if (w.right == harm::losses) {
        EXPECT_GE(seen.losses, 1U);
        return;
    }
    EXPECT_EQ(seen.losses, w.right == harm::one_loss ? 1U : 0U);
    if (w.right == harm::one_loss) return;
    EXPECT_EQ(seen.rerun, 0U);
    EXPECT_EQ(seen.failed, 0U);
    EXPECT_EQ(seen.lost + seen.stale + seen.predecessor, 0U);
    EXPECT_EQ(seen.completed + seen.on_cores, seen.submitted);
    if (w.right == harm::refusal) {
        EXPECT_GE(seen.refused, 1U);
    }
    if (w.right == harm::nothing) {
        EXPECT_EQ(seen.refused, 0U);
        EXPECT_EQ(seen.refused_buffers, 0U);
        EXPECT_EQ(seen.on_cores, always_on_cores);
    }
}

// ---- the table ---------------------------------------------------------------------------------

void print_row(const char* function, const std::string& fails, unsigned runs, const outcomes& o) {
    std::printf(
        "%-44s %-31s %5u %9llu %8llu %5llu %7llu %6llu %4u %5u %7llu\n", function, fails.c_str(),
        runs, static_cast<unsigned long long>(o.completed),
        static_cast<unsigned long long>(o.on_cores), static_cast<unsigned long long>(o.rerun),
        static_cast<unsigned long long>(o.refused), static_cast<unsigned long long>(o.losses),
        o.lost, o.stale, static_cast<unsigned long long>(o.refused_buffers));
}

/// A twelfth of the calls each, so that none takes long on a busy machine.
class DeviceVulkanFailures : public DeviceVulkanShortRun {};
constexpr int parts = 12;
INSTANTIATE_TEST_SUITE_P(Parts, DeviceVulkanFailures, testing::Range(0, parts));

std::string in_words(const way& w) {
    return std::string(name_of(w.with)) + (w.failures > 1 ? ", for good" : "") +
           (w.is_called ? ", but begun" : "");
}

TEST_P(DeviceVulkanFailures, OfAnyFunctionAreWhatTheyShouldBeAndEachSubmissionEndsOnce) {
    braid::scheduler_options o = watched_options();
    o.workers = 2;
    braid::scheduler s(o);
    int calls[entries];
    EXPECT_EQ(play(s).on_cores, always_on_cores);
    for (unsigned e = 0; e < entries; ++e) calls[e] = calls_of(static_cast<entry>(e));
    forget_faults();
    // It is asked only where more is in flight, and so not in every run.
    constexpr entry counter = number_of_GetSemaphoreCounterValue;
    int asked = std::exchange(calls[counter], 3);
    outcomes all;
    unsigned all_runs = 0;
    std::printf("%-44s %-31s %5s %9s %8s %5s %7s %6s %4s %5s %7s\n", "function", "fails with",
                "runs", "completed", "on cores", "rerun", "refused", "losses", "lost", "stale",
                "buffers");
    // Which calls are in which part does not depend on how many there are.
    for (int first = GetParam(); const way& w : ways()) {
        outcomes of_way;
        unsigned runs = 0;
        int before = w.is_in_each_part ? 0 : first++ % parts;
        for (; before < calls[w.of]; before += parts) {
            SCOPED_TRACE(std::string(entry_names[w.of]) + " fails with " + in_words(w) + " after " +
                         std::to_string(before) + " calls");
            let_fail(w.of, w.with, before, w.failures, w.is_called);
            const outcomes seen = play(s);
            const bool failed = faults[w.of].failures_left != w.failures;
            asked += w.of != counter ? calls_of(counter) : 0;
            forget_faults();
            if (failed) {
                expect_right(w, seen);
                of_way.add(seen);
                ++runs;
            }
            if (HasFailure()) return;
        }
        print_row(entry_names[w.of], in_words(w), runs, of_way);
        all.add(of_way);
        all_runs += runs;
    }
    print_row("all", "", all_runs, all);
    calls[counter] = asked;
    // Elsewhere extensions may be missing.
    for (unsigned e = 0; is_lavapipe && e < entries; ++e) EXPECT_GT(calls[e], 0) << entry_names[e];
    for (const std::uint64_t column : {all.completed, all.on_cores - all_runs * always_on_cores,
                                       all.rerun, all.refused, all.losses, all.refused_buffers}) {
        EXPECT_GT(column, 0U);
    }
    for (const unsigned column : {all.lost, all.stale}) EXPECT_GT(column, 0U);
    EXPECT_GT(all_runs, 10U);
}

// ---- more than one failure, and the program's memory --------------------------------------------

/// A loss, and the device that comes in its place fails, too.
TEST_P(DeviceVulkanShortRun, ADeviceMadeAnewMayFailToo) {
    braid::scheduler s(options());
    for (const VkResult with : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_INITIALIZATION_FAILED}) {
        for (int before = 0; before < 6; ++before) {
            let_fail(number_of_QueueSubmit, VK_ERROR_DEVICE_LOST, before);
            let_fail(number_of_CreateDevice, with, 1);
            play(s);
            forget_faults();
        }
    }
    EXPECT_GE(notes_.count(&recorder::log, "the Vulkan driver refused '"), 1U);
}

TEST_P(DeviceVulkanShortRun, EachRefusedAllocationOfAShortRunIsSurvived) {
    refusing_memory memory(memory_.hooks());
    braid::scheduler_options o = options();
    o.memory = memory.hooks();
    braid::scheduler s(o);
    play(s);
    for (int n = 0; n < 60; ++n) {
        SCOPED_TRACE(n);
        faulty_vulkan* gpu = nullptr;
        std::vector<std::uint32_t> numbers(64);
        memory.refuse_one_after(n);
        {
            faulty_vulkan one(s, tested(), quick());
            gpu = &one;
            const device::buffer b = one.buffer({.bytes = 400});
            braid::future<void> task = s.async([&](task_context& t) {
                const ticket first =
                    gpu->submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
                if (b) gpu->submit(t, {.kernel = add_one, .writes = {b}, .after = {first}});
            });
            const int code = code_of(std::move(task));
            EXPECT_TRUE(code != 0 || numbers[63] == 1);
            expect_account(one.report());
        }
        memory.give_back();
        EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
        if (HasFailure()) return;
    }
    EXPECT_GT(memory.refused(), 10);
}

}  // namespace
