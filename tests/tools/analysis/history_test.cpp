// Records become tasks, bodies and frames, also where the capture has not seen everything.
#include "profile/analysis/compare.hpp"
#include "profile/analysis/longest_wait.hpp"
#include "profile/analysis/report.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::record_kind;
using braid_test::us;
using profile::unknown;

TEST(History, HasATaskWithAllThatIsSaidOfIt) {
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main), w = b.lane();
    const auto type = b.type("skin", "skin.cpp", 12);
    b.spawn(main, 1, 100, type).run(w, 5, 9, 100, type);
    b.spawn(main, 2, 200, type, {100}, profile::spawn_restricted | 2, 100);
    b.ready(w, 10, 200, 100).run(w, 12, 20, 200, type);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    ASSERT_EQ(t.tasks.size(), 2U);
    const std::uint32_t first = t.find(100, 0), second = t.find(200, 0);
    const profile::task_row& task = t.tasks[second];
    EXPECT_EQ(task.spawned, 2 * us);
    EXPECT_EQ(task.ready, 10 * us);
    EXPECT_EQ(task.started, 12 * us);
    EXPECT_EQ(task.ended, 20 * us);
    EXPECT_EQ(task.completed, 20 * us);
    EXPECT_EQ(task.parent, first);
    EXPECT_EQ(task.releaser, first);
    ASSERT_EQ(t.predecessors_of(task).size(), 1U);
    EXPECT_EQ(t.predecessors_of(task)[0], first);
    EXPECT_EQ(task.priority(), 2U);
    EXPECT_TRUE(task.has(profile::spawn_restricted));
    EXPECT_EQ(t.tasks[first].children, 1U);
    EXPECT_EQ(t.bodies[task.body].lane, w);
    EXPECT_EQ(t.name_of(task.type), "'skin' (skin.cpp:12)");
}

TEST(History, AnIdThatIsSpawnedAgainIsAnotherTask) {
    capture_builder b;
    const auto w = b.lane();
    const auto type = b.type("skin");
    b.spawn(w, 1, 7, type).run(w, 2, 4, 7, type);
    b.spawn(w, 10, 7, type).run(w, 12, 20, 7, type);
    b.spawn(w, 21, 8, type, {7});
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    ASSERT_EQ(t.tasks.size(), 3U);
    EXPECT_EQ(t.tasks[t.find(7, 5 * us)].ended, 4 * us);
    EXPECT_EQ(t.tasks[t.find(7, 30 * us)].ended, 20 * us);
    EXPECT_EQ(t.tasks[t.find(7, 5 * us)].spawned, 1 * us);
    EXPECT_EQ(t.tasks[t.find(7, 30 * us)].spawned, 10 * us);
    EXPECT_EQ(t.predecessors_of(t.tasks[t.find(8, 30 * us)])[0], t.find(7, 30 * us));
}

TEST(History, FramesMayOverlapAndHalvesAreLeftOut) {
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main), w = b.lane();
    b.say(main, 0, record_kind::frame_end, 0, 1);
    b.say(main, 1, record_kind::frame_begin, 0, 2).say(main, 5, record_kind::frame_begin, 0, 3);
    b.say(w, 8, record_kind::frame_end, 0, 2).say(w, 12, record_kind::frame_end, 0, 3);
    b.say(main, 13, record_kind::frame_begin, 0, 4).say(w, 20, record_kind::frame_end, 0, 4);
    b.say(main, 21, record_kind::frame_begin, 0, 5);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    ASSERT_EQ(t.frames.size(), 3U);
    EXPECT_EQ(t.frames[0].number, 2U);
    EXPECT_EQ(t.frames[0].length(), 7 * us);
    EXPECT_FALSE(t.frames[0].alone);
    EXPECT_FALSE(t.frames[1].alone);
    EXPECT_TRUE(t.frames[2].alone);
}

TEST(History, ABodyWhoseEndIsLostEndsWhereItWasSeenLast) {
    capture_builder b;
    const auto w = b.lane();
    const auto type = b.type("skin");
    b.say(w, 0, record_kind::started, 1, 0, type).say(w, 4, record_kind::counter);
    b.run(w, 50, 60, 2, type);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const profile::body_row& lost = t.bodies[t.tasks[t.find(1, 0)].body];
    EXPECT_TRUE(lost.open);
    EXPECT_EQ(lost.end, 4 * us);
    EXPECT_EQ(lost.running, 4 * us);
    EXPECT_EQ(t.bodies[t.tasks[t.find(2, 0)].body].below, t.lanes[w].root);
}

TEST(History, TasksWithoutBeginOrEndKeepWhatIsKnown) {
    capture_builder b;
    const auto w = b.lane();
    const auto type = b.type("skin");
    b.say(w, 3, record_kind::ended, 1).say(w, 4, record_kind::completed, 1);
    b.say(w, 6, record_kind::started, 2, 0, type);
    const profile::capture c = b.make(10);
    const profile::history t = make_history(c);
    const profile::task_row& before = t.tasks[t.find(1, 0)];
    EXPECT_EQ(before.started, unknown);
    EXPECT_EQ(before.ended, 3 * us);
    EXPECT_FALSE(split_of(t, before).whole);
    const profile::task_row& after = t.tasks[t.find(2, 0)];
    EXPECT_EQ(after.ended, unknown);
    EXPECT_TRUE(t.bodies[after.body].open);
    EXPECT_EQ(type_statistics(t).size(), 0U);
}

TEST(History, OfAnEmptyCaptureIsEmpty) {
    const profile::capture empty;
    const profile::history t = make_history(empty);
    EXPECT_TRUE(t.tasks.empty() && t.frames.empty() && t.lanes.empty());
    EXPECT_TRUE(type_statistics(t).empty());
}

/// Everything that a report does.
void look_at_everything(const profile::capture& c) {
    const profile::history t = make_history(c);
    const profile::reporter reporter(t);
    for (std::size_t f = 0; f < t.frames.size(); ++f) {
        const profile::frame_report report = reporter.frame(f, true);
        std::uint64_t at = t.frames[f].begin;
        for (const profile::path_step& s : report.path) {
            ASSERT_LE(at, s.begin);
            ASSERT_LE(s.begin, s.end);
            at = s.end;
        }
        ASSERT_LE(at, t.frames[f].end);
    }
    for (const profile::lane_row& lane : t.lanes) {
        EXPECT_EQ(split_of(lane, {0, lane.end}).total(), lane.end);
    }
    for (const profile::task_row& task : t.tasks) {
        const profile::task_split s = split_of(t, task);
        if (s.whole) {
            EXPECT_EQ(s.total(), t.bodies[task.last_body].end - task.spawned);
        }
    }
    const auto wait = longest_wait(t);
    EXPECT_TRUE(!wait || wait->wait.begin <= wait->wait.end);
    if (t.frames.empty()) return;
    std::vector<profile::machine> machines(3);
    machines[1].cores = 1;
    machines[2] = {.cores = 3, .slow_cores = 1, .slow_factor = 2, .faster_type = 1, .times = 2};
    EXPECT_EQ(what_if(t, machines).rows.size(), 3U);
    EXPECT_FALSE(compare(t, t).regressed);
}

TEST(History, OfNonsenseIsLookedAtWithoutHarm) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto up_to = [&](std::uint64_t n) { return random() % (n + 1); };
        capture_builder b;
        for (unsigned i = 0; i < 3; ++i) b.type("t");
        const unsigned lanes = 1 + static_cast<unsigned>(up_to(3));
        for (unsigned i = 0; i < lanes; ++i) b.lane(static_cast<profile::lane_kind>(up_to(6)));
        const std::uint64_t ids = 1 + up_to(30);
        for (unsigned i = 0; i < 400; ++i) {
            const auto kind =
                static_cast<record_kind>(up_to(5) == 0 ? 32 + up_to(11) : 1 + up_to(20));
            const bool frame = kind == record_kind::frame_begin || kind == record_kind::frame_end;
            b.say(static_cast<std::uint32_t>(up_to(lanes - 1)), up_to(300), kind, up_to(ids),
                  up_to(frame ? 3 : ids), frame ? 0 : static_cast<std::uint32_t>(up_to(3)),
                  static_cast<std::uint8_t>(up_to(15)), static_cast<std::uint16_t>(up_to(2)));
        }
        SCOPED_TRACE(seed);
        look_at_everything(b.make());
    }
}

TEST(History, OfNonsenseInOtherwiseGoodFramesIsLookedAtWithoutHarm) {
    // Records of a good capture, of which some are lost.
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        for (const auto scene : {braid_test::healthy_scene, braid_test::shared_core_scene,
                                 braid_test::straggler_scene, braid_test::priority_scene}) {
            profile::capture c = scene();
            for (profile::lane& lane : c.lanes) {
                std::erase_if(lane.records, [&](const auto&) { return random() % 8 == 0; });
            }
            SCOPED_TRACE(seed);
            look_at_everything(c);
        }
    }
}

}  // namespace
