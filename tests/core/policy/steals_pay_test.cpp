// Tasks that are smaller than a steal costs are left to their owner.
#include "thief.hpp"

namespace {

using braid::active_policy;
using braid::detail::whole_seat;

/// More than lie there unclaimed; see the other policy.
constexpr int many = 10;

/// So many that each of them took no time, however long this thread stands still meanwhile.
void has_stolen_small_ones(whole_seat& thief) {
    thief.fetch_ns = 50;
    thief.stole = 1'000'000'000;
    thief.stole_at = active_policy::now();
}

TEST(StealsPay, TasksThatTookLessThanTheirStealAreLeftToTheirOwnerForAWhile) {
    braid_test::thief_and_victim two;
    whole_seat& thief = two.thief();
    two.give_to_victim(many);
    std::int64_t pause = 0;
    for (const std::int64_t expected : {1'000, 2'000, 4'000, 8'000, 16'000, 20'000, 20'000}) {
        has_stolen_small_ones(thief);
        EXPECT_FALSE(two.found());
        EXPECT_EQ(thief.steal_pause, expected);
        pause = expected;
    }
    const std::int64_t until = thief.steal_again;
    EXPECT_GE(until, thief.stole_at + pause);
    while (active_policy::now() < until) {
    }
    EXPECT_TRUE(two.found());
}

TEST(StealsPay, TasksThatTookLongerAreStolenAtOnce) {
    braid_test::thief_and_victim two;
    whole_seat& thief = two.thief();
    two.give_to_victim(many);
    has_stolen_small_ones(thief);
    EXPECT_FALSE(two.found());
    thief.stole = 1;
    thief.stole_at = active_policy::now() - 1'000'000;
    EXPECT_TRUE(two.found());
    EXPECT_EQ(thief.steal_pause, 0);
}

TEST(StealsPay, ATaskPaysThatTakesLongerThanNineLines) {
    // So long that it does not matter how long this thread stands still.
    constexpr std::int64_t body = 1'000'000'000'000;
    for (const bool pays : {true, false}) {
        braid_test::thief_and_victim two;
        two.give_to_victim(many);
        two.thief().stole = 1;
        two.thief().stole_at = active_policy::now() - body;
        two.thief().fetch_ns = pays ? body * 10 / 95 : body * 10 / 85;
        EXPECT_EQ(static_cast<bool>(two.found()), pays);
    }
}

TEST(StealsPay, WhatALineTakesIsAnAverageOfWhatClaimsTook) {
    braid_test::thief_and_victim two;
    whole_seat& thief = two.thief();
    braid::detail::note_claims(thief, 1, 100);
    EXPECT_EQ(thief.fetch_ns, 100);
    braid::detail::note_claims(thief, 1, 200);
    EXPECT_EQ(thief.fetch_ns, 125);
    thief.fetch_ns = 0;
    braid::detail::note_claims(thief, 32, 900);
    EXPECT_EQ(thief.fetch_ns, 100);
    thief.fetch_ns = 0;
    braid::detail::note_claims(thief, 1, 1'000'000);  // the thread was off its core
    EXPECT_EQ(thief.fetch_ns, 500);
}

TEST(StealsPay, AStealMeasuresItsClaims) {
    braid_test::thief_and_victim two;
    two.give_to_victim();
    EXPECT_EQ(two.thief().fetch_ns, 0);
    EXPECT_TRUE(two.found());
    EXPECT_GT(two.thief().fetch_ns, 0);
    EXPECT_EQ(two.thief().stole, 1U);
}

TEST(StealsPay, UrgentOnesAndTheThreadsOwnAreTakenMeanwhile) {
    braid_test::thief_and_victim two;
    whole_seat& thief = two.thief();
    two.give_to_victim(many);
    thief.steal_pause = 1;
    thief.steal_again = INT64_MAX;
    EXPECT_FALSE(two.found());
    const braid::task_id urgent = two.give_to_victim(braid::priority_level::high);
    EXPECT_EQ(two.found(), urgent);
    const braid::task_id own = two.take_from_victim();
    ASSERT_TRUE(thief.ready[braid::detail::normal_level].push(own.value));
    EXPECT_EQ(two.found(), own);
    EXPECT_FALSE(two.found());
}

}  // namespace
