// With a chooser every join is public, and a seed decides who runs its parts, when (I8).
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/fork_join.hpp>

#include <numeric>
#include <set>

namespace {

using braid::fork_context;

class JoinChooser : public braid_test::scheduler_test {
protected:
    struct record {
        std::vector<int> order;
        std::vector<std::uint64_t> decisions;
        friend bool operator==(const record&, const record&) = default;
    };

    /// Numbers in the order in which parts ran. Plain memory: one thread runs at a time.
    record run(std::uint64_t seed) {
        braid_test::seeded_chooser chooser(seed);
        record r;
        {
            braid::scheduler_options o = options();
            o.chooser = &chooser;
            braid::scheduler s(o);
            const auto note = [&r](int n) { return [&r, n] { r.order.push_back(n); }; };
            braid::event set(s);
            const auto task = s.spawn([&](braid::task_context& t) {
                braid::join(
                    t,
                    [&](fork_context c) {
                        braid::join(
                            c,
                            [&] {
                                s.do_work_while_waiting_for(set);
                                r.order.push_back(0);
                            },
                            [&] {
                                r.order.push_back(1);
                                set.set();
                            });
                    },
                    [&](fork_context c) { braid::join(c, note(2), note(3), note(4)); });
            });
            braid::fork_join(s, "outside", [&](fork_context c) {
                braid::parallel_for(
                    c, 4, [&](std::size_t i) { r.order.push_back(5 + static_cast<int>(i)); });
            });
            s.wait(task);
        }
        r.decisions = chooser.log();
        return r;
    }
};

INSTANTIATE_TEST_SUITE_P(Workers, JoinChooser, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(JoinChooser, TheSameSeedGivesTheSameRunAndOthersGiveOthers) {
    const record first = run(7);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(run(7), first) << "run " << i;
    std::set<std::vector<int>> orders;
    const std::uint64_t seeds = GetParam() > 8 ? 20 : 200;
    std::vector<int> all(9);
    std::iota(all.begin(), all.end(), 0);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::vector<int> order = run(seed).order;
        orders.insert(order);
        std::sort(order.begin(), order.end());
        ASSERT_EQ(order, all) << "seed " << seed;
    }
    EXPECT_GE(orders.size(), GetParam() > 0 ? 4U : 1U);
}

}  // namespace
