// C11: waits of all kinds at once, over rings of two, with few reserves or none.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(WaitStress);

struct tree {
    braid::scheduler& s;
    std::atomic<std::size_t>& ran;
    int depth;

    void operator()(braid::task_context& task) const {
        ++ran;
        if (depth == 0) return;
        const auto left = task.spawn(tree{s, ran, depth - 1});
        auto right = s.async([this](braid::task_context& inner) {
            tree{s, ran, depth - 1}(inner);
            return depth;
        });
        braid::event reached(s);
        const auto after = task.spawn({.after = {left}}, [&reached] { reached.set(); });
        if (depth % 2 == 0) s.do_work_while_waiting_for(reached);
        if (right.get() != depth) throw std::logic_error("another task's value");
        task.wait(left);
        task.wait(after);
    }
};

TEST_P(WaitStress, TreesOfNestedWaitsFinish) {
    const std::size_t rounds = braid_test::stress_scaled(10);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scheduler_options o = options();
        o.ring = i % 2 == 0 ? 2 : 1024;
        o.max_reserves = i % 3 == 0 ? 2 : 64;
        o.idle = i % 4 < 2 ? braid::parking::power : braid::parking::balanced;
        braid::scheduler s(o);
        std::atomic<std::size_t> ran{0};
        constexpr int depth = 7;
        const tree root{s, ran, depth};
        std::thread foreign([&] { s.wait(s.spawn(root)); });
        s.wait(s.spawn(root));
        foreign.join();
        ASSERT_EQ(ran, 2 * ((std::size_t{2} << depth) - 1));
    }
}

TEST_P(WaitStress, EveryExceptionIsRethrownOrReportedHoweverTheWaitTimesOut) {
    braid::scheduler s(options());
    const std::size_t rounds = braid_test::stress_scaled(20'000);
    std::atomic<std::size_t> caught{0};
    const auto waiter = [&](std::size_t seed) {
        for (std::size_t i = 0; i < rounds / 2; ++i) {
            const auto id = s.spawn([] { throw std::runtime_error("planned"); });
            try {
                const auto ns = static_cast<std::int64_t>((i * seed) % 200) * 50;
                while (!s.wait_for(id, braid::nanoseconds{ns})) {
                }
            } catch (const std::runtime_error&) {
                ++caught;
            }
        }
    };
    std::thread foreign([&] { waiter(7); });
    waiter(13);
    foreign.join();
    s.shut_down();
    EXPECT_EQ(caught + notes_.lost.size(), rounds / 2 * 2);
}

}  // namespace
