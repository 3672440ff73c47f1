// The back end for Vulkan does what a processor does, on lavapipe or the device that
// BRAID_VULKAN_DEVICE names.
#include "device/vulkan/instance.hpp"
#include "faulty_vulkan.hpp"
#include "scratch_folder.hpp"
#include "seeded_chooser.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace braid_test;
using braid::milliseconds;
using braid::task_context;
using device::ticket;

class DeviceVulkan : public faulty_vulkan_test {};
INSTANTIATE_TEST_SUITE_P(Workers, DeviceVulkan,
                         testing::ValuesIn(std::getenv("BRAID_TEST_WORKERS") != nullptr
                                               ? worker_counts()
                                               : std::vector<int>{0, 2, 8}),
                         [](const auto& count) { return std::to_string(count.param); });

/// Says at the end on what was tested.
class summary : public testing::Environment {
    void TearDown() override {
        std::string driver = "none";
        for (const auto& d : device::vulkan::devices()) {
            if (d.name.find(tested_device) != std::string::npos) driver = d.name;
        }
        std::printf("driver: %s; validation messages: %zu\n", driver.c_str(),
                    validation_messages.load());
    }
};

std::vector<float> ramp(std::size_t size, float step) {
    std::vector<float> all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = step * static_cast<float>(i) + 1 / step;
    return all;
}

TEST_P(DeviceVulkan, SaxpyComesToTheBytesOfTheCores) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    device::cpu cores(s);
    const std::vector<float> x = ramp(1'000, 0.37F);
    std::vector<float> wanted = ramp(1'000, 1.7F), spans = wanted;
    const device::buffer bx = gpu.buffer({.name = "x", .bytes = 4'000});
    const device::buffer by = gpu.buffer({.name = "y", .bytes = 4'000});
    std::copy(x.begin(), x.end(), gpu.map<float>(bx).begin());
    std::copy(spans.begin(), spans.end(), gpu.map<float>(by).begin());
    s.wait(s.spawn([&](task_context& t) {
        const float factor = 1.1F;
        const auto a = device::bytes_of(factor);
        cores.submit(t, {.kernel = saxpy,
                         .reads = {std::span(x)},
                         .writes = {std::span(wanted)},
                         .groups = {16},
                         .constants = a});
        gpu.submit(t, {.kernel = saxpy,
                       .reads = {std::span(x)},
                       .writes = {std::span(spans)},
                       .groups = {16},
                       .constants = a});
        gpu.submit(
            t, {.kernel = saxpy, .reads = {bx}, .writes = {by}, .groups = {16}, .constants = a});
    }));
    EXPECT_EQ(std::memcmp(spans.data(), wanted.data(), 4'000), 0);
    EXPECT_EQ(std::memcmp(gpu.map<float>(by).data(), wanted.data(), 4'000), 0);
    EXPECT_EQ(gpu.report().completed, 2U);
    expect_account(gpu.report());
}

TEST_P(DeviceVulkan, AChainOnOneBufferRunsInItsOrder) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const device::buffer list = gpu.buffer({.name = "list", .bytes = 4 * 65});
    s.wait(s.spawn([&](task_context& t) {
        ticket last;
        for (std::uint32_t i = 0; i < 64; ++i) {
            last = gpu.submit(t, {.kernel = append,
                                  .writes = {list},
                                  .constants = device::bytes_of(i * i),
                                  .after = {last}});
        }
    }));
    const std::span<const std::uint32_t> all = gpu.map<std::uint32_t>(list);
    EXPECT_EQ(all[0], 64U);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(all[i + 1], i * i);
    EXPECT_EQ(gpu.report().completed, 64U);
    expect_account(gpu.report());
}

/// 40 steps over one buffer and over memory that several of them name: barriers keep their order,
/// and memory is copied once.
TEST_P(DeviceVulkan, ASequenceIsOneSubmissionWithBarriers) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const device::buffer list = gpu.buffer({.name = "list", .bytes = 4 * 65});
    std::vector<std::uint32_t> memory(1'024, 5);
    const std::vector<float> x = ramp(64, 0.3F);
    std::vector<float> sums(64, 0), wanted = sums;
    device::sequence steps(gpu, "steps");
    for (std::uint32_t i = 0; i < 10; ++i) {
        const float factor = 1.1F + static_cast<float>(i);
        for (float& w : wanted) w = factor * x[static_cast<std::size_t>(&w - wanted.data())] + w;
        ASSERT_TRUE(
            steps.add({.kernel = append, .writes = {list}, .constants = device::bytes_of(i + 3)}));
        ASSERT_TRUE(steps.add({.kernel = saxpy,
                               .reads = {std::span(x)},
                               .writes = {std::span(sums)},
                               .constants = device::bytes_of(factor)}));
        // The whole, and a half of it that begins where an operand may.
        ASSERT_TRUE(steps.add({.kernel = add_one, .writes = {std::span(memory)}, .groups = {16}}));
        ASSERT_TRUE(steps.add(
            {.kernel = add_one, .writes = {std::span(memory).subspan(512)}, .groups = {8}}));
    }
    for (int round = 1; round <= 3; ++round) {
        s.wait(s.spawn([&](task_context& t) { EXPECT_TRUE(gpu.submit(t, steps)); }));
        for (std::uint32_t i = 0; i < 1'024; ++i) {
            ASSERT_EQ(memory[i], 5U + (i < 512 ? 10U : 20U) * static_cast<unsigned>(round));
        }
        if (round == 1) {
            EXPECT_EQ(std::memcmp(sums.data(), wanted.data(), 256), 0);
        }
        const std::span<std::uint32_t> all = gpu.map<std::uint32_t>(list);
        EXPECT_EQ(all[0], 10U);
        for (std::uint32_t i = 0; i < 10; ++i) ASSERT_EQ(all[i + 1], i + 3);
        all[0] = 0;
    }
    EXPECT_EQ(gpu.report().completed, 3U);
    expect_account(gpu.report());
}

/// An operand would begin in the middle of another one, where the device takes none.
TEST_P(DeviceVulkan, ASequenceThatItCannotTakeRunsOnTheCores) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const device::buffer b = gpu.buffer({.name = "b", .bytes = 1'024});
    std::vector<std::uint32_t> memory(64, 5);
    device::sequence overlaps(gpu), shifted(gpu);
    EXPECT_TRUE(overlaps.add({.kernel = add_one, .writes = {std::span(memory)}}));
    EXPECT_TRUE(overlaps.add({.kernel = add_one, .writes = {std::span(memory).subspan(1)}}));
    EXPECT_TRUE(shifted.add({.kernel = add_one, .writes = {b}, .groups = {4}}));
    EXPECT_TRUE(shifted.add(
        {.kernel = add_one, .writes = {device::buffer_range{b, 4, 1'020}}, .groups = {4}}));
    s.wait(s.spawn([&](task_context& t) {
        gpu.submit(t, overlaps);
        gpu.submit(t, shifted);
    }));
    EXPECT_EQ(memory[0], 6U);
    EXPECT_EQ(memory[63], 7U);
    EXPECT_EQ(gpu.map<std::uint32_t>(b)[0], 1U);
    EXPECT_EQ(gpu.map<std::uint32_t>(b)[255], 2U);
    EXPECT_EQ(gpu.report().moved_to_cores, 2U);
}

TEST_P(DeviceVulkan, ProcessorsPassAChainToEachOther) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    device::cpu cores(s);
    std::vector<std::uint32_t> numbers(100, 7);
    s.wait(s.spawn([&](task_context& t) {
        ticket last;
        for (int i = 0; i < 20; ++i) {
            device::processor& next = i % 2 == 0 ? static_cast<device::processor&>(gpu) : cores;
            last = next.submit(t, {.kernel = add_one,
                                   .writes = {std::span(numbers)},
                                   .groups = {2},
                                   .after = {last}});
        }
    }));
    EXPECT_EQ(numbers, std::vector<std::uint32_t>(100, 27));
    EXPECT_EQ(gpu.report().completed, 10U);
}

TEST_P(DeviceVulkan, MoreThanFitWaitAndAllEnd) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested(), {.max_in_flight = 4});
    std::vector<std::uint32_t> numbers(64 * 200);
    for (int task = 0; task < 2; ++task) {
        s.wait(s.spawn([&](task_context& t) {
            for (std::size_t i = 0; i < 200; ++i) {
                gpu.submit(t,
                           {.kernel = add_one, .writes = {std::span(numbers).subspan(64 * i, 64)}});
            }
        }));
    }
    EXPECT_EQ(numbers, std::vector<std::uint32_t>(64 * 200, 2));
    const device::processor_report r = gpu.report();
    EXPECT_EQ(r.completed, 400U);
    EXPECT_LE(r.most_in_flight, 4U);
    expect_account(r);
}

TEST_P(DeviceVulkan, ABufferIsZeroAtFirstAndIsMappedWhenNothingUsesIt) {
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick());
    device::buffer b = gpu.buffer({.bytes = 8});
    gpu.map<std::uint32_t>(b)[0] = 5;
    gpu.release(b);
    b = gpu.buffer({.name = "in use", .bytes = 8});
    EXPECT_EQ(gpu.map<std::uint32_t>(b)[0], 0U);
    hold_ends();
    const auto task = s.spawn([&](task_context& t) {
        gpu.submit(t, {.kernel = add_one, .writes = {b}});
        EXPECT_TRUE(gpu.map<std::uint32_t>(b).empty());
        forget_faults();
    });
    s.wait(task);
    EXPECT_EQ(notes_.count(&recorder::misuse, "a submission uses buffer 'in use'"), 1U);
    EXPECT_EQ(gpu.map<std::uint32_t>(b)[0], 1U);
}

TEST_P(DeviceVulkan, ConstantsThatWereNotGivenAreZero) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    std::array<std::uint32_t, 32> given{}, all{}, some{};
    std::iota(given.begin(), given.end(), 1U);
    s.wait(s.spawn([&](task_context& t) {
        const ticket first = gpu.submit(t, {.kernel = show_constants,
                                            .writes = {std::span(all)},
                                            .constants = device::bytes_of(given)});
        gpu.submit(t, {.kernel = show_constants,
                       .writes = {std::span(some)},
                       .constants = std::as_bytes(std::span(given).first(2)),
                       .after = {first}});
    }));
    EXPECT_EQ(all, given);
    std::fill(given.begin() + 2, given.end(), 0U);
    EXPECT_EQ(some, given);
    EXPECT_EQ(gpu.report().completed, 2U);
}

TEST_P(DeviceVulkan, GroupsHaveThreeCounts) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    device::cpu cores(s);
    std::array<std::uint32_t, 60> there{}, here{};
    s.wait(s.spawn([&](task_context& t) {
        gpu.submit(t, {.kernel = grid, .writes = {std::span(there)}, .groups = {3, 4, 5}});
        cores.submit(t, {.kernel = grid, .writes = {std::span(here)}, .groups = {3, 4, 5}});
    }));
    EXPECT_EQ(there, here);
    EXPECT_EQ(there[59], 2U | 3U << 8 | 4U << 16);
}

/// A range anywhere in a buffer is computed on, and nothing beside it is touched.
TEST_P(DeviceVulkan, ARangeThatNoDeviceBindsIsCopied) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const device::buffer b = gpu.buffer({.bytes = 4 * 200});
    s.wait(s.spawn([&](task_context& t) {
        const ticket first =
            gpu.submit(t, {.kernel = add_one, .writes = {device::buffer_range{b, 4, 40}}});
        gpu.submit(
            t, {.kernel = add_one, .writes = {device::buffer_range{b, 256, 40}}, .after = {first}});
    }));
    const std::span<const std::uint32_t> all = gpu.map<std::uint32_t>(b);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], (i >= 1 && i < 11) || (i >= 64 && i < 74) ? 1U : 0U) << i;
    }
    EXPECT_EQ(gpu.report().completed, 2U);
}

TEST_P(DeviceVulkan, WhatTheDeviceCannotRunsOnTheCores) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const device::buffer b = gpu.buffer({.bytes = 40});
    s.wait(s.spawn([&](task_context& t) {
        // No SPIR-V, and an operand without bytes.
        const ticket first = gpu.submit(t, {.kernel = increment, .writes = {b}});
        gpu.submit(t, {.kernel = add_one, .writes = {b}, .after = {first}});
        gpu.submit(t, {.kernel = saxpy,
                       .reads = {std::span<const float>()},
                       .writes = {std::span<float>()},
                       .constants = device::bytes_of(1.0F)});
    }));
    for (const std::uint32_t n : gpu.map<std::uint32_t>(b)) EXPECT_EQ(n, 2U);
    EXPECT_EQ(gpu.report().moved_to_cores, 2U);
    EXPECT_EQ(gpu.report().completed, 1U);
    expect_account(gpu.report());
}

TEST_P(DeviceVulkan, WhatIsNoSpirvIsRefused) {
    braid::scheduler s(options());
    device::vulkan gpu(s, tested());
    const std::array<std::uint32_t, 8> words{1, 2, 3};
    const device::kernel broken{"broken", &nothing_group, words};
    s.wait(s.spawn([&](task_context& t) { EXPECT_FALSE(gpu.submit(t, {.kernel = broken})); }));
    EXPECT_EQ(notes_.count(&recorder::misuse,
                           "the SPIR-V of 'broken' does not begin with its magic number"),
              1U);
}

// ---- without a device --------------------------------------------------------------------------

TEST_P(DeviceVulkan, AnotherNameThanThoseOfDevicesIsAnsweredWithThem) {
    braid::scheduler s(options());
    std::vector<std::uint32_t> numbers(64);
    {
        device::vulkan gpu(s, {.device = "TNT2"}, {.name = "old"});
        const device::buffer b = gpu.buffer({.bytes = 40});
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
            gpu.submit(t, {.kernel = add_one, .writes = {b}});
        }));
        EXPECT_EQ(numbers, std::vector<std::uint32_t>(64, 1));
        EXPECT_EQ(gpu.map<std::uint32_t>(b)[9], 1U);
        EXPECT_EQ(gpu.report().moved_to_cores, 2U);
        EXPECT_EQ(notes_.count(&recorder::log,
                               "processor 'old' runs everything on the cores: no usable Vulkan "
                               "device has 'TNT2' in its name, there are: "),
                  1U);
        EXPECT_EQ(notes_.count(&recorder::log, tested_device.c_str()), 1U);
    }
    if (!is_lavapipe) return;  // another one would be taken
    device::vulkan unnamed(s, {});
    EXPECT_EQ(notes_.count(&recorder::log, "no Vulkan device of its own, there are: llvmpipe"), 1U);
    EXPECT_EQ(notes_.count(&recorder::log, "runs everything on the cores"), 2U);
}

TEST_P(DeviceVulkan, UnderAChooserItRunsOnTheCores) {
    seeded_chooser chooser(3);
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    device::vulkan gpu(s, tested());
    std::vector<std::uint32_t> numbers(64);
    s.wait(s.spawn([&](task_context& t) {
        gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
    }));
    EXPECT_EQ(numbers, std::vector<std::uint32_t>(64, 1));
    EXPECT_EQ(gpu.report().moved_to_cores, 1U);
}

// ---- it takes long -----------------------------------------------------------------------------

/// The first one is in flight until the others are seen to be cancelled.
TEST_P(DeviceVulkan, ItsEndWaitsForWhatIsInFlightAndCancelsTheRest) {
    braid::scheduler s(options());
    std::array<std::uint32_t, 2> numbers[3] = {};
    std::vector<braid::future<void>> tasks;
    std::thread goes_on;
    {
        device::processor_options o = quick();
        o.max_in_flight = 1;
        faulty_vulkan gpu(s, tested(), o);
        hold_ends();
        for (auto& n : numbers) {
            std::atomic<bool> submitted{false};
            tasks.push_back(s.async([&](task_context& t) {
                gpu.submit(t, {.kernel = add_one, .writes = {std::span(n)}});
                submitted = true;
            }));
            work_until(s, [&] { return submitted && gpu.report().in_flight == 1; });
        }
        goes_on = std::thread([&] {
            until([&] { return tasks[1].ready() && tasks[2].ready(); });
            EXPECT_FALSE(tasks[0].ready());
            forget_faults();
        });
    }
    EXPECT_EQ(numbers[0][0], 1U);
    goes_on.join();
    EXPECT_EQ(numbers[1][0], 0U);
    EXPECT_EQ(numbers[2][0], 0U);
    EXPECT_EQ(code_of(std::move(tasks[0])), 0);
    EXPECT_EQ(code_of(std::move(tasks[1])), -1);
    EXPECT_EQ(code_of(std::move(tasks[2])), -1);
}

TEST_P(DeviceVulkan, ACancelledScopeEndsWhatIsQueuedAndWaitsForTheRest) {
    braid::scheduler s(options());
    device::processor_options o = quick();
    o.max_in_flight = 1;
    faulty_vulkan gpu(s, tested(), o);
    std::array<std::uint32_t, 2> numbers[4] = {};
    std::atomic<bool> submitted{false};
    braid::scope level(s);
    hold_ends();
    braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
        for (auto& n : numbers) gpu.submit(t, {.kernel = add_one, .writes = {std::span(n)}});
        submitted = true;
    });
    work_until(s, [&] { return submitted && gpu.report().in_flight == 1; });
    level.cancel();
    work_until(s, [&] { return gpu.report().cancelled == 3; });
    EXPECT_EQ(gpu.report().in_flight, 1U);
    EXPECT_FALSE(task.ready());
    forget_faults();
    EXPECT_EQ(code_of(std::move(task)), -1);
    level.wait();
    EXPECT_EQ(numbers[0][0], 1U);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(numbers[i][0], 0U);
    expect_account(gpu.report());
}

/// One that is late before the device has it is not in flight, so another one is tried.
TEST_P(DeviceVulkan, WhatIsLateWritesNothingAnyMore) {
    braid::scheduler s(options());
    faulty_vulkan gpu(s, tested(), quick());
    const device::buffer b = gpu.buffer({.bytes = 8});
    std::array<std::uint32_t, 2> number{};
    std::uint64_t tried = 0;
    hold_ends();
    while (gpu.report().in_flight == 0) {
        ++tried;
        const int code = code_of(s.async([&](task_context& t) {
            gpu.submit(
                t,
                {.kernel = add_one, .writes = {std::span(number)}, .deadline = milliseconds(20)});
        }),
                                 braid::completion_error::deadline_passed);
        ASSERT_EQ(code, braid::completion_error::deadline_passed);
    }
    EXPECT_EQ(number[0], 0U);
    forget_faults();
    work_until(s, [&] { return gpu.report().in_flight == 0; });
    EXPECT_EQ(number[0], 0U);
    EXPECT_EQ(gpu.report().timed_out, tried);
    EXPECT_GE(gpu.report().late_ends, 1U);
    expect_account(gpu.report());
    EXPECT_FALSE(gpu.map<std::uint32_t>(b).empty());
}

// ---- kernels -----------------------------------------------------------------------------------

TEST_P(DeviceVulkan, CompiledKernelsLieInAFileAndABrokenOneIsWrittenAnew) {
    braid::scheduler s(options());
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "pipelines").string();
    const auto run = [&] {
        std::vector<std::uint32_t> numbers(64);
        device::vulkan_options how = tested();
        how.pipeline_cache = path.c_str();
        device::vulkan gpu(s, how);
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
        }));
        EXPECT_EQ(numbers[63], 1U);
        EXPECT_EQ(gpu.report().completed, 1U);
    };
    run();
    std::string first;
    {
        std::ifstream file(path, std::ios::binary);
        first.assign(std::istreambuf_iterator<char>(file), {});
    }
    ASSERT_GT(first.size(), 64U);
    EXPECT_EQ(first.substr(0, 4), "RBDP");
    run();
    EXPECT_EQ(notes_.count(&recorder::log, path.c_str()), 0U);
    const auto spoil = [&](std::size_t at, std::size_t length) {
        std::string other = first.substr(0, length);
        if (at < other.size()) other[at] ^= 1;
        std::ofstream(path, std::ios::binary) << other;
        run();
    };
    const std::size_t all = first.size();
    spoil(0, all);
    EXPECT_EQ(notes_.count(&recorder::log, "is no such file: kernels are compiled anew"), 1U);
    spoil(4, all);
    EXPECT_EQ(notes_.count(&recorder::log, "is of another version of Braid"), 1U);
    spoil(8, all);
    spoil(24, all);
    EXPECT_EQ(notes_.count(&recorder::log, "is of another driver or device"), 2U);
    spoil(all - 1, all);
    spoil(all, all - 1);
    spoil(all, 20);
    EXPECT_EQ(notes_.count(&recorder::log, "is broken: kernels are compiled anew"), 3U);
    EXPECT_EQ(notes_.count(&recorder::log, path.c_str()), 7U);
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), first);
}

TEST(DeviceVulkanKernels, AreValidSpirv) {
    const std::pair<const char*, std::span<const std::uint32_t>> all[] = {
        {"append", append_spirv},       {"constants", constants_spirv}, {"grid", grid_spirv},
        {"increment", increment_spirv}, {"saxpy", saxpy_spirv},         {"spin", spin_spirv}};
    const braid_test::scratch_folder folder;
    for (const auto& [name, words] : all) {
        const std::string path = (folder / (std::string(name) + ".spv")).string();
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(words.data()),
                   static_cast<std::streamsize>(words.size_bytes()));
        EXPECT_EQ(std::system(("spirv-val --target-env vulkan1.2 " + path).c_str()), 0) << name;
    }
}

TEST(DeviceVulkanDevices, AreListedWithWhatTheyLack) {
    const std::vector<device::vulkan::device_facts> all = device::vulkan::devices();
    const auto tested = std::find_if(all.begin(), all.end(), [](const auto& d) {
        return d.name.find(tested_device) != std::string::npos;
    });
    ASSERT_NE(tested, all.end()) << "lavapipe is missing: run scripts/setup.sh vulkan";
    EXPECT_EQ(tested->lacks, "");
    if (!is_lavapipe) return;
    EXPECT_EQ(all.size(), 1U);
    EXPECT_EQ(tested->type, "cpu");
}

/// Lavapipe and no other driver, with few threads of its own. A machine without it has no device.
void choose_lavapipe() {
    std::string driver = "there is no lavapipe";
    for (const char* folder : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
        if (!std::filesystem::is_directory(folder)) continue;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            const std::string name = file.path().filename();
            if (name.starts_with("lvp_icd")) driver = file.path();
        }
    }
    setenv("VK_DRIVER_FILES", driver.c_str(), 1);
    setenv("LP_NUM_THREADS", "1", 1);
    tested_device = "llvmpipe";
}

/// Keeps the driver loaded until the process ends, with the threads that it makes. NVIDIA's refuses
/// an instance after it has been loaded and unloaded some hundred times (580.159.04, an H200).
void keep_driver() {
    auto* const kept = new device::detail::vk::instance;  // until the process ends
    static_cast<void>(kept->open({}, nullptr, nullptr));
    braid::scheduler s({.workers = 0});
    const device::vulkan first(s, {.device = tested_device.c_str()});
}

/// With the machine's own drivers: by a part of its name, or the first, and a CPU last. False:
/// there is none, which is said.
bool choose(const std::string& wish) {
    is_lavapipe = false;
    std::string others;
    for (const auto& d : device::vulkan::devices()) {
        others += (others.empty() ? "" : ", ") + d.name;
        if (!d.lacks.empty()) continue;
        const bool is_meant = wish == "any" ? d.type != "cpu" || tested_device.empty()
                                            : d.name.find(wish) != std::string::npos;
        if (is_meant) tested_device = d.name;
        if (is_meant && d.type != "cpu") break;
    }
    if (!tested_device.empty()) {
        keep_driver();
        return true;
    }
    std::fprintf(stderr,
                 "BRAID_VULKAN_DEVICE: no device that can be used is called '%s'; there is %s.\n",
                 wish.c_str(), others.empty() ? "none" : others.c_str());
    return false;
}

}  // namespace

int main(int count, char** arguments) {
    const char* const wish = std::getenv("BRAID_VULKAN_DEVICE");
    if (wish == nullptr) {
        choose_lavapipe();
    } else if (!choose(wish)) {
        return 2;
    }
    testing::InitGoogleTest(&count, arguments);
    testing::AddGlobalTestEnvironment(new summary);
    return RUN_ALL_TESTS();
}
