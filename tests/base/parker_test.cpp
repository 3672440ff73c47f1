// C16: the place where one thread sleeps.
#include "base/parker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using braid::active_policy;
using braid::parker;

TEST(Parker, KeepsAWakeUpThatComesFirst) {
    parker p;
    p.notify();
    EXPECT_TRUE(p.park());
}

TEST(Parker, IsNotifiedUntilItsOwnerHasComeBack) {
    parker p;
    EXPECT_FALSE(p.is_notified());
    p.notify();
    EXPECT_TRUE(p.is_notified());
    p.park();
    EXPECT_FALSE(p.is_notified());
}

TEST(Parker, KeepsOneWakeUpNotTwo) {
    parker p;
    p.notify();
    p.notify();
    EXPECT_TRUE(p.park());
    EXPECT_FALSE(p.park(active_policy::now() + 1'000'000));
}

TEST(Parker, ReturnsAtTheDeadlineAndNotBefore) {
    parker p;
    const std::int64_t deadline = active_policy::now() + 5'000'000;
    EXPECT_FALSE(p.park(deadline));
    EXPECT_GE(active_policy::now(), deadline);
}

TEST(Parker, APastDeadlineReturnsAtOnce) {
    parker p;
    EXPECT_FALSE(p.park(1));
}

TEST(Parker, ShowsWhatTheWakerWrote) {
    parker there;
    parker back;
    int word = 0;  // plain: only the parkers order it
    std::thread other([&] {
        for (int i = 0; i < 20'000; ++i) {
            there.park();
            EXPECT_EQ(word, 2 * i + 1);
            word = 2 * i + 2;
            back.notify();
        }
    });
    for (int i = 0; i < 20'000; ++i) {
        word = 2 * i + 1;
        there.notify();
        back.park();
        EXPECT_EQ(word, 2 * i + 2);
    }
    other.join();
}

}  // namespace
