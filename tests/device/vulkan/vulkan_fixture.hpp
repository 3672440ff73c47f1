#pragma once
// What tests of graphics processors share: lavapipe under the validation layer, without a message.

#include <braid/core/observer.hpp>
#include <braid/device/vulkan.hpp>

#include "append_spirv.hpp"
#include "constants_spirv.hpp"
#include "device_fixture.hpp"
#include "grid_spirv.hpp"
#include "increment_spirv.hpp"
#include "saxpy_spirv.hpp"
#include "spin_spirv.hpp"

#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace braid_test {

/// Tests run on the device of that name, which main() finds.
inline std::string tested_device;
/// By main(), and not one that was asked for: what is known of it alone is tested, too.
inline bool is_lavapipe = true;
/// Ticks of lavapipe are nanoseconds, and it imports memory.
#define BRAID_SKIP_UNLESS_LAVAPIPE(why) \
    if (!is_lavapipe) GTEST_SKIP() << "only on lavapipe " << (why)

/// What the validation layer has said in this process.
inline std::atomic<std::size_t> validation_messages{0};

inline void saxpy_group(const device::group& g) {
    const auto a = g.constants<float>();
    const std::span<const float> x = g.read<float>(0);
    const std::span<float> y = g.write<float>(0);
    const std::size_t end = std::min(y.size(), std::size_t{g.x()} * 64 + 64);
    for (std::size_t i = std::size_t{g.x()} * 64; i < end; ++i) y[i] = a * x[i] + y[i];
}
inline constexpr device::kernel saxpy{"saxpy", &saxpy_group, saxpy_spirv};

inline void append_group(const device::group& g) {
    const std::span<std::uint32_t> list = g.write<std::uint32_t>(0);
    list[1 + list[0]++] = g.constants<std::uint32_t>();
}
inline constexpr device::kernel append{"append", &append_group, append_spirv};

inline void add_one_group(const device::group& g) {
    const std::span<std::uint32_t> all = g.write<std::uint32_t>(0);
    const std::size_t end = std::min(all.size(), std::size_t{g.x()} * 64 + 64);
    for (std::size_t i = std::size_t{g.x()} * 64; i < end; ++i) ++all[i];
}
inline constexpr device::kernel add_one{"add_one", &add_one_group, increment_spirv};

inline void grid_group(const device::group& g) {
    const device::group_counts n = g.groups();
    g.write<std::uint32_t>(0)[(g.z() * n.y + g.y()) * n.x + g.x()] =
        g.x() | g.y() << 8 | g.z() << 16;
}
inline constexpr device::kernel grid{"grid", &grid_group, grid_spirv};

inline void constants_group(const device::group& g) {
    const auto given = g.constants<std::array<std::uint32_t, 32>>();
    std::copy(given.begin(), given.end(), g.write<std::uint32_t>(0).begin());
}
inline constexpr device::kernel show_constants{"constants", &constants_group, constants_spirv};

/// On the cores it does not take its time.
inline void spin_group(const device::group& g) {
    if (g.x() == 0) ++g.write<std::uint32_t>(0)[0];
}
inline constexpr device::kernel spin{"spin", &spin_group, spin_spirv};

/// Begin and end of each run.
class run_observer final : public braid::observer {
public:
    std::vector<std::pair<std::int64_t, std::int64_t>> take_runs() {
        const std::lock_guard lock(mutex_);
        return std::exchange(runs_, {});
    }

private:
    void on_event(const braid::task_event&) override {}
    void on_external(const braid::external_run& r) override {
        const std::lock_guard lock(mutex_);
        runs_.emplace_back(r.begin, r.end);
    }

    std::mutex mutex_;
    std::vector<std::pair<std::int64_t, std::int64_t>> runs_;
};

class vulkan_test : public scheduler_test {
protected:
    void TearDown() override {
        scheduler_test::TearDown();
        const std::size_t said = notes_.count(&recorder::log, "validation");
        validation_messages += said;
        if (said == 0 && !HasFailure()) return;
        for (const std::string& line : notes_.log) ADD_FAILURE() << "log: " << line;
    }
    /// So that the device takes the times of submissions.
    braid::scheduler_options watched_options() {
        braid::scheduler_options o = options();
        o.observer = &observer_;
        return o;
    }
    run_observer observer_;
    static device::vulkan_options tested() {
        return {.device = tested_device.c_str(), .validation = true};
    }
};

}  // namespace braid_test
