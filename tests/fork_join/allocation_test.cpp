// Joins and algorithms allocate nothing in steady state, neither through the hooks nor beside them.
#include "counted_news.hpp"

#include <braid/fork_join.hpp>

namespace {

class ForkAllocation : public braid_test::allocation_test {};
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
    expect_steady_state(frame);
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

}  // namespace
