// The two formats as far as C++ can look at them; export_test.py decodes them with other programs.
#include "hand_made.hpp"
#include "profile/chrome/chrome.hpp"
#include "profile/perfetto/perfetto.hpp"
#include "profile/perfetto/tracks.hpp"

#include <gtest/gtest.h>

namespace {

using namespace hand_made;

using writer = bool (*)(const capture&, const profile::byte_sink&,
                        const std::function<void(double)>&);

std::string written(writer by, const capture& from) {
    std::string bytes;
    EXPECT_TRUE(by(from, [&](std::string_view more) { return bytes += more, true; }, {}));
    return bytes;
}

std::size_t count(const std::string& in, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = in.find(what); at != in.npos; at = in.find(what, at + 1)) ++found;
    return found;
}

TEST(Exports, PerfettoSaysANameOnce) {
    const std::string bytes = written(profile::write_perfetto, many(500));
    EXPECT_EQ(count(bytes, "spawned_at"), 1U);
    EXPECT_EQ(count(bytes, "physics.cpp"), 1U);
    EXPECT_EQ(count(bytes, "animate"), 2U) << "once as a name, once as a place in the source";
}

TEST(Exports, StopWhereNoMoreIsTaken) {
    const capture from = many(20000);
    for (const writer by : {profile::write_perfetto, profile::write_chrome}) {
        std::size_t calls = 0;
        EXPECT_FALSE(by(from, [&](std::string_view) { return ++calls < 2; }, {}));
        EXPECT_EQ(calls, 2U);
    }
}

TEST(Exports, TellTheShareThatIsDone) {
    const capture from = many(20000);
    for (const writer by : {profile::write_perfetto, profile::write_chrome}) {
        std::vector<double> shares;
        by(
            from, [](std::string_view) { return true; },
            [&](double share) { shares.push_back(share); });
        ASSERT_GE(shares.size(), 2U);
        EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
        EXPECT_GT(shares.front(), 0.0);
        EXPECT_LT(shares.front(), shares.back());
        EXPECT_LE(shares.back(), 1.0);
    }
}

TEST(Exports, ChromeKeepsEveryNanosecond) {
    scene s;
    s.at(0, 1'000'000'007, record_kind::started, 1);
    s.at(0, 18'446'744'073'709'551'615U, record_kind::ended, 1);
    const std::string text = written(profile::write_chrome, s.made);
    EXPECT_NE(text.find("\"ts\":1000000.007,"), text.npos);
    EXPECT_NE(text.find("\"ts\":18446744073709551.615"), text.npos);
}

TEST(Tracks, OnlyNumbersThatTellThreadsApartAreThoseOfThreads) {
    scene s(4);
    s.made.lanes[1].thread = 4711;  // like lane 0
    s.made.lanes[2].thread = std::uint64_t{1} << 31;
    profile::track_numbers tracks(s.made);
    EXPECT_EQ(tracks.thread(0), 0);
    EXPECT_EQ(tracks.thread(1), 0);
    EXPECT_EQ(tracks.thread(2), 0);
    EXPECT_EQ(tracks.thread(3), 4714);
    EXPECT_EQ(tracks.process(), 1);
    s.made.info.emplace_back("pid", "4700");
    EXPECT_EQ(profile::track_numbers(s.made).process(), 4700);
    EXPECT_EQ(profile::track_numbers(scene(2).made).process(), 4711);
}

TEST(Tracks, StatesOfThreadsNeedTheCore) {
    const profile::track_numbers known(switched(true));
    EXPECT_TRUE(known.has_states(0));
    EXPECT_FALSE(known.has_off_core_row(0));
    EXPECT_EQ(known.first_core(1), 1);
    const profile::track_numbers unknown(switched(false));
    EXPECT_FALSE(unknown.has_states(0));
    EXPECT_TRUE(unknown.has_off_core_row(0));
    const profile::track_numbers none(whole());
    EXPECT_FALSE(none.has_states(0));
    EXPECT_FALSE(none.has_off_core_row(0));
}

}  // namespace
