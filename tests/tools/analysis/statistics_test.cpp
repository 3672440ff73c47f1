// Numbers per type, along parents, and per frame.
#include "profile/analysis/statistics.hpp"

#include "scenes.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::us;

TEST(Statistics, OfATypeAreThoseOfItsBodies) {
    capture_builder b;
    const auto w = b.lane();
    const auto skin = b.type("skin"), other = b.type("other");
    std::uint64_t at = 0;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        b.spawn(w, at, i, skin).run(w, at, at + i, i, skin);
        at += i;
    }
    b.spawn(w, at, 200, other).run(w, at, at + 1, 200, other);
    const profile::capture c = b.make();
    const auto rows = type_statistics(make_history(c));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].type, skin);
    EXPECT_EQ(rows[0].count, 100U);
    EXPECT_EQ(rows[0].total, 5050 * us);
    EXPECT_EQ(rows[0].p50, 50 * us);
    EXPECT_EQ(rows[0].p95, 95 * us);
    EXPECT_EQ(rows[0].max, 100 * us);
    const auto& bars = rows[0].histogram;
    EXPECT_EQ(std::accumulate(bars.begin(), bars.end(), std::uint64_t{0}), 100U);
    // 33 to 65 us lie between 2^15 and 2^16 ns.
    EXPECT_EQ(bars[16], 33U);
}

TEST(Statistics, OfATaskHaveItsPartsOfJoinsOnWhateverLane) {
    const profile::capture c = braid_test::joins_scene();
    const profile::history t = make_history(c);
    const std::uint32_t task = t.find(1, 0);
    // On its own lane 10 to 2001 without the wait; on the others 30 to 1000 less what it was off
    // the core, and 400 to 600.
    EXPECT_EQ(t.bodies[t.tasks[task].body].running, 1481 * us);
    EXPECT_EQ(own_times(t)[task], (1481 + 870 + 200) * us);
    const auto rows = type_statistics(t);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(t.from->types[rows[0].type].line, 12U);
    EXPECT_EQ(rows[0].count, 3U);
    EXPECT_EQ(rows[0].total, (2551 + 500 + 100) * us);
    EXPECT_EQ(rows[0].max, 2551 * us);
    // What ran on top of task 3 is not its own.
    EXPECT_EQ(rows[1].total, (300 + 1000) * us);
    EXPECT_EQ(rows[2].total, (199 + 885) * us);
    for (const profile::type_row& row : rows) EXPECT_GE(row.with_children, row.total);
}

TEST(Statistics, OfParentsHaveTheirChildren) {
    capture_builder b;
    const auto w = b.lane();
    const auto skin = b.type("skin"), other = b.type("other");
    b.spawn(w, 0, 1, skin).run(w, 0, 10, 1, skin);
    b.spawn(w, 5, 2, other, {}, 1, 1).run(w, 20, 25, 2, other);
    b.spawn(w, 21, 3, other, {}, 1, 2).run(w, 30, 33, 3, other);
    b.spawn(w, 5, 4, skin, {}, 1, 1).run(w, 40, 42, 4, skin);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const auto totals = totals_with_children(t);
    EXPECT_EQ(totals[t.find(1, 0)], 20 * us);
    EXPECT_EQ(totals[t.find(2, 0)], 8 * us);
    EXPECT_EQ(totals[t.find(3, 0)], 3 * us);
    const auto rows = type_statistics(t);
    ASSERT_EQ(rows[0].type, skin);
    EXPECT_EQ(rows[0].total, 12 * us);
    EXPECT_EQ(rows[0].with_children, 20 * us);
    EXPECT_EQ(rows[1].with_children, 8 * us);
}

TEST(Statistics, OfFramesNameTheWorst) {
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main);
    std::uint64_t at = 0;
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const std::uint64_t length = i == 7 ? 300 : 100 + i;
        b.frame(main, at, at + length, i);
        at += length + 1;
    }
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const profile::frame_times times = frame_statistics(t);
    EXPECT_EQ(times.worst, 300 * us);
    EXPECT_EQ(t.frames[times.worst_frame].number, 7U);
    EXPECT_EQ(times.p95, 120 * us);
    EXPECT_EQ(times.p50, 111 * us);
}

TEST(Percentile, IsTheNearestRank) {
    std::vector<std::uint64_t> values = {5, 1, 4, 2, 3};
    EXPECT_EQ(profile::percentile(values, 0.5), 3U);
    EXPECT_EQ(profile::percentile(values, 0.95), 5U);
    EXPECT_EQ(profile::percentile(values, 0.2), 1U);
    std::vector<std::uint64_t> nothing;
    EXPECT_EQ(profile::percentile(nothing, 0.5), 0U);
}

}  // namespace
