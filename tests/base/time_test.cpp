#include "braid/base/time.hpp"
#include "braid/base/policy.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

TEST(Nanoseconds, ComeFromAnyChronoDuration) {
    using namespace std::chrono_literals;
    EXPECT_EQ(braid::nanoseconds(5ms), braid::milliseconds(5));
    EXPECT_EQ(braid::nanoseconds(2h).value, 7'200'000'000'000);
    EXPECT_EQ(braid::nanoseconds(std::chrono::duration<double>(0.25)), braid::milliseconds(250));
    EXPECT_EQ(braid::nanoseconds(-3us), braid::microseconds(-3));
    EXPECT_LT(braid::seconds(1), braid::forever);
}

TEST(Clock, IsMonotonicAndTheCoarseOneNeverAhead) {
    const std::int64_t coarse = braid::active_policy::coarse_now();
    const std::int64_t first = braid::active_policy::now();
    const std::int64_t second = braid::active_policy::now();
    EXPECT_LE(coarse, first);
    EXPECT_LE(first, second);
}

}  // namespace
