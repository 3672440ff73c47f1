// C21: create, push, destroy, as often as it takes. 10^5 rounds in the nightly run.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>

namespace {

BRAID_SCHEDULER_TEST(ShutdownStress);

TEST_P(ShutdownStress, CreatePushDestroyRoundsLoseNothingAndHangNever) {
    // S2: a quit storm. S5: the wake-up at the end.
    const std::size_t rounds =
        std::max<std::size_t>(1, braid_test::stress_scaled(2'000) / (GetParam() > 8 ? 40 : 1));
    for (std::size_t i = 0; i < rounds; ++i) {
        std::atomic<std::uint64_t> ran{0};
        std::uint64_t cancelled = 0;
        std::uint64_t created = 0;
        {
            braid::scheduler_options o = options();
            o.idle = i % 2 == 0 ? braid::parking::power : braid::parking::balanced;
            o.ring = i % 3 == 0 ? 2 : 1024;
            braid::scheduler s(o);
            for (std::size_t n = 0; n < i % 8; ++n) {
                s.post([&ran, n](braid::task_context& task) {
                    ++ran;
                    for (std::size_t k = 0; k < n; ++k) task.spawn([&ran] { ++ran; });
                    if (n == 5) task.wait(task.spawn([&ran] { ++ran; }));
                });
            }
            if (i % 5 == 0) s.shut_down(braid::shutdown::discard);
            if (i % 5 == 1) s.shut_down();
            if (i % 5 != 0 && i % 5 != 1) continue;
            created = s.statistics().created;
            cancelled = s.statistics().cancelled;
        }
        ASSERT_EQ(ran + cancelled, created);
    }
}

TEST_P(ShutdownStress, QueuesAreCreatedFilledAndDestroyed) {
    braid::scheduler s(options());
    const std::size_t rounds = braid_test::stress_scaled(500);
    for (std::size_t i = 0; i < rounds; ++i) {
        std::atomic<std::size_t> ran{0};
        {
            braid::queue q(s,
                           {.threads = static_cast<unsigned>(i % 3),
                            .capacity = 2,
                            .full = i % 2 == 0 ? braid::when_full::help : braid::when_full::grow});
            for (std::size_t n = 0; n < i % 10; ++n) q.push([&ran] { ++ran; });
        }
        ASSERT_EQ(ran, i % 10);
    }
}

}  // namespace
