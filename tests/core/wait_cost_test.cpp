// What a wait spends: a task at hand is run before the wait registers anywhere, and loses nothing
// by that.
#include "scheduler_test.hpp"

#include "core/control/runtime.hpp"
#include "core/slots/words.hpp"
#include "scale.hpp"

#include <functional>
#include <stdexcept>

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(WaitCost);

bool is_waited_for(braid::scheduler& s, braid::task_id id) {
    const braid::detail::slot& of = s.internals().slots.at(braid::detail::index_of(id.value));
    const auto word = of.successors.load(std::memory_order_relaxed);
    return (static_cast<std::uint32_t>(word) & braid::detail::waited_bit) != 0;
}

/// Shares of the task's open work: its own until its body has returned, and one for each child.
std::uint32_t open_work(braid::scheduler& s, braid::task_id id) {
    const braid::detail::slot& of = s.internals().slots.at(braid::detail::index_of(id.value));
    // acquire: pairs with the thread that drops a share; what it did before is seen.
    return braid::detail::index_of(of.open.load(std::memory_order_acquire));
}

TEST_P(WaitCost, TheNewestTaskOfTheThreadRunsBeforeItsWaitRegisters) {
    braid::scheduler s(options());
    const auto waiter = std::this_thread::get_id();
    int here = 0, registered = 0;
    for (int round = 0; round < 100; ++round) {
        s.wait(s.spawn({}, [&](braid::task_context& task) {
            // A thief may be quicker: then the wait has registered, or is about to.
            if (std::this_thread::get_id() != waiter) return;
            ++here;
            registered += is_waited_for(s, task.id());
        }));
    }
    EXPECT_EQ(registered, 0);
    if (GetParam() == 0) {
        EXPECT_EQ(here, 100);
    }
}

TEST_P(WaitCost, NestedWaitsOfOneThreadRegisterNowhere) {
    braid::scheduler_options o = options();
    o.workers = o.max_workers = 0;
    braid::scheduler s(o);
    int registered = 0, ran = 0;
    std::function<void(braid::task_context&, int)> nest = [&](braid::task_context& task, int left) {
        ++ran;
        if (left == 0) return;
        task.wait(
            task.spawn({}, [&nest, left](braid::task_context& child) { nest(child, left - 1); }));
        registered += is_waited_for(s, task.id());
    };
    s.wait(s.spawn({}, [&](braid::task_context& task) { nest(task, 500); }));
    EXPECT_EQ(ran, 501);
    EXPECT_EQ(registered, 0);
}

TEST_P(WaitCost, TheFailureOfATaskAtHandIsThrownByTheWait) {
    braid::scheduler s(options());
    const std::size_t rounds = scaled(500);
    std::size_t caught = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        try {
            s.wait(s.spawn([] { throw std::runtime_error("planned"); }));
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    s.shut_down();  // the thief is heard of after its task counts as complete
    // Where a thief is quicker still than the wait, it comes too late, as any wait may.
    EXPECT_EQ(caught + s.statistics().unobserved_exceptions, rounds);
    if (GetParam() == 0) {
        EXPECT_EQ(caught, rounds);
    }
}

TEST_P(WaitCost, AFailureBelowATaskAtHandIsThrownThoughItCompletesElsewhere) {
    if (GetParam() == 0) GTEST_SKIP() << "takes two threads";
    braid::scheduler s(options());
    const auto waiter = std::this_thread::get_id();
    int here = 0, caught = 0;
    std::atomic<int> too_late{0};
    for (int round = 0; round < 500; ++round) {
        std::atomic<bool> began{false}, at_hand{false};
        try {
            s.wait(s.spawn({}, [&](braid::task_context& task) {
                const braid::task_id id = task.id();
                at_hand = std::this_thread::get_id() == waiter;
                task.spawn_child([&, id] {
                    began = true;
                    // The task's own share is dropped: from here on this thread completes it.
                    braid_test::until([&] { return open_work(s, id) == 1; });
                    too_late += at_hand && !is_waited_for(s, id);
                    throw std::runtime_error("planned");
                });
                braid_test::until([&] { return began.load(); });
            }));
        } catch (const std::runtime_error&) {
            caught += at_hand;
        }
        here += at_hand;
    }
    EXPECT_EQ(caught, here);
    EXPECT_EQ(too_late, 0) << "a wait registered after the task could complete";
}

TEST_P(WaitCost, ATaskAtHandWhoseChildrenGoOnIsWaitedFor) {
    braid::scheduler s(options());
    for (int round = 0; round < 100; ++round) {
        std::atomic<int> ran{0};
        s.wait(s.spawn({}, [&](braid::task_context& task) {
            for (int i = 0; i < 20; ++i) task.spawn_child([&] { ++ran; });
        }));
        EXPECT_EQ(ran, 20);
    }
}

TEST_P(WaitCost, ACancelledTaskAtHandThrows) {
    braid::scheduler s(options());
    braid::scope all(s);
    const braid::task_id id = all.spawn({}, [] {});
    all.cancel();
    bool done = s.done(id);  // a worker may have run it before
    try {
        s.wait(id);
        done = true;
    } catch (const braid::task_cancelled&) {
        EXPECT_FALSE(done);
    }
    all.wait();
    if (GetParam() == 0) {
        EXPECT_FALSE(done);
    }
}

TEST_P(WaitCost, ATaskAtHandThatWaitsItselfIsAloneWithItsOwnWait) {
    // The inner wait ends first; what fails there must not be taken for the outer task's.
    braid::scheduler s(options());
    int inner = 0, outer = 0;
    for (int round = 0; round < 50; ++round) {
        try {
            s.wait(s.spawn([&] {
                try {
                    s.wait(s.spawn([] { throw std::logic_error("inner"); }));
                } catch (const std::logic_error&) {
                    ++inner;
                }
                throw std::runtime_error("outer");
            }));
        } catch (const std::runtime_error&) {
            ++outer;
        }
    }
    if (GetParam() != 0) return;  // a thief may have been quicker than a wait
    EXPECT_EQ(inner, 50);
    EXPECT_EQ(outer, 50);
}

}  // namespace
