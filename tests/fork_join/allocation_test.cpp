// Joins and algorithms allocate nothing in steady state, neither through the hooks nor beside them.
#include "counted_news.hpp"
#include "quiet_rounds.hpp"

#include <braid/fork_join.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace {

class ForkAllocation : public braid_test::allocation_test {
protected:
    /// What was allocated by way of the hooks, and all of it, but for so many by the hooks.
    auto allocated(std::uint64_t but_for = 0) const {
        return std::pair(memory_.calls - but_for, braid_test::news - but_for);
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, ForkAllocation, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(ForkAllocation, ScratchAndListsAreUsedAgainFrameAfterFrame) {
    braid::scheduler s(options());
    braid::gathered<std::uint32_t> list(s);
    braid::per_worker<std::vector<std::uint32_t>> rows(s);
    const auto frame = [&] {
        braid::parallel_for(s, 1000, rows, [](std::size_t i, auto& row) {
            row.assign(100, static_cast<std::uint32_t>(i));
        });
        braid::gather(s, 4000, list, [](std::size_t i, auto& out) {
            for (std::size_t k = 0; k < i % 4; ++k) out.push_back(static_cast<std::uint32_t>(i));
        });
        EXPECT_EQ(list.size(), 6000U);
    };
    EXPECT_TRUE(braid_test::comes_to_stand_still([&] { return allocated(); }, frame));
}

TEST_P(ForkAllocation, OnOneThreadTheSecondFrameAllocatesNothing) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    braid::gathered<std::string> list(s);
    braid::per_worker<std::vector<std::uint32_t>> rows(s);
    std::uint64_t before = 0;
    for (int frame = 0; frame < 2; ++frame) {
        before = memory_.calls + braid_test::news;
        braid::parallel_for(s, 100, rows, [](std::size_t, auto& row) { row.assign(100, 1); });
        braid::gather(s, 4000, list, [](std::size_t, auto& out) { out.emplace_back("short"); });
    }
    EXPECT_EQ(memory_.calls + braid_test::news, before);
}

TEST_P(ForkAllocation, APipelineAllocatesItsTokensAndNothingForItsItems) {
    braid::scheduler s(options());
    std::uint64_t sum = 0;
    std::uint64_t runs = 0;
    const auto run = [&](std::size_t n) {
        ++runs;
        braid::pipeline(
            s, {.tokens = 8},
            braid::serial([i = std::size_t{0}, n]() mutable -> std::optional<std::size_t> {
                return i < n ? std::optional(i++) : std::nullopt;
            }),
            braid::parallel([](std::size_t i) { return std::array<std::size_t, 20>{i}; }),
            braid::serial([&](const std::array<std::size_t, 20>& a) { sum += a[0]; }));
    };
    // Runs that take their tokens' memory and no more. The hook takes it by operator new.
    EXPECT_TRUE(
        braid_test::comes_to_stand_still([&] { return allocated(runs); }, [&] { run(2000); }));
}

}  // namespace
