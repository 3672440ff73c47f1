// C16: a million pushes, each against a thread that is about to sleep, or asleep, or about to wake.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(ParkStress);

TEST_P(ParkStress, PushesAgainstSleepersHangNever) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody to wake";
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    std::atomic<std::size_t> ran{0};
    const std::size_t pushes = braid_test::stress_scaled(100'000);
    std::size_t pushed = 0;
    for (std::size_t round = 0; pushed < pushes; ++round) {
        for (std::size_t n = 0; n < 1 + round % 19; ++n, ++pushed) s.post([&ran] { ++ran; });
        for (std::size_t n = 0; n < round % 64; ++n) braid::system_policy::relax();
        // Seen through to the end now and then: nothing that comes later helps the last push.
        if (round % 4 == 0) braid_test::until([&] { return ran == pushed; });
    }
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(ParkStress, EventsBetweenThreadsAndTasksHangNever) {
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    const std::size_t rounds = braid_test::stress_scaled(5'000);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::event there(s);
        s.post([&there] { there.set(); });
        if (!s.do_work_while_waiting_for(
                there, braid::nanoseconds{static_cast<std::int64_t>(i % 40) * 500})) {
            ASSERT_TRUE(s.do_work_while_waiting_for(there));
        }
    }
}

}  // namespace
