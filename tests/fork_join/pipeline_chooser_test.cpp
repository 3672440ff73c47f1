// With a chooser a seed decides at each call of a stage who goes on: order, exceptions and what is
// left are right for every seed, and a seed says it all (I8).
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/fork_join.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace {

using braid::parallel;
using braid::serial;

class PipelineChooser : public braid_test::scheduler_test {
protected:
    struct record {
        std::vector<int> calls, out;  // of the parallel stage, of the last
        int failed = -1;
        std::vector<std::uint64_t> decisions;
        friend bool operator==(const record&, const record&) = default;
    };

    /// Plain memory: one thread runs at a time. `bad` throws in the parallel stage, with all after.
    record run(std::uint64_t seed, int bad) {
        braid_test::seeded_chooser chooser(seed);
        record r;
        {
            braid::scheduler_options o = options();
            o.chooser = &chooser;
            braid::scheduler s(o);
            // A point at which the chooser lets others go on, in the middle of a stage.
            const auto pause = [&s] { s.wait(s.spawn([] {})); };
            try {
                braid::pipeline(s, {.tokens = 3}, serial([i = 0]() mutable -> std::optional<int> {
                                    return i < 8 ? std::optional(i++) : std::nullopt;
                                }),
                                parallel([&](int i) {
                                    pause();
                                    r.calls.push_back(i);
                                    if (i >= bad) throw std::runtime_error(std::to_string(i));
                                    return i;
                                }),
                                serial([&](int i) {
                                    pause();
                                    r.out.push_back(i);
                                }));
            } catch (const std::runtime_error& e) {
                r.failed = std::stoi(e.what());
            }
        }
        r.decisions = chooser.log();
        return r;
    }
};

INSTANTIATE_TEST_SUITE_P(Workers, PipelineChooser, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(PipelineChooser, EverySeedKeepsTheOrderAndTheFirstFailure) {
    const record first = run(7, 8);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(run(7, 8), first) << "run " << i;
    std::set<std::vector<int>> orders;
    const std::uint64_t seeds = GetParam() > 8 ? 20 : 200;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const int bad = static_cast<int>(seed % 9);
        const record r = run(seed, bad);
        std::vector<int> expected;
        for (int i = 0; i < bad; ++i) expected.push_back(i);
        ASSERT_EQ(r.out, expected) << "seed " << seed;
        ASSERT_EQ(r.failed, bad < 8 ? bad : -1) << "seed " << seed;
        if (bad == 8) orders.insert(r.calls);
    }
    EXPECT_GE(orders.size(), GetParam() != 0 ? 2U : 1U) << "nothing ever overtook anything";
}

}  // namespace
