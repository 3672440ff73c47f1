// With a chooser it is decided whether a loop is shared, at each place where it could be.
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/fork_join.hpp>

#include <numeric>
#include <optional>
#include <set>
#include <thread>

namespace {

using braid::decision_kind;

/// Draws everything from a seed, but whether loops are shared if that is given.
class split_chooser final : public braid::chooser {
public:
    split_chooser(std::uint64_t seed, std::optional<std::size_t> answer)
        : others_(seed), answer_(answer) {}
    std::size_t choose(decision_kind kind, const braid::alternative* list,
                       std::size_t count) override {
        asked += kind == decision_kind::split;
        const bool own = kind == decision_kind::split && answer_;
        return own ? *answer_ : others_.choose(kind, list, count);
    }
    std::size_t asked = 0;

private:
    braid_test::seeded_chooser others_;
    const std::optional<std::size_t> answer_;
};

class LoopChooser : public braid_test::scheduler_test {
protected:
    struct outcome {
        std::size_t asked = 0;
        std::vector<std::size_t> order;
        std::set<std::thread::id> threads;
    };
    /// Plain memory: one thread runs at a time.
    outcome run(std::uint64_t seed, std::optional<std::size_t> answer) {
        split_chooser chooser(seed, answer);
        outcome o;
        {
            braid::scheduler_options made = options();
            made.chooser = &chooser;
            braid::scheduler s(made);
            s.wait(s.spawn([&](braid::task_context& task) {
                braid::parallel_for(task, 12, [&](std::size_t i) {
                    braid::this_task::point();
                    o.order.push_back(i);
                    o.threads.insert(std::this_thread::get_id());
                });
            }));
        }
        o.asked = chooser.asked;
        return o;
    }
    static constexpr std::uint64_t seeds = 20;
};
INSTANTIATE_TEST_SUITE_P(Workers, LoopChooser, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(LoopChooser, OneThreadRunsAllInOrderWhereNothingIsShared) {
    std::vector<std::size_t> in_order(12);
    std::iota(in_order.begin(), in_order.end(), 0);
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
        const outcome o = run(seed, 0);
        EXPECT_EQ(o.threads.size(), 1U);
        EXPECT_EQ(o.order, in_order);
        EXPECT_EQ(o.asked, 1U);
    }
}

TEST_P(LoopChooser, SharedLoopsAreRunByAnyThreadsInManyOrders) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody takes a half";
    std::set<std::vector<std::size_t>> orders;
    std::size_t most_threads = 0, most_asked = 0;
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
        const outcome o = run(seed, 1);
        orders.insert(o.order);
        most_threads = std::max(most_threads, o.threads.size());
        most_asked = std::max(most_asked, o.asked);
    }
    EXPECT_GT(most_asked, 1U) << "halves are shared, too";
    EXPECT_GT(most_threads, 1U);
    EXPECT_GT(orders.size(), 1U);
}

TEST_P(LoopChooser, ASeedDecidesHowFarALoopIsShared) {
    std::set<std::size_t> asked;
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
        const outcome first = run(seed, {}), again = run(seed, {});
        EXPECT_EQ(first.order, again.order);
        EXPECT_EQ(first.asked, again.asked);
        asked.insert(first.asked);
    }
    if (GetParam() != 0) {
        EXPECT_GT(asked.size(), 1U);
    }
}

}  // namespace
