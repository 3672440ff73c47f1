// Processors that are no threads: the critical path passes through them, they are a cause, and
// kernels can be made faster.
#include "profile/analysis/critical_path.hpp"
#include "profile/analysis/diagnosis.hpp"
#include "profile/analysis/what_if.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::record_kind;
using braid_test::scene_builder;
using braid_test::us;

/// Frame 37: task 1 submits completion 9, of a kernel that runs from `begin` to `end` on a lane of
/// its own; draw comes after it.
struct device_scene : scene_builder {
    device_scene() {
        device = lane(profile::lane_kind::device);
        outside = lane(profile::lane_kind::other);
        kernel = type("skinning", "skin.cpp", 40);
        bake = type("bake", "bake.cpp", 2);
    }
    void submit(std::uint64_t at, std::uint64_t begin, std::uint64_t end) {
        spawn(0, 5, 1, skin).say(1, 10, record_kind::started, 1, 0, skin);
        say(1, at, record_kind::deferred, 9, 1, kernel).say(1, at + 20, record_kind::ended, 1);
        say(device, begin, record_kind::started, 9, 0, kernel);
        say(device, end, record_kind::ended, 9);
        say(outside, end + 10, record_kind::settled, 9, 1, kernel);
        say(outside, end + 11, record_kind::completed, 1);
        spawn(0, 6, 2, draw, {1}).ready(outside, end + 12, 2, 1);
        run(1, end + 14, end + 1000, 2, draw);
        finish = end + 1050;
    }
    /// Task 3 has submitted something else, which the processor runs until then.
    void occupy(std::uint64_t until) {
        spawn(0, 4, 3, other).say(2, 8, record_kind::started, 3, 0, other);
        say(2, 20, record_kind::deferred, 8, 3, bake).say(2, 30, record_kind::ended, 3);
        say(device, 25, record_kind::started, 8, 0, bake);
        say(device, until, record_kind::ended, 8);
        say(outside, until + 1, record_kind::settled, 8, 3, bake);
        say(outside, until + 2, record_kind::completed, 3);
    }
    profile::capture made() { return whole(finish, 2); }
    std::uint32_t device = 0, outside = 0, kernel = 0, bake = 0;
    std::uint64_t finish = 0;
};

struct examined {
    explicit examined(profile::capture made)
        : c(std::move(made)),
          t(make_history(c)),
          graph(make_frame_graph(t, t.frames.at(0))),
          path(critical_path(graph)),
          found(profile::diagnostician(t).examine(graph, path)) {}
    const profile::path_step* step_on_device() const {
        for (const profile::path_step& s : path) {
            if (t.is_on_device(s.body)) return &s;
        }
        return nullptr;
    }
    profile::capture c;
    profile::history t;
    profile::frame_graph graph;
    std::vector<profile::path_step> path;
    std::optional<profile::diagnosis> found;
};

TEST(DeviceAnalysis, TheCriticalPathPassesThroughTheProcessor) {
    device_scene b;
    b.submit(50, 60, 5060);
    const examined e(b.made());
    ASSERT_NE(e.step_on_device(), nullptr);
    EXPECT_EQ(e.step_on_device()->length(), 5000 * us);
    EXPECT_EQ(e.step_on_device()->waits.queue, 10 * us);
    std::uint64_t sum = 0;
    for (const profile::path_step& s : e.path) {
        sum +=
            s.length() + s.waits.dependency + s.waits.external + s.waits.queue + s.waits.affinity;
    }
    EXPECT_EQ(sum, e.t.frames[0].length());
    const profile::task_row& work = e.t.tasks[e.t.find(9, 60 * us)];
    EXPECT_EQ(work.spawned, 50 * us);
    EXPECT_EQ(work.started, 60 * us);
    EXPECT_EQ(work.ended, 5060 * us);
    EXPECT_EQ(work.completed, 5070 * us);
}

TEST(DeviceAnalysis, AQueueThatIsFullIsNamed) {
    device_scene b;
    b.occupy(6000);
    b.submit(50, 6001, 8001);
    const examined e(b.made());
    ASSERT_TRUE(e.found);
    EXPECT_EQ(e.found->why, profile::cause::device);
    EXPECT_EQ(e.found->type, b.kernel);
    EXPECT_NE(e.found->sentence.find("'skinning' (skin.cpp:40) waited 5.9 ms in the queue of "
                                     "'lane 4', which ran other work"),
              std::string::npos)
        << e.found->sentence;
    EXPECT_NEAR(static_cast<double>(e.found->save), 5950.0 * us, 60.0 * us);
}

TEST(DeviceAnalysis, ATransferIsNamed) {
    device_scene b;
    b.submit(50, 60, 6060);
    b.say(b.device, 61, record_kind::scope_begin).say(b.device, 4061, record_kind::scope_end);
    const examined e(b.made());
    ASSERT_TRUE(e.found);
    EXPECT_EQ(e.found->why, profile::cause::device);
    EXPECT_NE(e.found->sentence.find("waited 4.0 ms for 'lane 4' to copy"), std::string::npos)
        << e.found->sentence;
    EXPECT_EQ(e.found->save, 4000 * us);
}

TEST(DeviceAnalysis, ALateSubmitIsNamedWhereOthersComeEarly) {
    device_scene b;
    // Eight times another task submits it 10 us after its begin.
    for (std::uint64_t i = 0; i < 8; ++i) {
        const std::uint64_t at = 20'000 + i * 4000;
        b.spawn(0, at, 100 + i, b.other).say(2, at + 1, record_kind::started, 100 + i, 0, b.other);
        b.say(2, at + 11, record_kind::deferred, 200 + i, 100 + i, b.kernel);
        b.say(2, at + 12, record_kind::ended, 100 + i);
        b.say(b.device, at + 12, record_kind::started, 200 + i, 0, b.kernel);
        b.say(b.device, at + 2992, record_kind::ended, 200 + i);
        b.say(b.outside, at + 2993, record_kind::settled, 200 + i, 100 + i, b.kernel);
        b.say(b.outside, at + 2994, record_kind::completed, 100 + i);
    }
    b.submit(5010, 5020, 8000);
    const examined e(b.made());
    ASSERT_TRUE(e.found);
    EXPECT_EQ(e.found->why, profile::cause::device);
    EXPECT_NE(e.found->sentence.find("came to 'lane 4' 5.0 ms later than usual"), std::string::npos)
        << e.found->sentence;
}

TEST(DeviceAnalysis, WhatIfMakesAKernelFasterAndLeavesTheProcessorsAlone) {
    device_scene b;
    b.submit(50, 60, 5060);
    const profile::capture c = b.made();
    const profile::history t = make_history(c);
    const profile::frame_model model = make_frame_model(t, t.frames.at(0));
    const std::uint64_t same = simulate(model, {});
    const std::uint64_t faster = simulate(model, {.faster_type = b.kernel, .times = 2});
    EXPECT_NEAR(static_cast<double>(same - faster), 2500.0 * us, 5.0 * us);
    // No core is slow enough to make a processor slower.
    const std::uint64_t slow = simulate(model, {.cores = 2, .slow_cores = 2, .slow_factor = 100});
    EXPECT_GE(slow, 5000 * us);
    EXPECT_LE(slow, same + 2 * 1000 * us * 100);
    EXPECT_EQ(model.devices, 1U);
    EXPECT_LE(model.recorded_cores, 3U);
}

TEST(DeviceAnalysis, TwoKernelsOfOneLaneRunOneAfterTheOtherInTheModel) {
    device_scene b;
    b.occupy(4025);
    b.submit(50, 4026, 6026);
    const profile::capture c = b.made();
    const profile::history t = make_history(c);
    const profile::frame_model model = make_frame_model(t, t.frames.at(0));
    const std::uint64_t same = simulate(model, {});
    EXPECT_GE(same, 6000 * us);
    const std::uint64_t faster = simulate(model, {.faster_type = b.bake, .times = 4});
    EXPECT_NEAR(static_cast<double>(same - faster), 3000.0 * us, 50.0 * us);
}

}  // namespace
