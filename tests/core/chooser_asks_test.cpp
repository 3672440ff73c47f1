// What a chooser is asked about, by choosers that are made for one question each.
#include "braid/core/decision.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

namespace {

using braid::decision_kind;
using braid::task_id;
using braid_test::seeded_chooser;

class ChooserAsks : public braid_test::scheduler_test {
protected:
    braid::scheduler_options options_with(braid::chooser& chooser) {
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        return o;
    }
};

INSTANTIATE_TEST_SUITE_P(Workers, ChooserAsks, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

/// Always the last alternative; the running thread goes on as long as it can.
struct last_chooser final : braid::chooser {
    std::size_t most = 0, asked = 0;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t count) override {
        if (kind == decision_kind::preempt) return 0;
        if (kind == decision_kind::next_task) {
            most = std::max(most, count);
            ++asked;
        }
        return count - 1;
    }
};

TEST_P(ChooserAsks, AboutReadyTasksOfAllLevels) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    std::vector<int> order;
    braid::scope all(s);
    using enum braid::priority_level;
    int n = 0;
    for (const braid::priority_level level : {high, normal, low}) {
        all.spawn({.priority = level}, [&order, n] { order.push_back(n); });
        ++n;
    }
    all.wait();
    EXPECT_EQ(chooser.most, 3U);
    EXPECT_EQ(order, (std::vector{2, 1, 0})) << "the low one first, as it was chosen";
}

TEST_P(ChooserAsks, AboutTasksForOneThreadBesideThoseForAll) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    int ran = 0;
    braid::scope all(s);
    for (int i = 0; i < 3; ++i) {
        all.spawn({.on = s.this_thread()}, [&ran] { ++ran; });
        all.spawn({.priority = braid::priority_level::low}, [&ran] { ++ran; });
    }
    all.wait();
    EXPECT_EQ(ran, 6);
    EXPECT_EQ(chooser.most, 6U);
}

TEST_P(ChooserAsks, AboutTenThousandReadyTasksInLessThanASecond) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    const std::size_t count = braid_test::scaled(10'000);
    std::vector<std::size_t> order;
    order.reserve(count);
    braid::scope all(s);
    for (std::size_t i = 0; i < count; ++i) {
        all.post([&order, i] { order.push_back(i); });
    }
    const auto began = std::chrono::steady_clock::now();
    all.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_EQ(chooser.most, count) << "all of them are offered";
    EXPECT_EQ(chooser.asked, count - 1);
    ASSERT_EQ(order.size(), count);
    EXPECT_TRUE(std::is_sorted(order.rbegin(), order.rend())) << "each as it was chosen";
    if (braid_test::sanitized || braid_test::emulated) return;
    EXPECT_LT(took.count(), 1.0);
}

}  // namespace
