// A recorded frame again on other machines: what list scheduling must say about known graphs.
#include "profile/analysis/what_if.hpp"

#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::us;
using profile::machine;

class WhatIf : public testing::Test {
protected:
    void take(profile::capture c) {
        c_ = std::move(c);
        t_ = make_history(c_);
        ASSERT_EQ(t_.frames.size(), 1U);
        model_ = make_frame_model(t_, t_.frames[0]);
    }
    /// Of the frame on that machine, in us.
    double takes(const machine& on) {
        return static_cast<double>(simulate(model_, on)) / static_cast<double>(us);
    }
    double takes(unsigned cores) {
        machine m;
        m.cores = cores;
        return takes(m);
    }
    profile::capture c_;
    profile::history t_;
    profile::frame_model model_;
};

/// Eight tasks of 1 ms that nothing holds back, recorded on one worker.
profile::capture eight_free_tasks(std::uint8_t flags = 1) {
    braid_test::scene_builder b(1);
    for (std::uint64_t i = 0; i < 8; ++i) {
        b.spawn(0, 5, 1 + i, b.skin, {}, flags)
            .run(1, 10 + 1000 * i, 1010 + 1000 * i, 1 + i, b.skin);
    }
    return b.whole(8020, 0);
}

TEST_F(WhatIf, FreeTasksTakeTheirShareOfTheCores) {
    take(eight_free_tasks());
    for (const unsigned cores : {1U, 2U, 4U, 8U, 16U}) {
        EXPECT_NEAR(takes(cores), 8000.0 / std::min(cores, 8U), 40) << cores;
    }
    EXPECT_NEAR(takes(3), 3000, 40);
}

TEST_F(WhatIf, RestrictedTasksStayOnOneCore) {
    take(eight_free_tasks(1 | profile::spawn_restricted));
    EXPECT_NEAR(takes(8), 8000, 40);
}

/// A main thread, a worker, a thread that runs nothing of the frame, and another worker.
braid_test::capture_builder two_workers_apart() {
    braid_test::capture_builder b;
    b.lane(profile::lane_kind::main);
    b.lane();
    b.lane(profile::lane_kind::background);
    b.lane();
    return b;
}

TEST_F(WhatIf, RestrictedTasksOfTwoWorkersHaveACoreEachWhateverLanesLieBetween) {
    braid_test::capture_builder b = two_workers_apart();
    const std::uint32_t type = b.type("bound");
    constexpr auto restricted = static_cast<std::uint8_t>(1 | profile::spawn_restricted);
    b.frame(0, 0, 1030, 1).spawn(0, 5, 1, type, {}, restricted).run(1, 10, 1010, 1, type);
    b.spawn(0, 6, 2, type, {}, restricted).run(3, 11, 1011, 2, type);
    b.spawn(0, 7, 3, type, {1, 2}).ready(3, 1012, 3, 2).run(3, 1013, 1015, 3, type);
    b.wait(0, 8, 1020, 0, 3);
    take(b.make());
    EXPECT_EQ(model_.recorded_cores, 2U);
    EXPECT_NEAR(takes(machine{}), 1015, 20);
}

TEST_F(WhatIf, AFreeTaskLeavesACoreToWhatIsRestrictedToItWhereItCan) {
    braid_test::capture_builder b = two_workers_apart();
    const std::uint32_t type = b.type("free"), bound = b.type("bound");
    b.frame(0, 0, 2080, 1);
    b.spawn(0, 5, 1, type).run(1, 10, 1010, 1, type);
    b.spawn(0, 40, 3, bound, {}, 1 | profile::spawn_restricted).run(1, 1030, 2030, 3, bound);
    b.spawn(0, 6, 2, type).run(0, 50, 60, 2, type);  // main helps, so it is a third core
    b.spawn(0, 41, 4, type, {1, 2, 3}).ready(1, 2032, 4, 3).run(1, 2033, 2035, 4, type);
    b.wait(0, 42, 2060, 0, 4);
    take(b.make());
    EXPECT_NEAR(takes(machine{}), 1060, 30);
}

TEST_F(WhatIf, AChainTakesAsLongOnAnyNumberOfCores) {
    take(braid_test::chain_scene());
    EXPECT_NEAR(takes(1), 11000, 60);
    EXPECT_NEAR(takes(16), 11000, 60);
}

TEST_F(WhatIf, AFasterTypeTakesItsTimeLess) {
    take(braid_test::chain_scene());
    machine m;
    m.cores = 4;
    m.faster_type = 1;  // skin: 3 ms of the chain
    m.times = 2;
    EXPECT_NEAR(takes(m), 9500, 60);
}

TEST_F(WhatIf, SlowCoresTakeLonger) {
    take(eight_free_tasks());
    machine m;
    m.cores = 3;
    m.slow_cores = 2;
    m.slow_factor = 2;
    // In 4 ms the fast core does four, each slow one two.
    EXPECT_NEAR(takes(m), 4000, 40);
    m.slow_cores = 3;
    EXPECT_NEAR(takes(m), 6000, 40);
}

TEST_F(WhatIf, WhatComesBackFromAWaitGoesOn) {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin);
    b.say(1, 10, braid_test::record_kind::started, 1, 0, b.skin);
    b.spawn(1, 1000, 2, b.other).wait(1, 1000, 3010, 1, 2);
    b.run(2, 1010, 3000, 2, b.other);
    b.say(1, 4000, braid_test::record_kind::ended, 1);
    b.say(1, 4000, braid_test::record_kind::completed, 1);
    take(b.whole(4010, 1));
    EXPECT_NEAR(takes(1), 4000, 40);
    EXPECT_NEAR(takes(4), 4000, 40);
}

TEST_F(WhatIf, EverySceneComesOutAsRecordedOnItsOwnCores) {
    for (const auto scene : {braid_test::healthy_scene, braid_test::chain_scene,
                             braid_test::priority_scene, braid_test::straggler_scene}) {
        take(scene());
        machine m;
        m.recorded_order = true;
        const double recorded =
            static_cast<double>(t_.frames[0].length()) / static_cast<double>(us);
        EXPECT_NEAR(takes(m), recorded, recorded * 0.02);
    }
}

TEST_F(WhatIf, WorkOutsideTakesAsLongOnAnyNumberOfCores) {
    take(braid_test::external_scene());
    for (const unsigned cores : {1U, 4U, 16U}) EXPECT_NEAR(takes(cores), 6150, 100) << cores;
}

TEST_F(WhatIf, SaysHowFarItIsFromWhatWasRecorded) {
    take(braid_test::healthy_scene());
    const auto result = profile::what_if(t_, {});
    EXPECT_EQ(result.recorded_cores, 3U);
    EXPECT_EQ(result.recorded_p50, 7010 * us);
    EXPECT_LT(std::abs(result.error()), 0.02);
}

TEST_F(WhatIf, HighPriorityGoesFirst) {
    braid_test::scene_builder b(1);
    b.spawn(0, 5, 1, b.other).spawn(0, 5, 2, b.skin, {}, 2);
    b.run(1, 10, 1010, 1, b.other).run(1, 1012, 2010, 2, b.skin);
    take(b.whole(2020, 2));
    // The frame needs skin only; the other task takes part, but later.
    EXPECT_NEAR(takes(1), 1000, 40);
}

}  // namespace
