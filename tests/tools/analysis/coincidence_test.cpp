// Causes that coincide are named together; what nothing explains is named by what was unusual.
#include "pairs.hpp"
#include "profile/analysis/report.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::record_kind;
using braid_test::us;
using profile::cause;

profile::frame_report report_on(const profile::capture& c, std::size_t frame = 0) {
    const profile::history t = make_history(c);
    EXPECT_LT(frame, t.frames.size());
    return profile::reporter(t).frame(frame, false);
}

std::set<std::string> causes_of(const profile::frame_report& report) {
    std::set<std::string> causes;
    if (!report.what) return causes;
    for (const profile::named_cause& one : report.what->all) causes.insert(name_of(one.why));
    return causes;
}

std::vector<std::pair<std::size_t, std::size_t>> all_pairs() {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t a = 0; a < braid_test::plantings.size(); ++a) {
        for (std::size_t b = a + 1; b < braid_test::plantings.size(); ++b) pairs.emplace_back(a, b);
    }
    return pairs;
}

class Pair : public testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};

TEST_P(Pair, OfCausesAtOneMomentIsNamedByBoth) {
    const braid_test::planting& a = braid_test::plantings[GetParam().first];
    const braid_test::planting& b = braid_test::plantings[GetParam().second];
    const auto report = report_on(braid_test::pair_builder().plant(a.plant, b.plant));
    EXPECT_EQ(causes_of(report), (std::set<std::string>{a.cause, b.cause})) << report.sentence;
    EXPECT_NE(report.sentence.find(a.task), std::string::npos) << report.sentence;
    EXPECT_NE(report.sentence.find(b.task), std::string::npos) << report.sentence;
    EXPECT_NE(report.sentence.find("for two reasons at once"), std::string::npos);
    ASSERT_TRUE(report.what);
    EXPECT_GT(report.what->save, 900 * us) << report.sentence;
}

INSTANTIATE_TEST_SUITE_P(Causes, Pair, testing::ValuesIn(all_pairs()), [](const auto& pair) {
    return std::string(braid_test::plantings[pair.param.first].cause) + "_and_" +
           braid_test::plantings[pair.param.second].cause;
});

/// A task is off core 40 for 4 ms, to which background work has just moved from core 39.
profile::capture background_work_that_moves() {
    capture_builder b;
    b.lane(profile::lane_kind::main);
    b.lane();
    b.lane(profile::lane_kind::background);
    const std::uint32_t bake = b.type("bake", "bake.cpp", 4), tile = b.type("lit tile");
    b.say(0, 0, record_kind::frame_begin, 0, 1);
    b.spawn(0, 5, 1, bake, {}, profile::spawn_background).run(2, 1000, 6'000, 1, bake, 39);
    b.say(2, 1990, record_kind::switched_out, 0, 0, 0, 0, 39);
    b.say(2, 1999, record_kind::switched_in, 0, 0, 0, 0, 40);
    b.spawn(0, 5, 2, tile).away(1, 2'000, 6'000, 40).run(1, 10, 12'000, 2, tile, 40);
    b.wait(0, 8, 12'010, 0, 2);
    return b.say(0, 12'020, record_kind::frame_end, 0, 1).make();
}

TEST(Coincidence, BackgroundWorkIsFoundOnTheCoreToWhichItMoved) {
    const auto report = report_on(background_work_that_moves());
    EXPECT_EQ(causes_of(report), std::set<std::string>{"background"}) << report.sentence;
}

/// A worker and a main thread. One 'bake' of 40 took 25.4 ms, 6.4 of them off its core, where 0.054
/// is usual; a part that main had taken ended at the same time, because main was off its core.
profile::capture straggler_beside_late_parts() {
    capture_builder b;
    b.lane(profile::lane_kind::main);
    b.lane();
    const std::uint32_t bake = b.type("bake", "bake.cpp", 9), part = b.type("part", "part.cpp", 4);
    b.say(0, 0, record_kind::frame_begin, 0, 156);
    std::uint64_t at = 10;
    for (std::uint64_t i = 1; i <= 40; ++i, at += 56) {
        b.spawn(0, 5, i, bake).run(1, at, at + 54, i, bake);
    }
    b.spawn(0, 5, 50, bake).away(1, 10'000, 16'400).run(1, at, at + 25'400, 50, bake);
    const std::uint64_t end = at + 25'400;
    b.spawn(0, 6, 60, part).spawn(0, 6, 61, part, {50, 60});
    b.wait(0, 8, end + 20, 0, 61).away(0, 3'000, end - 1'000).run(0, 10, end, 60, part);
    b.ready(1, end + 1, 61, 50).run(1, end + 2, end + 15, 61, part);
    return b.say(0, end + 30, record_kind::frame_end, 0, 156).make();
}

TEST(Coincidence, OfAStragglerWithLatePartsOnMainIsNamedByBoth) {
    const auto report = report_on(straggler_beside_late_parts());
    ASSERT_TRUE(report.what) << report.sentence;
    EXPECT_EQ(causes_of(report), (std::set<std::string>{"straggler", "preemption"}))
        << report.sentence;
    EXPECT_NE(report.sentence.find("'bake' (bake.cpp:9) took 19.0 ms once, 0.054 ms is usual"),
              std::string::npos)
        << report.sentence;
    EXPECT_NE(report.sentence.find("the system took 'part' (part.cpp:4) off its core"),
              std::string::npos)
        << report.sentence;
    EXPECT_GT(report.what->save, 18'000 * us) << report.sentence;
}

/// Frames of two equal tasks on two workers; those of the last frame take so many us.
struct frames_builder : capture_builder {
    static constexpr std::uint64_t period = 20'000, usual = 3'000, frames = 12;
    frames_builder() {
        lane(profile::lane_kind::main);
        lane();
        lane();
        cook = type("cook", "cook.cpp", 5);
    }
    profile::capture with_last(std::uint64_t a, std::uint64_t b) {
        for (std::uint64_t f = 0; f < frames; ++f) {
            const std::uint64_t at = f * period;
            const bool last = f + 1 == frames;
            const std::uint64_t ends[] = {at + 10 + (last ? a : usual),
                                          at + 10 + (last ? b : usual)};
            const std::uint64_t end = std::max(ends[0], ends[1]);
            say(0, at, record_kind::frame_begin, 0, f);
            for (std::uint32_t w = 0; w < 2; ++w) {
                const std::uint64_t task = 1 + f * 3 + w;
                spawn(0, at + 5, task, cook).run(1 + w, at + 10, ends[w], task, cook);
                say(1 + w, ends[w] + 1, record_kind::parked);
                if (!last) say(1 + w, at + period + 9, record_kind::unparked);
            }
            wait(0, at + 6, end + 5, 0, 1 + f * 3 + (ends[1] > ends[0]));
            say(0, end + 10, record_kind::frame_end, 0, f);
        }
        return make();
    }
    std::uint32_t cook;
};

TEST(AStandingMachine, IsTheCauseWhereAllLanesAreSilentInTasksThatUsuallyTakeLess) {
    const auto report = report_on(frames_builder().with_last(9'000, 9'001), 11);
    EXPECT_EQ(causes_of(report), std::set<std::string>{"standstill"}) << report.sentence;
    EXPECT_NE(report.sentence.find("no thread of the program had a core"), std::string::npos)
        << report.sentence;
}

TEST(AStandingMachine, IsTheCauseWhereAllThreadsWereOffTheirCoresAtOnce) {
    frames_builder b;
    const std::uint64_t at = 11 * frames_builder::period;
    b.away(1, at + 1'000, at + 7'000).away(2, at + 1'001, at + 7'002);
    const auto report = report_on(b.with_last(9'000, 9'001), 11);
    EXPECT_EQ(causes_of(report), std::set<std::string>{"standstill"}) << report.sentence;
    EXPECT_NE(report.sentence.find("had a core for 6.0 ms, 1.0 ms into the frame"),
              std::string::npos)
        << report.sentence;
    ASSERT_TRUE(report.what);
    EXPECT_NEAR(static_cast<double>(report.what->save), 6e6, 1e5);
}

TEST(AStandingMachine, IsNotSeenWhereOneTaskTookLongAndTheOthersWent) {
    const auto report = report_on(frames_builder().with_last(9'000, frames_builder::usual), 11);
    EXPECT_FALSE(causes_of(report).contains("standstill")) << report.sentence;
}

TEST(AFrameThatNothingExplains, IsToldByItsLargestExcessOverWhatIsUsual) {
    // Twice the usual time is no straggler, and nothing else is wrong.
    const auto report = report_on(frames_builder().with_last(6'000, 6'001), 11);
    ASSERT_TRUE(report.what) << report.sentence;
    EXPECT_EQ(report.what->why, cause::unusual) << report.sentence;
    EXPECT_EQ(report.sentence,
              "Frame 11 took 6.0 ms where 3.0 ms is usual, and no change alone would shorten it "
              "much; most unusual was 'cook' (cook.cpp:5), on its critical path for 6.0 ms where "
              "3.0 ms is usual; look at what it did there.");
}

TEST(AFrameWhoseTimesAreUsual, IsToldToHaveThatMuchToDo) {
    const auto report = report_on(frames_builder().with_last(3'000, 3'000), 11);
    EXPECT_FALSE(report.what) << report.sentence;
    EXPECT_EQ(report.sentence,
              "Frame 11 took 3.0 ms, which is usual here, and no change would shorten it much: it "
              "has that much work to do.");
}

}  // namespace
