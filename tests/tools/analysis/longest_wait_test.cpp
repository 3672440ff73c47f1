// Of a program without frames the longest wait is told, and what it was for.
#include "profile/analysis/longest_wait.hpp"
#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::capture_builder;
using braid_test::record_kind;
using braid_test::us;

/// The main thread waits for an event that the task of a message sets, which the tick of a timer
/// has spawned.
capture_builder readings() {
    capture_builder b;
    const auto main = b.lane(profile::lane_kind::main), w = b.lane();
    const auto source = b.lane(profile::lane_kind::other);
    const auto sensor = b.type("sensor", "s.cpp", 26), reading = b.type("reading", "s.cpp", 21);
    b.wait(main, 1, 50, 0, 0);
    b.say(main, 60, record_kind::deferred, 101, 0, sensor);
    b.say(main, 65, record_kind::wait_begin).say(main, 66, record_kind::parked);
    b.say(source, 4060, record_kind::settled, 101, 0, sensor);
    b.say(source, 4061, record_kind::spawned, 1, 0, sensor, 1);
    b.say(source, 4061, record_kind::edge, 1, 101).say(source, 4061, record_kind::ready, 1);
    b.say(w, 4070, record_kind::started, 1, 0, sensor).spawn(w, 4075, 2, reading);
    b.say(w, 4080, record_kind::ended, 1).say(w, 4080, record_kind::completed, 1);
    b.say(w, 4081, record_kind::started, 2, 0, reading);
    b.say(w, 4381, record_kind::event_set, 2, 7);
    b.say(w, 4390, record_kind::ended, 2).say(w, 4390, record_kind::completed, 2);
    b.say(main, 4395, record_kind::unparked).say(main, 4396, record_kind::event_taken, 0, 7);
    b.say(main, 4397, record_kind::wait_end);
    return b;
}

TEST(LongestWait, IsNamedWithTheTimerThatItWasForAndWithWhatRan) {
    const profile::capture c = readings().make();
    const profile::history t = make_history(c);
    const auto found = longest_wait(t);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->wait.length(), (4397 - 65) * us);
    EXPECT_EQ(found->sentence,
              "There are no frames. The longest wait was one of 'lane 0' outside of tasks, 4.3 ms: "
              "4.0 ms for 'sensor' (s.cpp:26), which somebody outside ends; and 0.30 ms for "
              "'reading' (s.cpp:21), which ran.");
}

TEST(LongestWait, OfATaskIsToldWhereNothingElseWaits) {
    capture_builder b;
    const auto w = b.lane(), v = b.lane();
    const auto skin = b.type("skin", "skin.cpp", 12), draw = b.type("draw", "draw.cpp", 7);
    b.say(w, 10, record_kind::started, 1, 0, draw).spawn(w, 15, 2, skin).wait(w, 20, 3020, 1, 2);
    b.run(v, 25, 3000, 2, skin).say(w, 3030, record_kind::ended, 1);
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    const auto found = longest_wait(t);
    ASSERT_TRUE(found);
    EXPECT_NE(found->sentence.find("of 'draw' (draw.cpp:7), 3.0 ms: 3.0 ms for 'skin'"),
              std::string::npos)
        << found->sentence;
}

TEST(LongestWait, IsNoneWhereNobodyWaited) {
    capture_builder b;
    b.run(b.lane(), 10, 20, 1, b.type("skin"));
    const profile::capture c = b.make();
    const profile::history t = make_history(c);
    EXPECT_FALSE(longest_wait(t));
}

}  // namespace
