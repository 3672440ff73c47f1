// The timing wheel: nothing is served early, late, twice or out of order, and it asks to be woken
// as late as it may.
#include "base/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

namespace {

using braid::memory_tag;
using braid::detail::timer_id;
using wheel = braid::detail::timer_wheel<std::uint64_t, memory_tag::runtime>;

constexpr std::int64_t us = 1'000, ms = 1'000 * us, second = 1'000 * ms;
constexpr std::int64_t hour = 3'600 * second, year = 365 * 24 * hour;

struct fixture : testing::Test {
    bool refuse = false;
    braid::detail::accounted_memory memory{
        {.allocate = [](void* self, std::size_t bytes, std::size_t, memory_tag) -> void* {
             return static_cast<fixture*>(self)->refuse ? nullptr : std::malloc(bytes);
         },
         .release = [](void*, void* p, std::size_t, std::size_t, memory_tag) { std::free(p); },
         .user = this},
        0,
        {}};
    wheel timers{memory};

    timer_id arm(std::int64_t deadline, std::uint64_t payload = 0, std::int64_t slack = 0) {
        return timers.arm({deadline, slack, payload});
    }
    /// The payloads of what is due, in the order in which it comes.
    std::vector<std::uint64_t> due(std::int64_t now) {
        std::vector<std::uint64_t> all;
        for (wheel::entry e; timers.take_due(now, e);) {
            EXPECT_LE(e.deadline, now);
            all.push_back(e.payload);
        }
        return all;
    }
};
using TimerWheel = fixture;
using payloads = std::vector<std::uint64_t>;

TEST_F(TimerWheel, ServesAtTheDeadlineAndNotANanosecondBefore) {
    for (const std::int64_t at : {std::int64_t{1}, 63 * us, 64 * us, second, hour, year}) {
        wheel fresh(memory);
        wheel::entry e;
        ASSERT_TRUE(fresh.arm({at, 0, 7}));
        EXPECT_EQ(fresh.next_wake(), at);
        EXPECT_FALSE(fresh.take_due(at - 1, e)) << at;
        EXPECT_EQ(fresh.next_wake(), at);
        ASSERT_TRUE(fresh.take_due(at, e)) << at;
        EXPECT_EQ(e.deadline, at);
        EXPECT_EQ(e.payload, 7U);
        EXPECT_FALSE(fresh.take_due(INT64_MAX, e));
        EXPECT_EQ(fresh.size(), 0U);
        EXPECT_EQ(fresh.next_wake(), INT64_MAX);
    }
}

TEST_F(TimerWheel, ServesInTheOrderOfDeadlinesAndEqualOnesAsTheyCame) {
    arm(300, 5);
    arm(100, 1);
    arm(200, 3);
    arm(100, 2);
    arm(200, 4);
    EXPECT_EQ(due(99), payloads{});
    EXPECT_EQ(due(1'000), (payloads{1, 2, 3, 4, 5}));
}

TEST_F(TimerWheel, ServesWhatWasArmedTooLateAtOnceTheEarliestFirst) {
    due(10'000);
    arm(10'000, 4);
    arm(9'000, 3);
    arm(5, 2);
    arm(-7, 1);
    arm(INT64_MIN, 0);
    arm(10'001, 5);
    EXPECT_LE(timers.next_wake(), 0);
    EXPECT_EQ(due(10'000), (payloads{0, 1, 2, 3, 4}));
    EXPECT_EQ(timers.next_wake(), 10'001);
    // Time does not go back, whatever the caller says.
    EXPECT_EQ(due(3), payloads{});
    EXPECT_EQ(due(10'001), payloads{5});
}

TEST_F(TimerWheel, ReachesTheEndOfTime) {
    arm(INT64_MAX, 2);
    arm(INT64_MAX - 1, 1, INT64_MAX);
    arm(0, 0, -5);
    EXPECT_EQ(due(0), payloads{0});
    EXPECT_EQ(timers.next_wake(), INT64_MAX);
    EXPECT_EQ(due(year), payloads{});
    EXPECT_EQ(due(INT64_MAX - 2), payloads{});
    EXPECT_EQ(due(INT64_MAX - 1), payloads{1});
    EXPECT_EQ(due(INT64_MAX), payloads{2});
    EXPECT_EQ(timers.size(), 0U);
}

TEST_F(TimerWheel, CancelsOnceAndNeverAnotherTimer) {
    const timer_id first = arm(100, 1), second_one = arm(100, 2), third = arm(100, 3);
    EXPECT_TRUE(timers.cancel(second_one));
    EXPECT_FALSE(timers.cancel(second_one));
    const timer_id reused = arm(100, 4);
    EXPECT_NE(reused, second_one);
    EXPECT_FALSE(timers.cancel(second_one));
    EXPECT_TRUE(timers.is_armed(reused));
    EXPECT_EQ(due(100), (payloads{1, 3, 4}));
    for (const timer_id gone : {first, third, reused}) EXPECT_FALSE(timers.cancel(gone));
    EXPECT_FALSE(timers.cancel({}));
    EXPECT_FALSE(timers.cancel({UINT64_MAX}));
}

TEST_F(TimerWheel, WakesOnceForAThousandTimersWithSlackInOneWindow) {
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        arm(second + static_cast<std::int64_t>(random() % (5 * ms)), i, 5 * ms);
    }
    unsigned wakes = 0;
    std::size_t served = 0;
    while (timers.size() != 0) {
        ++wakes;
        const std::int64_t now = timers.next_wake();
        for (wheel::entry e; timers.take_due(now, e); ++served) {
            ASSERT_GE(now, e.deadline);
            ASSERT_LE(now, e.deadline + e.slack);
        }
    }
    EXPECT_EQ(served, 1'000U);
    EXPECT_LE(wakes, 2U);
}

TEST_F(TimerWheel, AsksForOneWakeForATimerThatIsAnHourAway) {
    arm(hour, 1);
    EXPECT_EQ(timers.next_wake(), hour);
    // Whatever else is armed and cancelled meanwhile.
    for (std::int64_t now = 0; now < hour; now += 7 * second) {
        ASSERT_TRUE(timers.cancel(arm(now + second)));
        ASSERT_EQ(due(now), payloads{});
        ASSERT_EQ(timers.next_wake(), hour);
    }
    EXPECT_EQ(due(hour), payloads{1});
}

TEST_F(TimerWheel, WakesAtMostOnceALevelForManyCancelledOnes) {
    std::vector<timer_id> all;
    for (std::int64_t i = 0; i < 10'000; ++i) all.push_back(arm(hour + i));
    for (std::size_t i = 0; i < 9'000; ++i) ASSERT_TRUE(timers.cancel(all[i]));
    unsigned idle_wakes = 0;
    for (; true; ++idle_wakes) {
        const std::int64_t wake = timers.next_wake();
        ASSERT_LE(wake, hour + 9'000) << "late";
        if (!due(wake).empty()) break;
    }
    EXPECT_LE(idle_wakes, 3U);
}

TEST_F(TimerWheel, IsNotLateWhereTheMostUrgentOfManyWasCancelled) {
    timer_id last;
    for (std::int64_t i = 1'000; i > 0; --i) last = arm(hour + i);
    ASSERT_TRUE(timers.cancel(last));
    ASSERT_LE(timers.next_wake(), hour + 2);
}

TEST_F(TimerWheel, AllocatesNothingOnceItHasRoom) {
    for (int i = 0; i < 1'000; ++i) arm(i);
    ASSERT_EQ(due(1'000).size(), 1'000U);
    const auto before = memory.allocations();
    for (std::int64_t round = 1; round < 100; ++round) {
        for (int i = 0; i < 1'000; ++i) arm(round * second + i);
        ASSERT_EQ(due(round * second + ms).size(), 1'000U);
    }
    EXPECT_EQ(memory.allocations(), before);
}

TEST_F(TimerWheel, RefusesWithoutMemoryAndLosesNothing) {
    std::size_t armed = 0;
    while (armed < 100) armed += static_cast<bool>(arm(5, armed));
    refuse = true;
    while (arm(5, armed)) ++armed;
    ASSERT_LT(armed, 1'000U);
    const payloads all = due(5);
    ASSERT_EQ(all.size(), armed);
    for (std::size_t i = 0; i < armed; ++i) ASSERT_EQ(all[i], i);
}

TEST_F(TimerWheel, GivesUpWhatIsWanted) {
    for (std::uint64_t i = 0; i < 10; ++i) arm(hour, i);
    payloads odd;
    const auto is_odd = [](std::uint64_t p) { return p % 2 != 0; };
    const auto keep = [&](const wheel::entry& e) { odd.push_back(e.payload); };
    EXPECT_EQ(timers.take_if(is_odd, keep), 5U);
    EXPECT_EQ(timers.take_if(is_odd, keep), 0U);
    EXPECT_EQ(odd, (payloads{1, 3, 5, 7, 9}));
    EXPECT_EQ(due(hour), (payloads{0, 2, 4, 6, 8}));
}

/// What the wheel should be, slowly.
class reference {
public:
    void arm(std::uint64_t id, std::int64_t deadline, std::int64_t slack) {
        by_deadline_.emplace(deadline, id);
        latest_[id] = deadline > INT64_MAX - slack ? INT64_MAX : deadline + slack;
        deadline_[id] = deadline;
    }
    bool cancel(std::uint64_t id) {
        if (latest_.erase(id) == 0) return false;
        const auto [first, last] = by_deadline_.equal_range(deadline_[id]);
        by_deadline_.erase(
            std::find_if(first, last, [&](const auto& entry) { return entry.second == id; }));
        return true;
    }
    payloads due(std::int64_t now) {
        payloads all;
        while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
            all.push_back(by_deadline_.begin()->second);
            cancel(all.back());
        }
        return all;
    }
    std::int64_t next_wake() const {
        std::int64_t least = INT64_MAX;
        for (const auto& [id, latest] : latest_) least = std::min(least, latest);
        return least;
    }

private:
    std::multimap<std::int64_t, std::uint64_t> by_deadline_;  // equal ones in order of arrival
    std::map<std::uint64_t, std::int64_t> latest_, deadline_;
};

TEST_F(TimerWheel, DoesWhatASortedListDoes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        std::mt19937_64 random(seed);
        wheel tested(memory);
        reference known;
        std::vector<timer_id> ids;
        std::int64_t now = 0;
        const auto span = [&] {
            // Of any order of magnitude.
            const std::int64_t most = std::int64_t{1} << random() % 56;
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        for (int step = 0; step < 3'000; ++step) {
            const std::uint64_t what = random() % 8;
            if (what < 4) {
                const std::int64_t back = random() % 8 == 0 ? span() : 0;
                const std::int64_t deadline = now + span() % hour - back;
                const std::int64_t slack = random() % 2 == 0 ? span() : 0;
                known.arm(ids.size(), deadline, slack);
                ids.push_back(tested.arm({deadline, slack, ids.size()}));
                ASSERT_TRUE(ids.back());
            } else if (what < 6 && !ids.empty()) {
                const std::uint64_t one = random() % ids.size();
                ASSERT_EQ(tested.cancel(ids[one]), known.cancel(one)) << "seed " << seed;
            } else {
                now = what == 6 ? std::max(now, std::min(known.next_wake(), now + hour))
                                : now + span() % second;
                payloads served;
                for (wheel::entry e; tested.take_due(now, e);) served.push_back(e.payload);
                ASSERT_EQ(served, known.due(now)) << "seed " << seed << ", step " << step;
            }
            ASSERT_EQ(tested.next_wake(), known.next_wake()) << "seed " << seed;
        }
    }
}

}  // namespace
