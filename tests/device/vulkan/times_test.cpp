// When the device began with a submission and ended it, in the time of the cores.
#include "device/vulkan/device_clock.hpp"
#include "device/vulkan/vulkan_processor.hpp"
#include "vulkan_fixture.hpp"

#include <cstdlib>
#include <random>

namespace {

using namespace braid_test;
using braid::active_policy;
using braid::task_context;
using device::detail::record;
namespace vk = device::detail::vk;

// ---- the clock ---------------------------------------------------------------------------------

TEST(DeviceVulkanClock, TicksOfAnyLengthWrapAround) {
    vk::device_clock clock(2.5, 36);
    constexpr std::uint64_t last = (std::uint64_t{1} << 36) - 1;
    clock.set(last - 3, 1'000'000, 40);
    EXPECT_EQ(clock.time_of(last - 3), 1'000'000);
    EXPECT_EQ(clock.time_of(last - 7), 1'000'000 - 10);
    EXPECT_EQ(clock.time_of(0), 1'000'000 + 10);
    EXPECT_EQ(clock.time_of(396), 1'000'000 + 1'000);
    EXPECT_GE(clock.error_at(last - 3), 40);
    EXPECT_LE(clock.error_at(last - 3), 44);  // with a whole tick

    vk::device_clock whole(1, 64);
    whole.set(UINT64_MAX, 500, 0);
    EXPECT_EQ(whole.time_of(9), 510);
}

/// A run of 100 between reads that are 300 apart is known to 100; one that fits closer, to less.
TEST(DeviceVulkanClock, EachRunNarrowsWhatIsKnown) {
    vk::device_clock clock(1, 64);
    clock.narrow(1'000, 1'100, 50'000, 50'300);
    EXPECT_EQ(clock.time_of(1'000), 50'101);
    EXPECT_LE(clock.error_at(1'000), 104);
    // In truth a tick is 49,020 earlier than the time: 2'000 is at 51'020.
    clock.narrow(2'000, 2'100, 51'000, 51'150);
    EXPECT_GE(clock.time_of(2'000), 51'000);
    EXPECT_LE(clock.time_of(2'000), 51'053);
    EXPECT_LE(clock.error_at(2'000), 32);
    // A wide one takes nothing of that away, but for the drift.
    clock.narrow(3'000, 3'100, 51'000, 60'000);
    EXPECT_GE(clock.time_of(3'000), 52'000);
    EXPECT_LE(clock.time_of(3'000), 52'053);
    EXPECT_LE(clock.error_at(3'000), 36);
    // After a second the clocks may have parted.
    clock.narrow(1'000'003'000, 1'000'003'100, 999'000'000, 1'002'000'000);
    EXPECT_GT(clock.error_at(1'000'003'000), 400'000);
    // What contradicts all before counts alone.
    clock.narrow(1'000'004'000, 1'000'004'100, 7'000, 7'200);
    EXPECT_EQ(clock.time_of(1'000'004'000), 7'051);
    EXPECT_LE(clock.error_at(1'000'004'000), 54);
}

/// A device whose clock runs as fast as it may, read at whole ticks: by the driver's calibration,
/// and by its runs alone.
TEST(DeviceVulkanClock, TheStatedErrorIsABound) {
    constexpr double drift = vk::device_clock::drift;
    for (const double ns_per_tick : {1.0, 2.5, 83.3}) {
        for (const double speed : {1 - drift, 1.0, 1 + drift}) {
            const auto tick_at = [&](std::int64_t time) {
                return static_cast<std::uint64_t>(static_cast<double>(time) /
                                                  (speed * ns_per_tick));
            };
            vk::device_clock set(ns_per_tick, 48), narrowed(ns_per_tick, 48);
            std::minstd_rand random(7);
            std::int64_t now = 1'000'000, worst = 0;
            for (int i = 0; i < 5'000; ++i) {
                const auto up_to = [&](std::int64_t most) {
                    return static_cast<std::int64_t>(random()) % most;
                };
                const std::int64_t before = now += up_to(9'000'000);
                const std::int64_t begin = now += up_to(i % 7 == 0 ? 30 : 300'000);
                const std::int64_t end = now += up_to(2'000'000);
                const std::int64_t after = now += up_to(i % 5 == 0 ? 30 : 200'000);
                if (i % 4 == 0) set.set(tick_at(after), after + up_to(41) - 20, 20);
                narrowed.narrow(tick_at(begin), tick_at(end), before, after);
                for (const vk::device_clock* c : {&set, &narrowed}) {
                    for (const std::int64_t at : {begin, end}) {
                        const std::int64_t wrong = std::abs(c->time_of(tick_at(at)) - at);
                        ASSERT_LE(wrong, c->error_at(tick_at(at))) << i << " " << speed;
                        worst = std::max(worst, wrong);
                    }
                }
            }
            EXPECT_GT(worst, 20);
        }
    }
}

// ---- submissions -------------------------------------------------------------------------------

class watched_vulkan final : public vk::vulkan_processor {
public:
    using vulkan_processor::vulkan_processor;
    std::size_t size() const override { return sizeof(watched_vulkan); }
    bool start(record& r) override {
        {
            const braid::detail::locked l(lock());
            started.push_back(&r);
        }
        return vulkan_processor::start(r);
    }
    std::vector<const record*> started;
};

class watched_processor : public device::processor {
public:
    watched_processor(braid::scheduler& s, const device::vulkan_options& how,
                      const vk::interposer& between) {
        void* const room = watched_vulkan::room(s, sizeof(watched_vulkan));
        watched = ::new (room) watched_vulkan(how, between);
        start(s, {}, watched);
    }
    watched_vulkan* watched = nullptr;
};

/// What the driver says of a run, with ticks that begin earlier. How many ticks each took is kept.
std::atomic<PFN_vkGetQueryPoolResults> get_results{nullptr};
std::atomic<std::uint64_t> earlier_by{0};
std::vector<std::int64_t> lengths;
VkResult VKAPI_PTR results_of(VkDevice d, VkQueryPool p, std::uint32_t first, std::uint32_t count,
                              std::size_t bytes, void* to, VkDeviceSize stride,
                              VkQueryResultFlags how) {
    const VkResult r = get_results.load()(d, p, first, count, bytes, to, stride, how);
    auto* const ticks = static_cast<std::uint64_t*>(to);
    for (std::uint32_t i = 0; i < count; ++i) ticks[i] -= earlier_by;
    lengths.push_back(static_cast<std::int64_t>(ticks[1] - ticks[0]));
    return r;
}
void put_results(vk::device_entries& vk) {
    get_results = std::exchange(vk.GetQueryPoolResults, &results_of);
}

/// By the driver's own calibration, and without it.
const vk::interposer calibrated{.device = &put_results},
    not_calibrated{.instance =
                       [](vk::instance_entries& vk) {
                           vk.EnumerateDeviceExtensionProperties =
                               [](VkPhysicalDevice, const char*, std::uint32_t* count,
                                  VkExtensionProperties*) -> VkResult {
                               *count = 0;
                               return VK_SUCCESS;
                           };
                       },
                   .device = &put_results};
const vk::interposer without_results{.device = [](vk::device_entries& vk) {
    vk.GetQueryPoolResults = [](VkDevice, VkQueryPool, std::uint32_t, std::uint32_t, std::size_t,
                                void*, VkDeviceSize,
                                VkQueryResultFlags) -> VkResult { return VK_NOT_READY; };
}};

std::atomic<PFN_vkGetCalibratedTimestampsEXT> get_timestamps{nullptr};
std::atomic<std::int64_t> wrong_by{0};
const vk::interposer wrongly_calibrated{.device = [](vk::device_entries& vk) {
    get_timestamps = std::exchange(
        vk.GetCalibratedTimestampsEXT,
        [](VkDevice d, std::uint32_t count, const VkCalibratedTimestampInfoEXT* infos,
           std::uint64_t* ticks, std::uint64_t* deviation) -> VkResult {
            const VkResult r = get_timestamps.load()(d, count, infos, ticks, deviation);
            ticks[1] += static_cast<std::uint64_t>(wrong_by.load());
            return r;
        });
}};

/// A calibration of long ago, as when the last one is used again.
constexpr std::int64_t long_ago = 800'000'000;
const vk::interposer calibrated_before{.device = [](vk::device_entries& vk) {
    get_timestamps = std::exchange(
        vk.GetCalibratedTimestampsEXT,
        [](VkDevice d, std::uint32_t count, const VkCalibratedTimestampInfoEXT* infos,
           std::uint64_t* ticks, std::uint64_t* deviation) -> VkResult {
            const VkResult r = get_timestamps.load()(d, count, infos, ticks, deviation);
            ticks[0] -= static_cast<std::uint64_t>(long_ago);  // a tick of lavapipe is 1 ns
            ticks[1] -= static_cast<std::uint64_t>(long_ago);
            return r;
        });
}};

class DeviceVulkanTimes : public vulkan_test {};
INSTANTIATE_TEST_SUITE_P(Workers, DeviceVulkanTimes, testing::Values(2),
                         [](const auto& count) { return std::to_string(count.param); });

/// Two that the queue runs one after the other: the second waits, and that is no part of its run.
TEST_P(DeviceVulkanTimes, LieBetweenTheSubmitAndTheEndAndDoNotOverlap) {
    BRAID_SKIP_UNLESS_LAVAPIPE("is a tick a nanosecond");
    braid::scheduler s(watched_options());
    for (const vk::interposer* between : {&calibrated, &not_calibrated}) {
        SCOPED_TRACE(between == &calibrated ? "calibrated" : "not calibrated");
        earlier_by = between == &calibrated ? 0 : std::uint64_t{1} << 60;
        watched_processor gpu(s, tested(), *between);
        const std::int64_t first_round = active_policy::now();
        for (int round = 0; round < 3; ++round) {
            std::array<std::uint32_t, 2> numbers[2] = {};
            gpu.watched->started.clear();
            lengths.clear();
            const std::int64_t before = active_policy::now();
            s.wait(s.spawn([&](task_context& t) {
                for (auto& n : numbers) {
                    gpu.submit(t, {.kernel = spin, .writes = {std::span(n)}, .groups = {100}});
                }
            }));
            const std::int64_t after = active_policy::now();
            ASSERT_EQ(gpu.watched->started.size(), 2U);
            const record& first = *gpu.watched->started[0];
            const record& second = *gpu.watched->started[1];
            const std::int64_t error = gpu.report().clock_error.value;
            EXPECT_LE(before, first.begun);
            EXPECT_LE(first.finished, second.begun + 2 * error);
            EXPECT_LE(second.finished, after);
            ASSERT_EQ(lengths.size(), 2U);
            for (std::size_t i = 0; i < 2; ++i) {
                const record& r = *gpu.watched->started[i];
                EXPECT_GT(lengths[i], 0);
                EXPECT_LE(r.begun, r.finished);
                EXPECT_LE(std::abs(r.finished - r.begun - lengths[i]), 2 * error);
            }
            const std::vector<std::pair<std::int64_t, std::int64_t>> seen{
                {first.begun, first.finished}, {second.begun, second.finished}};
            EXPECT_EQ(observer_.take_runs(), seen);
            EXPECT_GT(error, 0);
            EXPECT_LT(error, after - first_round);
        }
        EXPECT_EQ(gpu.report().completed, 6U);
        std::printf("%s: to %lld ns\n", between == &calibrated ? "calibrated" : "not calibrated",
                    static_cast<long long>(gpu.report().clock_error.value));
    }
    earlier_by = 0;
}

TEST_P(DeviceVulkanTimes, StayBetweenTheSubmitAndTheEndWhateverTheDriverSays) {
    braid::scheduler s(watched_options());
    for (const std::int64_t wrong : {-3'000'000'000, 3'000'000'000}) {
        wrong_by = wrong;
        watched_processor gpu(s, tested(), wrongly_calibrated);
        std::vector<std::uint32_t> numbers(64);
        const std::int64_t before = active_policy::now();
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
        }));
        ASSERT_EQ(gpu.watched->started.size(), 1U);
        const record& r = *gpu.watched->started[0];
        EXPECT_LE(before, r.begun);
        EXPECT_LE(r.begun, r.finished);
        EXPECT_LE(r.finished, active_policy::now());
    }
}

TEST_P(DeviceVulkanTimes, AreKnownTheWorseTheOlderTheCalibrationIs) {
    BRAID_SKIP_UNLESS_LAVAPIPE("is a tick a nanosecond");
    braid::scheduler s(watched_options());
    watched_processor gpu(s, tested(), calibrated_before);
    std::array<std::uint32_t, 2> numbers{};
    s.wait(s.spawn([&](task_context& t) {
        gpu.submit(t, {.kernel = spin, .writes = {std::span(numbers)}, .groups = {100}});
    }));
    const record& r = *gpu.watched->started.front();
    // The calibration comes after the end, by however long the thread that waits was kept.
    const std::int64_t late = active_policy::now() - r.finished;
    EXPECT_GE(r.clock_error, static_cast<std::int64_t>(vk::device_clock::drift *
                                                       static_cast<double>(long_ago - late)));
    EXPECT_EQ(r.clock_error, gpu.report().clock_error.value);
}

TEST_P(DeviceVulkanTimes, AreTakenForObserversAndWhereTheDeviceSays) {
    for (const bool watched : {false, true}) {
        braid::scheduler s(watched ? watched_options() : options());
        watched_processor gpu(s, tested(), watched ? without_results : calibrated);
        std::vector<std::uint32_t> numbers(64);
        s.wait(s.spawn([&](task_context& t) {
            gpu.submit(t, {.kernel = add_one, .writes = {std::span(numbers)}});
        }));
        EXPECT_EQ(numbers[63], 1U);
        ASSERT_EQ(gpu.watched->started.size(), 1U);
        EXPECT_EQ(gpu.watched->started[0]->begun, 0);
        EXPECT_EQ(gpu.watched->started[0]->finished, 0);
        EXPECT_EQ(gpu.report().clock_error.value, 0);
        EXPECT_EQ(gpu.report().completed, 1U);
    }
}

}  // namespace
