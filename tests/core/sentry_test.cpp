// Who looks for deadlocks, and when: no thread sleeps here, so no time decides.
#include "core/seats/sentry.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using braid::active_policy;
using braid::detail::looked;
using braid::detail::sentry;

constexpr std::int64_t nobody = INT64_MAX;
constexpr std::int64_t after = 1'000'000'000;  // ns

/// What a call has answered is so long after the call, which itself takes its time.
class distance_of {
public:
    template <class F>
    explicit distance_of(F&& call) : before_(active_policy::now()), at_(call()) {}
    bool is(std::int64_t distance) const {
        return at_ >= before_ + distance && at_ <= active_policy::now() + distance;
    }

private:
    std::int64_t before_, at_;
};

TEST(Sentry, IsTheFirstThatSleepsUntilItGivesThatBack) {
    sentry s{braid::nanoseconds(after)};
    EXPECT_TRUE(distance_of([&] { return s.take(3); }).is(after));
    EXPECT_TRUE(s.is_held_by(3));
    EXPECT_EQ(s.take(4), nobody);
    s.give_back(4);  // it has nothing
    EXPECT_EQ(s.take(4), nobody);
    s.give_back(3);
    EXPECT_NE(s.take(4), nobody);
    EXPECT_TRUE(s.is_held_by(4));
}

TEST(Sentry, LooksAfterTwiceTheTimeUpTo64TimesWhileItLooksInVain) {
    sentry s{braid::nanoseconds(after)};
    s.take(3);
    for (std::int64_t times : {2, 4, 8, 16, 32, 64, 64, 64}) {
        EXPECT_TRUE(distance_of([&] { return s.note(3, looked::in_vain); }).is(times * after));
    }
    EXPECT_TRUE(distance_of([&] { return s.note(3, looked::in_part); }).is(after));
    EXPECT_TRUE(distance_of([&] { return s.note(3, looked::in_vain); }).is(2 * after));
}

TEST(Sentry, IsRelievedByTheNextOneThatSleepsWhenItsLookIsFar) {
    sentry s{braid::nanoseconds(after)};
    s.take(3);
    s.note(3, looked::in_vain);
    EXPECT_TRUE(s.is_held_by(3));
    EXPECT_NE(s.take(4), nobody);
    EXPECT_FALSE(s.is_held_by(3));
    EXPECT_EQ(s.note(3, looked::in_vain), nobody);  // it has heard of that too late
    EXPECT_TRUE(s.is_held_by(4));
    EXPECT_EQ(s.take(5), nobody);  // the look is near again
}

TEST(Sentry, IsNobodyWhenNothingIsOpenOrTheLookGaveItWork) {
    for (const looked what : {looked::nothing_open, looked::woke}) {
        sentry s{braid::nanoseconds(after)};
        s.take(3);
        EXPECT_EQ(s.note(3, what), nobody);
        EXPECT_FALSE(s.is_held_by(3));
        EXPECT_TRUE(distance_of([&] { return s.take(4); }).is(after));
    }
}

TEST(Sentry, IsNotOneThatSleepsTooShortlyForALook) {
    sentry s{braid::nanoseconds(after)};
    EXPECT_EQ(s.take(3, active_policy::now() + 200'000), nobody);
    EXPECT_FALSE(s.is_held_by(3));
    EXPECT_NE(s.take(4), nobody);
}

/// The time of a look does not begin anew with each piece.
TEST(Sentry, LooksWhenItIsDueWhereThreadsSleepInPieces) {
    sentry s{braid::seconds(3600)};
    const std::int64_t due = s.take(3);
    s.give_back(3);
    for (int piece = 0; piece < 10; ++piece) {
        EXPECT_EQ(s.take(3), due);
        s.give_back(3);
    }
}

TEST(Sentry, OfNoLimitIsNobody) {
    sentry s{braid::no_limit};
    EXPECT_FALSE(s.is_wanted());
    EXPECT_EQ(s.take(3), nobody);
}

}  // namespace
