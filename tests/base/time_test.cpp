#include "braid/base/time.hpp"
#include "braid/base/policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace {

TEST(Nanoseconds, ComeFromAnyChronoDuration) {
    using namespace std::chrono_literals;
    EXPECT_EQ(braid::nanoseconds(5ms), braid::milliseconds(5));
    EXPECT_EQ(braid::nanoseconds(2h).value, 7'200'000'000'000);
    EXPECT_EQ(braid::nanoseconds(std::chrono::duration<double>(0.25)), braid::milliseconds(250));
    EXPECT_EQ(braid::nanoseconds(-3us), braid::microseconds(-3));
    EXPECT_LT(braid::seconds(1), braid::no_limit);
}

TEST(Nanoseconds, ThatAreTooLongAreTheLongest) {
    using std::chrono::duration;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const braid::nanoseconds least{INT64_MIN};
    EXPECT_EQ(braid::nanoseconds(duration<double>(infinity)), braid::no_limit);
    EXPECT_EQ(braid::nanoseconds(duration<double>(-infinity)), least);
    EXPECT_EQ(braid::nanoseconds(duration<double>(std::nan(""))).value, 0);
    EXPECT_EQ(braid::nanoseconds(duration<float>(1e30F)), braid::no_limit);
    EXPECT_EQ(braid::nanoseconds(std::chrono::hours::max()), braid::no_limit);
    EXPECT_EQ(braid::nanoseconds(std::chrono::hours::min()), least);
    EXPECT_EQ(braid::nanoseconds(duration<std::int64_t, std::ratio<1'000'000'000'000>>(1)),
              braid::no_limit);
    EXPECT_EQ(braid::nanoseconds(duration<std::uint64_t>(UINT64_MAX)), braid::no_limit);
    for (const std::int64_t ns :
         {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, INT64_MAX - 1, INT64_MAX}) {
        EXPECT_EQ(braid::nanoseconds(std::chrono::nanoseconds(ns)).value, ns) << "to the last one";
    }
    EXPECT_EQ(braid::seconds(9'223'372'036).value, 9'223'372'036'000'000'000);
    EXPECT_EQ(braid::seconds(9'223'372'037), braid::no_limit);
    EXPECT_EQ(braid::milliseconds(INT64_MAX), braid::no_limit);
    EXPECT_EQ(braid::microseconds(INT64_MIN), least);
    EXPECT_EQ(braid::nanoseconds(std::chrono::duration<int, std::ratio<1, 3>>(2)).value,
              666'666'666);
}

TEST(Deadline, IsNeverBeforeNowBecauseASumOverflows) {
    using braid::nanoseconds;
    using braid::detail::deadline_after;
    EXPECT_EQ(deadline_after(5, nanoseconds{7}), 12);
    EXPECT_EQ(deadline_after(5, nanoseconds{INT64_MAX - 5}), INT64_MAX);
    EXPECT_EQ(deadline_after(5, nanoseconds{INT64_MAX - 6}), INT64_MAX - 1);
    EXPECT_EQ(deadline_after(5, braid::no_limit), INT64_MAX);
    EXPECT_EQ(deadline_after(INT64_MAX, nanoseconds{1}), INT64_MAX);
    EXPECT_EQ(deadline_after(5, nanoseconds{INT64_MIN}), INT64_MIN + 5);
    EXPECT_EQ(deadline_after(-5, nanoseconds{INT64_MIN}), INT64_MIN);
}

TEST(Clock, IsMonotonicAndTheCoarseOneNeverAhead) {
    const std::int64_t coarse = braid::active_policy::coarse_now();
    const std::int64_t first = braid::active_policy::now();
    const std::int64_t second = braid::active_policy::now();
    EXPECT_LE(coarse, first);
    EXPECT_LE(first, second);
}

}  // namespace
