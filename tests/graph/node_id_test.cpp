// A node whose body asks for its id may be waited for and have children; one that does not ends in
// a shorter way.
#include <braid/base/policy.hpp>
#include <braid/fork_join/join.hpp>
#include <braid/graph/graph.hpp>

#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <thread>

namespace {

using braid::task_context;
using braid::task_id;

BRAID_SCHEDULER_TEST(NodeId);

/// In each round a thread of the program waits for the node by the id that `give` finds in its
/// body.
template <class Give>
void wait_for_nodes(braid::scheduler& s, Give&& give) {
    std::atomic<std::uint64_t> id{0};
    int written = 0;  // plain: a thread that waited for the node sees it
    unsigned pause = 0;
    braid::graph g(s);
    g.add([&](task_context& task) {
        give(task, [&](task_id own) { id.store(own.value, std::memory_order_release); });
        ++written;
        // The waiter comes before the end, at the end, and after it.
        pause = pause * 5 + 1;
        for (unsigned i = 0; i < pause % 512; ++i) braid::active_policy::relax();
    });
    const int rounds = static_cast<int>(braid_test::scaled(3000));
    std::atomic<int> round{0};
    std::thread waiter([&] {
        for (int n = 1; n <= rounds; ++n) {
            std::uint64_t seen = 0;
            for (unsigned looks = 1; (seen = id.load(std::memory_order_acquire)) == 0; ++looks) {
                looks % 1024 != 0 ? braid::active_policy::relax() : std::this_thread::yield();
            }
            s.wait({seen});
            EXPECT_EQ(written, n);
            id.store(0, std::memory_order_relaxed);
            round.store(n, std::memory_order_release);
        }
    });
    for (int n = 1; n <= rounds; ++n) {
        g.run_and_wait();
        while (round.load(std::memory_order_acquire) != n) std::this_thread::yield();
    }
    waiter.join();
}

TEST_P(NodeId, OfTheContextCanBeWaitedFor) {
    braid::scheduler s(options());
    wait_for_nodes(s, [](task_context& task, auto&& report) { report(task.id()); });
}

TEST_P(NodeId, OfTheRunningTaskCanBeWaitedFor) {
    braid::scheduler s(options());
    wait_for_nodes(s, [](task_context&, auto&& report) { report(braid::this_task::id()); });
}

TEST_P(NodeId, AskedForByAPartThatAnotherThreadRunsCanBeWaitedFor) {
    braid::scheduler s(options());
    wait_for_nodes(s, [](task_context& task, auto&& report) {
        std::atomic<bool> begun{false};
        const auto ask = [&] {
            begun = true;
            report(braid::this_task::id());
        };
        // The first part gives others time to take the second one. They take the one offered first,
        // so what they do then is short.
        const auto hold = [&] {
            for (int i = 0; i < 3000 && !begun; ++i) braid::active_policy::relax();
        };
        braid::join(task, hold, ask);
        EXPECT_TRUE(braid::detail::current_task()->context.internals().id_taken);
    });
}

TEST_P(NodeId, ANodeWithChildrenIsOverAfterThem) {
    braid::scheduler s(options());
    braid::graph g(s);
    int children = 0, early = 0;
    const auto parent = g.add([&](task_context& task) {
        task.spawn_child([&](task_context& child) { child.spawn_child([&] { ++children; }); });
    });
    const auto after = g.add([&] { early += children % 2 != 1; });
    const auto last = g.add([&](task_context& task) {
        task.wait(task.spawn_child([&] { ++children; }));  // over before the node's own work
    });
    g.precede(parent, after);
    g.precede(after, last);
    for (int run = 0; run < 200; ++run) g.run_and_wait();
    EXPECT_EQ(children, 400);
    EXPECT_EQ(early, 0);
}

}  // namespace
