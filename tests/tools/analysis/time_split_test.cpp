// The time of a lane and of a task falls apart into its parts, and nothing is lost.
#include "profile/analysis/report.hpp"
#include "profile/analysis/statistics.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::record_kind;
using braid_test::us;
using profile::lane_state;

TEST(LaneSplit, EachStateGetsItsTime) {
    capture_builder b;
    const auto w = b.lane();
    const auto type = b.type("skin");
    b.frame(w, 0, 1000, 1);
    b.say(w, 0, record_kind::searching).park(w, 100, 300);  // search 0..100, parked ..300
    b.run(w, 350, 450, 7, type);                            // search ..350, run ..450
    b.say(w, 470, record_kind::searching);                  // runtime ..470
    b.away(w, 500, 530);                                    // search ..500, preempted ..530
    b.run(w, 600, 900, 8, type).away(w, 700, 760);          // search ..600, run but 60, runtime
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    ASSERT_EQ(t.frames.size(), 1U);
    const profile::lane_split s = split_of(t.lanes[w], {0, 1000 * us});
    EXPECT_EQ(s[lane_state::run], (100 + 240) * us);
    EXPECT_EQ(s[lane_state::runtime], (20 + 100) * us);
    EXPECT_EQ(s[lane_state::search], (100 + 50 + 30 + 70) * us);
    EXPECT_EQ(s[lane_state::parked], 200 * us);
    EXPECT_EQ(s[lane_state::preempted], (30 + 60) * us);
    EXPECT_EQ(s.total(), 1000 * us);
}

TEST(LaneSplit, AWaitIsSearchUntilSomethingRunsOnTop) {
    capture_builder b;
    const auto w = b.lane();
    const auto type = b.type("skin");
    b.say(w, 0, record_kind::started, 1, 0, type);
    b.say(w, 10, record_kind::wait_begin, 1, 2);
    b.run(w, 30, 70, 2, type);
    b.say(w, 75, record_kind::searching).say(w, 90, record_kind::wait_end, 1, 2);
    b.say(w, 100, record_kind::ended, 1);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const profile::lane_split s = split_of(t.lanes[w], {0, 100 * us});
    EXPECT_EQ(s[lane_state::run], (10 + 40 + 10) * us);
    EXPECT_EQ(s[lane_state::search], (20 + 15) * us);
    EXPECT_EQ(s[lane_state::runtime], 5 * us);
    const profile::body_row& outer = t.bodies[t.tasks[t.find(1, 0)].body];
    EXPECT_EQ(outer.running, 20 * us);
    EXPECT_EQ(outer.waiting(), 80 * us);
}

TEST(LaneSplit, AThreadThatSaysSomethingIsAwakeAlthoughItsUnparkedIsLost) {
    capture_builder b;
    const auto w = b.lane();
    b.say(w, 0, record_kind::parked).run(w, 100, 300, 7, b.type("skin"));
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    EXPECT_EQ(split_of(t.lanes[w], {0, 300 * us})[lane_state::run], 200 * us);
    EXPECT_EQ(own_times(t)[t.find(7, 0)], 200 * us);
}

TEST(LaneSplit, OfEveryWorkerAddsUpToTheFrameInEveryScene) {
    for (const auto scene :
         {braid_test::healthy_scene, braid_test::external_scene, braid_test::affinity_scene,
          braid_test::preemption_scene, braid_test::shared_core_scene, braid_test::background_scene,
          braid_test::chain_scene, braid_test::fine_scene, braid_test::priority_scene,
          braid_test::straggler_scene, braid_test::late_wake_scene, braid_test::suspended_scene}) {
        const profile::capture c = scene();
        const profile::history t = make_history(c);
        const profile::time_span frame{t.frames[0].begin, t.frames[0].end};
        for (const profile::lane_row& lane : t.lanes) {
            if (lane.kind != profile::lane_kind::worker) continue;
            const profile::lane_split s = split_of(lane, frame);
            const auto parts = static_cast<double>(s[lane_state::run] + s[lane_state::runtime] +
                                                   s[lane_state::search] + s[lane_state::parked] +
                                                   s[lane_state::preempted]);
            const auto length = static_cast<double>(frame.length());
            EXPECT_NEAR(parts, length, length * 0.01);
        }
        for (const profile::task_row& task : t.tasks) {
            if (task.external) continue;
            const profile::task_split s = split_of(t, task);
            ASSERT_TRUE(s.whole);
            EXPECT_EQ(s.total(), task.ended - task.spawned);
        }
    }
}

TEST(LaneSplit, BeforeTheFirstRecordOnlyWhatFollowsFromItIsKnown) {
    capture_builder b;
    const auto asleep = b.lane(), in_body = b.lane(), silent = b.lane();
    const auto type = b.type("skin");
    b.say(asleep, 50, record_kind::unparked).say(asleep, 100, record_kind::searching);
    b.say(in_body, 40, record_kind::ended, 7).say(in_body, 100, record_kind::searching);
    b.say(silent, 60, record_kind::started, 8, 0, type);
    const profile::capture c = b.make(100);
    const profile::history t = make_history(c);
    const profile::time_span all{0, 100 * us};
    EXPECT_EQ(split_of(t.lanes[asleep], all)[lane_state::parked], 50 * us);
    EXPECT_EQ(split_of(t.lanes[in_body], all)[lane_state::run], 40 * us);
    EXPECT_EQ(split_of(t.lanes[silent], all)[lane_state::absent], 60 * us);
    // Still open at the end: it ran until then at least.
    EXPECT_EQ(split_of(t.lanes[silent], all)[lane_state::run], 40 * us);
}

TEST(TaskSplit, HasEveryReason) {
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main), w = b.lane(), v = b.lane();
    const auto type = b.type("skin");
    b.spawn(main, 0, 1, type).run(v, 5, 20, 1, type);
    b.spawn(main, 0, 2, type, {1}).ready(v, 20, 2, 1);
    b.say(w, 50, record_kind::started, 2, 0, type);
    b.away(w, 60, 65);
    b.wait(w, 70, 90, 2, 3).run(w, 72, 80, 3, type);
    b.away(w, 82, 84);  // of a wait: not the task's
    b.say(w, 100, record_kind::ended, 2).say(w, 100, record_kind::completed, 2);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const profile::task_row& task = t.tasks[t.find(2, 0)];
    const profile::task_split s = split_of(t, task);
    ASSERT_TRUE(s.whole);
    EXPECT_EQ(s.waits.dependency, (20 + 20) * us);
    EXPECT_EQ(s.waits.queue, 30 * us);
    EXPECT_EQ(s.waits.affinity, 0U);
    EXPECT_EQ(s.waits.preempted, 5 * us);
    EXPECT_EQ(s.running, 25 * us);
    EXPECT_EQ(s.total(), 100 * us);
}

TEST(TaskSplit, OfARestrictedTaskTheQueueIsAffinity) {
    const profile::capture c = braid_test::affinity_scene();
    const profile::history t = make_history(c);
    const profile::task_split s = split_of(t, t.tasks[t.find(2, 0)]);
    EXPECT_EQ(s.waits.affinity, 8400 * us);
    EXPECT_EQ(s.waits.queue, 0U);
}

TEST(TaskSplit, OfASuspendedTaskHasAllPiecesAndWhatItWaitedForOutside) {
    const profile::capture c = braid_test::suspended_scene();
    const profile::history t = make_history(c);
    const profile::task_row& task = t.tasks[t.find(1, 0)];
    const profile::task_split s = split_of(t, task);
    ASSERT_TRUE(s.whole);
    EXPECT_EQ(s.running, (102 + 90 + 102 + 490) * us);
    EXPECT_EQ(s.waits.external, ((2100 - 112) + (5000 - 3212)) * us);
    EXPECT_EQ(s.waits.queue, 5 * us);
    EXPECT_EQ(s.total(), task.ended - task.spawned);
    // It is one task in the tables, with the time of all its pieces.
    for (const profile::type_row& row : type_statistics(t)) {
        if (t.name_of(row.type) != "'skin' (skin.cpp:12)") continue;
        EXPECT_EQ(row.count, 1U);
        EXPECT_EQ(row.total, s.running);
        return;
    }
    ADD_FAILURE() << "skin is in no table";
}

TEST(TaskSplit, OfATaskThatGoesOnBeforeItWasSuspendedIsNotWhole) {
    capture_builder b;
    const auto w = b.lane(), v = b.lane();
    const auto type = b.type("skin");
    b.spawn(w, 0, 1, type).say(w, 10, record_kind::started, 1, 0, type);
    b.say(w, 30, record_kind::suspended, 1).say(v, 20, record_kind::resumed, 1, 0, type);
    b.say(v, 40, record_kind::ended, 1).say(v, 40, record_kind::completed, 1);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    EXPECT_FALSE(split_of(t, t.tasks[t.find(1, 0)]).whole);
}

}  // namespace
