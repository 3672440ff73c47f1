// C1, I7: nothing allocates per task in steady state, neither through the hooks nor beside them.
#include "counted_news.hpp"
#include "quiet_rounds.hpp"

#include <array>
#include <memory>
#include <utility>

namespace {

class Allocation : public braid_test::allocation_test {
protected:
    template <class Round>
    void expect_steady_state(Round&& round) {
        const auto taken = [&] { return std::pair(memory_.calls.load(), braid_test::news.load()); };
        EXPECT_TRUE(braid_test::comes_to_stand_still(taken, round));
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Allocation, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Allocation, TheCounterSeesAnAllocation) {
    const std::uint64_t before = braid_test::news;
    const auto p = std::make_unique<int>(1);
    EXPECT_EQ(braid_test::news, before + 1) << *p;
}

TEST_P(Allocation, SpawnAndWaitOfASmallClosureAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> sum{0};
    expect_steady_state([&] {
        for (int i = 0; i < 50; ++i) {
            const std::array<std::uint64_t, 5> data{1, 2, 3, 4, 5};
            const auto body = [&sum, data] { sum += data[4]; };
            static_assert(sizeof body == 48);
            s.wait(s.spawn(body));
        }
    });
}

TEST_P(Allocation, PostAndScopeAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    braid::scope all(s);
    expect_steady_state([&] {
        for (int i = 0; i < 100; ++i) all.post([&sum] { ++sum; });
        all.wait();
    });
}

TEST_P(Allocation, EdgesJoinsAndParentsAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    expect_steady_state([&] {
        std::array<braid::task_id, 16> ids;
        for (auto& id : ids) id = s.spawn([&sum] { ++sum; });
        const braid::task_id join = s.spawn({.after_all = ids}, braid::empty);
        const braid::task_id parent = s.spawn({.after = {join}}, [&sum](braid::task_context& task) {
            for (int i = 0; i < 8; ++i) task.spawn_child([&sum] { ++sum; });
        });
        s.wait(s.spawn({.after_any = {parent}}, [&sum] { ++sum; }));
    });
}

TEST_P(Allocation, WaitsInsideTasksBatchesFuturesAndEventsAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    braid::event happened(s);
    expect_steady_state([&] {
        s.wait(s.spawn([&](braid::task_context& task) {
            const braid::task_id inner = task.spawn([&sum] { ++sum; });
            task.wait(inner);
        }));
        s.wait(s.spawn_batch({}, 32, [&sum](std::size_t) { ++sum; }));
        sum += s.async([] { return 1; }).then([](int i) { return i + 1; }).get();
        s.post([&happened] { happened.set(); });
        s.do_work_while_waiting_for(happened);
    });
}

}  // namespace
