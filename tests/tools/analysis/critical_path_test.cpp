// The path goes back through what released, what was waited for, and children; slack is the rest.
#include "profile/analysis/critical_path.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

#include <map>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::record_kind;
using braid_test::us;

struct looked_at {
    explicit looked_at(profile::capture from, std::size_t frame = 0)
        : c(std::move(from)), t(make_history(c)) {
        graph = make_frame_graph(t, t.frames.at(frame));
        path = critical_path(graph);
        for (const profile::task_slack& s : slack_of(graph)) slack[t.tasks[s.task].id] = s.slack;
    }
    /// 0 stands for code outside of tasks.
    std::vector<std::uint64_t> ids() const {
        std::vector<std::uint64_t> all;
        for (const profile::path_step& s : path) {
            all.push_back(s.task == profile::none ? 0 : t.tasks[s.task].id);
        }
        return all;
    }
    void expect_whole() const {
        std::uint64_t sum = 0;
        for (const profile::path_step& s : path) {
            sum += s.length() + s.waits.dependency + s.waits.external + s.waits.queue +
                   s.waits.affinity;
        }
        EXPECT_EQ(sum, graph.frame.length());
    }
    profile::capture c;
    profile::history t;
    profile::frame_graph graph;
    std::vector<profile::path_step> path;
    std::map<std::uint64_t, std::uint64_t> slack;
};

using ids = std::vector<std::uint64_t>;

/// 1 before 2 (long) and 3 (short), both before 4.
looked_at diamond() {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin).spawn(0, 5, 2, b.skin, {1}).spawn(0, 5, 3, b.skin, {1});
    b.spawn(0, 5, 4, b.draw, {2, 3});
    b.run(1, 10, 1000, 1, b.skin).ready(1, 1001, 2, 1).ready(1, 1002, 3, 1);
    b.run(1, 1010, 4000, 2, b.skin).run(2, 1020, 2000, 3, b.skin);
    b.ready(1, 4001, 4, 2).run(1, 4010, 5000, 4, b.draw);
    return looked_at(b.whole(5050, 4));
}

TEST(CriticalPath, TakesTheLongSideOfADiamond) {
    const looked_at l = diamond();
    EXPECT_EQ(l.ids(), (ids{0, 1, 2, 4, 0}));
    l.expect_whole();
    EXPECT_EQ(l.path[1].waits.queue, 5 * us);
    EXPECT_EQ(l.path[2].waits.queue, 9 * us);
    EXPECT_EQ(l.path[2].waits.dependency, 1 * us);
    EXPECT_EQ(l.path[4].waits.dependency, 49 * us);
}

TEST(CriticalPath, GoesThroughWorkOutside) {
    const looked_at l(braid_test::external_scene());
    EXPECT_EQ(l.ids(), (ids{0, 1, 2, 0}));
    l.expect_whole();
    // From when skin has asked the disk, which had nothing to do with the rest of skin.
    EXPECT_EQ(l.path[1].end, 50 * us);
    EXPECT_EQ(l.path[2].waits.external, 5050 * us);
    EXPECT_EQ(l.path[2].waits.dependency, 2 * us);
    EXPECT_EQ(l.path[2].waits.queue, 2 * us);
}

TEST(Slack, IsWhatTheShortSideHasLeft) {
    looked_at l = diamond();
    EXPECT_EQ(l.slack.at(1), 0U);
    EXPECT_EQ(l.slack.at(2), 0U);
    EXPECT_EQ(l.slack.at(3), 2000 * us);
    EXPECT_EQ(l.slack.at(4), 0U);
}

TEST(Slack, IsHandedOnThroughAChain) {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin).run(1, 10, 5000, 1, b.skin);
    b.spawn(0, 5, 2, b.other).spawn(0, 5, 3, b.other, {2}).spawn(0, 5, 4, b.other, {3});
    b.run(2, 10, 1000, 2, b.other).ready(2, 1001, 3, 2).run(2, 1010, 2000, 3, b.other);
    b.ready(2, 2001, 4, 3).run(3, 2010, 3000, 4, b.other);
    b.spawn(0, 5, 5, b.draw, {1, 4}).ready(1, 5001, 5, 1).run(1, 5010, 6000, 5, b.draw);
    looked_at l(b.whole(6050, 5));
    for (const std::uint64_t id : {2U, 3U, 4U}) EXPECT_EQ(l.slack.at(id), 2000 * us) << id;
    EXPECT_EQ(l.slack.at(1), 0U);
}

TEST(CriticalPath, AParentIsOverWhenItsLastChildIs) {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin);
    b.say(1, 10, record_kind::started, 1, 0, b.skin);
    b.spawn(1, 20, 2, b.other, {}, 1, 1).spawn(1, 30, 3, b.other, {}, 1, 1);
    b.say(1, 40, record_kind::ended, 1);
    b.run(1, 50, 500, 2, b.other).run(2, 60, 3000, 3, b.other);
    b.say(2, 3000, record_kind::completed, 1);
    const looked_at l(b.whole(3100, 1));
    EXPECT_EQ(l.ids(), (ids{0, 1, 3, 0}));
    l.expect_whole();
    // It was spawned at 30, so the body counts up to there.
    EXPECT_EQ(l.path[1].end, 30 * us);
    EXPECT_EQ(l.slack.at(2), 2500 * us);
    EXPECT_EQ(l.slack.at(1), 2960 * us);
}

TEST(CriticalPath, AWaitInTheMiddleOfATaskLeadsToWhatItWaitedFor) {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin);
    b.say(1, 10, record_kind::started, 1, 0, b.skin);
    b.spawn(1, 100, 2, b.other);
    b.wait(1, 200, 2010, 1, 2);
    b.run(2, 110, 2000, 2, b.other);
    b.say(1, 2500, record_kind::ended, 1).say(1, 2500, record_kind::completed, 1);
    const looked_at l(b.whole(2600, 1));
    EXPECT_EQ(l.ids(), (ids{0, 1, 2, 1, 0}));
    l.expect_whole();
    EXPECT_EQ(l.path[1].end, 100 * us);
    EXPECT_EQ(l.path[3].begin, 2010 * us);
    EXPECT_EQ(l.path[3].waits.dependency, 10 * us);
}

TEST(CriticalPath, AWaitForAllLeadsToWhatCompletedLast) {
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.skin).run(1, 10, 900, 1, b.skin);
    b.spawn(0, 5, 2, b.skin).run(2, 10, 1000, 2, b.skin);
    const looked_at l(b.whole(1010, 0));
    EXPECT_EQ(l.ids(), (ids{0, 2, 0}));
    EXPECT_EQ(l.slack.at(2), 0U);
}

TEST(CriticalPath, AnEventLeadsToWhoSetItAndAJoinToItsSecondPart) {
    braid_test::scene_builder b;
    constexpr std::uint64_t event = 77, join = 88;
    b.spawn(0, 5, 1, b.skin);
    b.say(1, 10, record_kind::started, 1, 0, b.skin);
    b.say(1, 20, record_kind::forked, 1, join);
    b.say(1, 100, record_kind::wait_begin, 1).say(1, 1010, record_kind::wait_end, 1);
    b.say(1, 1011, record_kind::joined, 1, join);
    b.say(2, 30, record_kind::job_started, 1, join).say(2, 1000, record_kind::job_ended, 1, join);
    b.say(1, 1100, record_kind::wait_begin, 1).say(1, 2009, record_kind::event_taken, 1, event);
    b.say(1, 2010, record_kind::wait_end, 1);
    b.spawn(0, 5, 2, b.other);
    b.say(3, 1050, record_kind::started, 2, 0, b.other);
    b.say(3, 2000, record_kind::event_set, 2, event);
    b.say(3, 2400, record_kind::ended, 2).say(3, 2400, record_kind::completed, 2);
    b.say(1, 2500, record_kind::ended, 1).say(1, 2500, record_kind::completed, 1);
    const looked_at l(b.whole(2600, 1));
    // The setter began late: from its begin the path leads to the thread that spawned it.
    EXPECT_EQ(l.ids(), (ids{0, 2, 1, 0}));
    EXPECT_EQ(l.path[1].end, 2000 * us);
    EXPECT_EQ(l.path[2].begin, 2010 * us);
    // Without the event: the part of the join on lane 2, which task 1 forked.
    profile::capture c = l.c;
    for (profile::lane& lane : c.lanes) {
        std::erase_if(lane.records, [](const auto& r) {
            return r.task == 2 || r.kind == record_kind::event_taken ||
                   (r.kind == record_kind::wait_begin && r.time == 1100 * us) ||
                   (r.kind == record_kind::wait_end && r.time == 2010 * us);
        });
    }
    const looked_at joined(c);
    EXPECT_EQ(joined.ids(), (ids{0, 1, 1, 1, 0}));
    EXPECT_EQ(joined.path[2].begin, 30 * us);
    EXPECT_EQ(joined.path[2].end, 1000 * us);
    EXPECT_EQ(joined.t.bodies[joined.path[2].body].kind, profile::body_kind::job);
}

TEST(CriticalPath, OfFramesInFlightStaysInItsFrame) {
    // Stage a of frame 2 runs beside stage b of frame 1; each stage waits for the one before it.
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main), v = b.lane(), w = b.lane();
    const auto stage_a = b.type("a"), stage_b = b.type("b");
    b.say(main, 0, record_kind::frame_begin, 0, 1);
    b.spawn(main, 1, 1, stage_a).spawn(main, 2, 2, stage_b, {1});
    b.say(main, 3, record_kind::frame_begin, 0, 2);
    b.spawn(main, 4, 3, stage_a, {1}).spawn(main, 5, 4, stage_b, {3, 2});
    b.run(v, 10, 1000, 1, stage_a).ready(v, 1001, 2, 1).ready(v, 1001, 3, 1);
    b.run(v, 1010, 3000, 3, stage_a);
    b.say(w, 1010, record_kind::started, 2, 0, stage_b);
    b.say(w, 1999, record_kind::frame_end, 0, 1);
    b.say(w, 2000, record_kind::ended, 2).say(w, 2000, record_kind::completed, 2);
    b.ready(v, 3001, 4, 3).say(w, 3010, record_kind::started, 4, 0, stage_b);
    b.say(w, 3999, record_kind::frame_end, 0, 2);
    b.say(w, 4000, record_kind::ended, 4).say(w, 4000, record_kind::completed, 4);
    const profile::capture c = b.make();
    EXPECT_EQ(looked_at(c, 0).ids(), (ids{0, 1, 2}));
    // Task 1 was there before frame 2 began.
    EXPECT_EQ(looked_at(c, 1).ids(), (ids{1, 3, 4}));
}

TEST(CriticalPath, NodesOfAGraphBeginWhereItsRunBegan) {
    // The scheduler spawns the nodes between two bodies of worker 1; run 50 has no body of its own.
    braid_test::scene_builder b;
    b.spawn(0, 5, 1, b.other).spawn(0, 6, 50, 0, {1}).run(1, 10, 500, 1, b.other);
    b.ready(1, 501, 50, 1);
    b.spawn(1, 502, 51, b.skin, {}, 1, 50).spawn(1, 502, 52, b.skin, {51}, 1, 50);
    b.run(2, 510, 1000, 51, b.skin).ready(2, 1001, 52, 51).run(2, 1005, 2000, 52, b.skin);
    b.say(2, 2001, record_kind::completed, 50);
    const looked_at l(b.whole(2100, 50));
    EXPECT_EQ(l.ids(), (ids{0, 1, 51, 52, 0}));
    l.expect_whole();
}

TEST(CriticalPath, AStepThatClocksLetBeginBeforeWhatItNeedsIsNotPreemptedLongerThanItLasts) {
    braid_test::scene_builder b(2);
    b.spawn(0, 5, 1, b.skin).run(1, 10, 100, 1, b.skin);
    b.spawn(0, 6, 2, b.skin, {1}).ready(1, 99, 2, 1);
    b.away(2, 50, 98).run(2, 40, 130, 2, b.skin).wait(0, 7, 140, 0, 2);
    const profile::capture c = b.whole(150, 0);
    const profile::history t = make_history(c);
    bool seen = false;
    for (const profile::path_step& s : critical_path(make_frame_graph(t, t.frames.at(0)))) {
        EXPECT_LE(s.waits.preempted, s.length());
        seen = seen || (s.task != profile::none && t.tasks[s.task].id == 2);
    }
    EXPECT_TRUE(seen);
}

TEST(CriticalPath, OfAPeriodicTimerGoesThroughTheWaitsForAllItsTicks) {
    // The frame needs the third tick; the ones before did nothing for it.
    braid_test::scene_builder b(1);
    const std::uint32_t source = b.lane(profile::lane_kind::other),
                        beat = b.type("beat", "b.cpp", 5);
    b.say(0, 5, record_kind::deferred, 101, 0, beat);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const std::uint64_t at = 1000 * i;
        b.say(source, at, record_kind::settled, 100 + i, 0, beat);
        if (i < 3) {
            b.say(source, at, record_kind::deferred, 101 + i, 0, beat);
            b.say(source, at, record_kind::edge, 101 + i, 100 + i);
        }
        b.say(source, at + 1, record_kind::spawned, i, 0, beat, 1);
        b.say(source, at + 1, record_kind::edge, i, 100 + i);
        b.say(source, at + 1, record_kind::ready, i).run(1, at + 10, at + 20, i, beat);
    }
    const looked_at l(b.whole(3100, 3));
    EXPECT_EQ(l.ids(), (ids{0, 3, 0}));
    l.expect_whole();
    EXPECT_EQ(l.path[1].outside.size(), 3U);
    EXPECT_NEAR(static_cast<double>(l.path[1].waits.external), 2995.0 * us, 10.0 * us);
}

TEST(CriticalPath, OfWorkOutsideThatWasThereBeforeTheCaptureBeginsWithTheFrame) {
    braid_test::scene_builder b(1);
    const std::uint32_t source = b.lane(profile::lane_kind::other), once = b.type("once");
    b.say(source, 2000, record_kind::settled, 101, 0, once);
    b.say(source, 2001, record_kind::spawned, 1, 0, once, 1);
    b.say(source, 2001, record_kind::edge, 1, 101).say(source, 2001, record_kind::ready, 1);
    b.run(1, 2010, 2500, 1, once);
    const looked_at l(b.whole(2600, 1));
    l.expect_whole();
    std::uint64_t external = 0;
    for (const profile::path_step& s : l.path) external += s.waits.external;
    EXPECT_NEAR(static_cast<double>(external), 2000.0 * us, 10.0 * us);
}

TEST(CriticalPath, OfATaskThatWasSuspendedGoesThroughItsPiecesAndWhatItAwaited) {
    const looked_at l(braid_test::suspended_scene());
    EXPECT_EQ(l.ids(), (ids{0, 1, 1, 2, 1, 1, 0}));
    l.expect_whole();
    EXPECT_EQ(l.path[2].waits.external, (2100 - 110) * us);  // behind the first nap
    EXPECT_EQ(l.path[3].waits.external, 0U);                 // task 2 was spawned in the piece
    EXPECT_EQ(l.path[5].waits.external, (5000 - 3210) * us);
}

}  // namespace
