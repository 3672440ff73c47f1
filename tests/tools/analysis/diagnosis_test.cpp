// Each cause is found where it was planted, with the task, its place and the time to win.
#include "profile/analysis/report.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::us;
using profile::cause;

std::optional<profile::diagnosis> diagnose(const profile::capture& c) {
    const profile::history t = make_history(c);
    if (t.frames.size() != 1) {
        ADD_FAILURE() << t.frames.size() << " frames";
        return std::nullopt;
    }
    return profile::reporter(t).frame(0, true).what;
}

struct planted {
    const char* name;
    profile::capture (*scene)();
    cause why;
    const char* task;       // in the sentence
    std::uint64_t save_us;  // within 2 %
};

class Diagnosis : public testing::TestWithParam<planted> {};

TEST_P(Diagnosis, NamesThePlantedCauseItsTaskAndWhatItSaves) {
    const auto found = diagnose(GetParam().scene());
    ASSERT_TRUE(found);
    EXPECT_STREQ(name_of(found->why), name_of(GetParam().why)) << found->sentence;
    EXPECT_NE(found->sentence.find(GetParam().task), std::string::npos) << found->sentence;
    EXPECT_EQ(found->sentence.find("Frame 37 took "), 0) << found->sentence;
    const auto expected = static_cast<double>(GetParam().save_us * us);
    EXPECT_NEAR(static_cast<double>(found->save), expected, expected * 0.02) << found->sentence;
}

INSTANTIATE_TEST_SUITE_P(
    Causes, Diagnosis,
    // What skin does after it has asked the disk, 50 us, goes on meanwhile.
    testing::Values(planted{"external", braid_test::external_scene, cause::external,
                            "'disk' (io.cpp:21)", 5000},
                    planted{"affinity", braid_test::affinity_scene, cause::affinity,
                            "'skin' (skin.cpp:12)", 8395},
                    planted{"preemption", braid_test::preemption_scene, cause::preemption,
                            "'skin' (skin.cpp:12)", 3000},
                    planted{"shared_core", braid_test::shared_core_scene, cause::background,
                            "'import' (import.cpp:99)", 3000},
                    planted{"background", braid_test::background_scene, cause::background,
                            "'import' (import.cpp:99)", 5994},
                    planted{"chain", braid_test::chain_scene, cause::serial_chain,
                            "'other' (other.cpp:3) for 8.0 ms", 4000},
                    // Nine tenths of what the scheduler took on each of three threads.
                    planted{"too_fine", braid_test::fine_scene, cause::too_fine,
                            "'skin' (skin.cpp:12)", 1800},
                    // draw still comes after the others, which are older; skin alone wins 2 ms.
                    planted{"priority", braid_test::priority_scene, cause::priority,
                            "'skin' (skin.cpp:12)", 2000},
                    // It takes 7 ms longer than the others, of which the last ends 5 ms before it.
                    planted{"straggler", braid_test::straggler_scene, cause::straggler,
                            "'skin' (skin.cpp:12)", 5000},
                    planted{"late_wake", braid_test::late_wake_scene, cause::late_wake,
                            "'skin' (skin.cpp:12)", 3000}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(DiagnosisOfTooFine, CountsTheTimeThatATaskSpendsOnSpawning) {
    // One task spawns 3,000, each in 1 us, and another worker runs them meanwhile.
    constexpr std::uint64_t tasks = 3000, spawner = 5000;
    braid_test::scene_builder b(2);
    b.spawn(0, 5, spawner, b.other).run(1, 10, 12 + tasks, spawner, b.other);
    for (std::uint64_t i = 0; i < tasks; ++i) {
        b.spawn(1, 11 + i, 1 + i, b.skin, {}, 1, spawner);
        b.run(2, 12 + i, 13 + i, 1 + i, b.skin);
    }
    const auto found = diagnose(b.whole(3050, spawner));
    ASSERT_TRUE(found);
    EXPECT_STREQ(name_of(found->why), "too_fine") << found->sentence;
    EXPECT_NE(found->sentence.find("'skin' (skin.cpp:12)"), std::string::npos) << found->sentence;
    EXPECT_NEAR(static_cast<double>(found->save), 0.9 * tasks * us, 0.02 * tasks * us);
}

TEST(DiagnosisOfAChain, NamesOneThatAMainThreadRanWhileItWaited) {
    braid_test::scene_builder b(1);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        if (i == 1) {
            b.spawn(0, 5, i, b.other);
        } else {
            b.spawn(0, 5, i, b.other, {i - 1}).ready(0, 2000 * i - 1991, i, i - 1);
        }
        b.run(0, 2000 * i - 1990, 2000 * i + 8, i, b.other);
    }
    const auto found = diagnose(b.whole(10020, 5));
    ASSERT_TRUE(found);
    EXPECT_STREQ(name_of(found->why), "serial_chain") << found->sentence;
}

TEST(DiagnosisOfAffinity, CountsAMainThreadThatHelpsAsIdle) {
    braid_test::scene_builder b(1);
    b.spawn(0, 5, 1, b.draw).run(0, 10, 20, 1, b.draw);
    b.spawn(0, 5, 2, b.other).run(1, 10, 8400, 2, b.other);
    b.spawn(0, 5, 3, b.skin, {}, 1 | profile::spawn_restricted).run(1, 8405, 20000, 3, b.skin);
    b.say(0, 21, profile::record_kind::parked);
    const auto found = diagnose(b.whole(20100, 3));
    ASSERT_TRUE(found);
    EXPECT_STREQ(name_of(found->why), "affinity") << found->sentence;
}

TEST(DiagnosisOfAHealthyFrame, IsNone) {
    const auto found = diagnose(braid_test::healthy_scene());
    EXPECT_FALSE(found) << found->sentence;
}

TEST(DiagnosisOfAHealthyFrame, DoesNotBlameAffinityWhileAllAreBusy) {
    braid_test::scene_builder b(2);
    b.spawn(0, 5, 1, b.other).run(1, 10, 3000, 1, b.other);
    b.spawn(0, 5, 2, b.other).run(2, 10, 5100, 2, b.other);
    b.spawn(0, 5, 3, b.skin, {}, 1 | profile::spawn_restricted).run(1, 3005, 5000, 3, b.skin);
    const auto found = diagnose(b.whole(5110, 3));
    EXPECT_FALSE(found) << found->sentence;
}

TEST(DiagnosisOfAHealthyFrame, DoesNotBlameThePriorityOfOneAmongEquals) {
    // Somebody must be the last one, and the frame waits for all.
    braid_test::scene_builder b(1);
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint32_t type = i == 9 ? b.skin : b.other;
        b.spawn(0, 5, 1 + i, type).run(1, 10 + 1000 * i, 1009 + 1000 * i, 1 + i, type);
    }
    b.spawn(0, 6, 11, b.draw, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    b.ready(1, 10010, 11, 10).run(1, 10011, 10500, 11, b.draw);
    const auto found = diagnose(b.whole(10510, 11));
    EXPECT_FALSE(found) << found->sentence;
}

TEST(DiagnosisOfAHealthyFrame, DoesNotBlameThePriorityOfWhatOnlyTheEndWaitsFor) {
    braid_test::scene_builder b(1);
    for (std::uint64_t i = 0; i < 10; ++i) {
        b.spawn(0, 5, 1 + i, b.skin).run(1, 10 + 1000 * i, 1009 + 1000 * i, 1 + i, b.skin);
    }
    const auto found = diagnose(b.whole(10020, 0));
    EXPECT_FALSE(found) << found->sentence;
}

TEST(DiagnosisOfTwoCauses, TheOneThatSavesMoreWins) {
    // Preempted for 3 ms, after it has waited 1 ms for its thread.
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.other).run(1, 10, 1010, 1, b.other);
    b.spawn(0, 5, 2, b.skin, {}, 1 | profile::spawn_restricted);
    b.away(1, 2000, 5000).run(1, 1012, 9000, 2, b.skin);
    const auto found = diagnose(b.whole(9050, 2));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->why, cause::preemption) << found->sentence;
}

TEST(DiagnosisOfAStraggler, ThatWasSwitchedOutIsThePreemptionThatItIs) {
    // The times of switches are not known; that there was one is.
    profile::capture c = braid_test::straggler_scene();
    c.switches = profile::switch_level::flag;
    for (profile::lane& lane : c.lanes) {
        for (profile::record& r : lane.records) {
            if (r.kind == braid_test::record_kind::ended && r.task == 6) {
                r.flags = profile::end_switched;
            }
        }
    }
    const auto found = diagnose(c);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->why, cause::preemption) << found->sentence;
    EXPECT_EQ(found->save, 5000 * us);
}

TEST(DiagnosisSentence, IsWhatTheManualPromises) {
    const auto found = diagnose(braid_test::affinity_scene());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->sentence,
              "Frame 37 took 24.1 ms, 8.4 ms more than it needed: 'skin' (skin.cpp:12) waited "
              "8.4 ms for its thread while others were idle; let any worker run it.");
}

TEST(Saving, EndsWhereAnotherChainIsLonger) {
    // One skin takes 6 ms where 0.5 ms is usual, but another task goes on for half of that.
    braid_test::scene_builder b;
    for (std::uint64_t i = 1; i <= 6; ++i) b.spawn(0, 5, i, b.skin);
    b.spawn(0, 5, 7, b.other).run(2, 10, 3010, 7, b.other);
    b.spawn(0, 5, 10, b.draw, {1, 2, 3, 4, 5, 6, 7});
    std::uint64_t at = 10;
    for (std::uint64_t i = 1; i <= 5; ++i, at += 500) b.run(1, at, at + 500, i, b.skin);
    b.run(3, 10, 6010, 6, b.skin).ready(3, 6011, 10, 6).run(3, 6012, 7000, 10, b.draw);
    const profile::capture c = b.whole(7050, 10);
    const auto found = diagnose(c);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->why, cause::straggler);
    EXPECT_EQ(found->save, 3000 * us) << found->sentence;
}

}  // namespace
