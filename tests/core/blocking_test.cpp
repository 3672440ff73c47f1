// C37: a call that blocks gives its seat to somebody else; a long task lets important work pass.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <stdexcept>

namespace {

using braid_test::door;

BRAID_SCHEDULER_TEST(Blocking);

TEST_P(Blocking, OtherTasksRunWhileEveryThreadBlocks) {
    braid::scheduler s(options());
    door go;
    std::atomic<int> inside{0};
    const int threads = GetParam() + 1;
    braid::scope blocked(s);
    for (int i = 0; i < threads; ++i) {
        blocked.post([&] {
            s.blocking([&] {
                ++inside;
                go.pass();
            });
        });
    }
    // What opens the door is a task too, queued behind all that block.
    blocked.post([&] {
        s.blocking([&] { braid_test::until([&] { return inside == threads; }); });
        go.open();
    });
    blocked.wait();
    EXPECT_EQ(inside, threads);
}

TEST_P(Blocking, ReturnsWhatTheCallReturnsAndPassesItsException) {
    braid::scheduler s(options());
    int value = 0;
    bool caught = false;
    s.wait(s.spawn([&] {
        value = s.blocking([] { return 42; });
        try {
            s.blocking([] { throw std::runtime_error("closed"); });
        } catch (const std::runtime_error&) {
            caught = true;
        }
    }));
    EXPECT_EQ(value, 42);
    EXPECT_TRUE(caught);
}

TEST_P(Blocking, MayContainAWaitAndAnotherBlockingCall) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 50; ++i) {
        all.post([&](braid::task_context& task) {
            s.blocking([&] {
                task.wait(task.spawn([&] { ++ran; }));
                s.blocking([&] { ++ran; });
                task.wait(task.spawn([&] { ++ran; }));
            });
            task.wait(task.spawn([&] { ++ran; }));
        });
    }
    all.wait();
    EXPECT_EQ(ran, 200);
    EXPECT_EQ(s.internals().released_permits(), 0U) << "every permit was acquired again, once";
}

TEST_P(Blocking, OutsideTheSchedulerItJustCalls) {
    braid::scheduler s(options());
    int value = 0;
    std::thread([&] { value = s.blocking([] { return 3; }); }).join();
    EXPECT_EQ(value, 3);
}

class OneWorker : public braid_test::scheduler_test {};
INSTANTIATE_TEST_SUITE_P(Yield, OneWorker, testing::Values(1));

TEST_P(OneWorker, ALongTaskLetsHigherOnesPassAndOnlyThose) {
    braid::scheduler s(options());
    std::vector<std::string> order;  // one worker: no lock
    door started, go;
    braid::scope all(s);
    all.spawn({.name = "long"}, [&](braid::task_context& task) {
        started.open();
        go.pass();
        EXPECT_TRUE(task.yield_to_higher());
        EXPECT_TRUE(task.yield_to_higher());
        EXPECT_FALSE(task.yield_to_higher());
        order.push_back("long");
    });
    started.pass();
    all.spawn({.priority = braid::priority_level::low}, [&] { order.push_back("low"); });
    all.spawn({}, [&] { order.push_back("equal"); });
    all.spawn({.priority = braid::priority_level::high}, [&] { order.push_back("high"); });
    all.spawn({.priority = braid::priority_level::high, .on = s.worker_thread(0)},
              [&] { order.push_back("high here"); });
    go.open();
    braid_test::until([&] { return all.account().executed == 5; });
    all.wait();
    const std::vector<std::string> either[] = {{"high", "high here", "long", "equal", "low"},
                                               {"high here", "high", "long", "equal", "low"}};
    EXPECT_TRUE(order == either[0] || order == either[1]) << testing::PrintToString(order);
}

TEST_P(Blocking, IsOverForTheOthersWhenTheCallReturns) {
    // A thread in such a call counts as one that runs nothing, and lets waits without a reserve
    // run what they do not need.
    for (const int reserves : {0, 4}) {
        braid::scheduler_options o = options();
        o.max_reserves = reserves;
        braid::scheduler s(o);
        const auto& own = s.internals().seat_at(s.this_thread().seat);
        s.blocking([&] {
            EXPECT_TRUE(own.blocks.load());
            s.blocking([] {});
            if (reserves != 0) {
                EXPECT_TRUE(own.blocks.load()) << "after the inner one";
            }
        });
        EXPECT_FALSE(own.blocks.load()) << reserves << " reserves";
    }
}

}  // namespace
