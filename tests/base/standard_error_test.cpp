// What is said where no log handler is installed: a line at most each second of a kind.
#include "base/standard_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using braid::detail::standard_error;

constexpr std::int64_t second = 1'000'000'000;

/// What it writes for one message.
std::string said(standard_error* by, braid::log_level level, const char* message) {
    testing::internal::CaptureStderr();
    standard_error::say(by, level, message);
    return testing::internal::GetCapturedStderr();
}

TEST(StandardError, MessagesThatDifferInNumbersAndNamesAreOfOneKind) {
    const auto kind = [](const char* message) { return standard_error::kind_of(message); };
    EXPECT_EQ(kind("app: task 'a' took 10.2 ms on worker 3"),
              kind("app: task 'b c' took 7.95 ms on worker 11"));
    EXPECT_NE(kind("app: task 'a' took 1 ms"), kind("game: task 'a' took 1 ms"));
    EXPECT_NE(kind("app: this"), kind("app: that"));
    EXPECT_NE(kind(""), 0U);
}

TEST(StandardError, OneOfAKindHasATurnEachSecondAndHearsHowManyHadNone) {
    standard_error log;
    std::uint32_t left_out = 7;
    EXPECT_TRUE(log.has_turn(1, 5, left_out));
    EXPECT_EQ(left_out, 0U);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(log.has_turn(1, 5 + i, left_out));
    EXPECT_TRUE(log.has_turn(2, 6, left_out)) << "another kind";
    EXPECT_FALSE(log.has_turn(1, 5 + second - 1, left_out));
    EXPECT_TRUE(log.has_turn(1, 5 + second, left_out));
    EXPECT_EQ(left_out, 11U);
}

TEST(StandardError, MoreKindsThanItKeepsAreAllSaid) {
    standard_error log;
    std::uint32_t left_out = 0;
    for (std::uint32_t kind = 1; kind <= 200; ++kind) {
        EXPECT_TRUE(log.has_turn(kind, 1, left_out)) << kind;
    }
}

TEST(StandardError, SaysAtItsEndHowManyWereLeftOut) {
    testing::internal::CaptureStderr();
    {
        standard_error log;
        std::uint32_t left_out = 0;
        for (int i = 0; i < 4; ++i) log.has_turn(1, 1, left_out);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "braid: 3 more like these were left out\n");
}

TEST(StandardError, WarningsAndErrorsAreALineEachAndInfoIsNone) {
    standard_error log;
    EXPECT_EQ(said(&log, braid::log_level::warning, "app: mind this"), "braid: app: mind this\n");
    EXPECT_EQ(said(&log, braid::log_level::error, "app: this is wrong"),
              "braid: app: this is wrong\n");
    EXPECT_EQ(said(&log, braid::log_level::info, "app: by the way"), "");
    EXPECT_EQ(said(nullptr, braid::log_level::error, "of no scheduler"),
              "braid: of no scheduler\n");
    const std::string long_one =
        said(nullptr, braid::log_level::error, std::string(2000, 'x').c_str());
    EXPECT_EQ(long_one, "braid: " + std::string(600, 'x') + "\n");
}

}  // namespace
