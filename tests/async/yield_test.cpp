// A1: a coroutine that gives way, be it again and again, keeps nothing else from running.
#include "co_fixture.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace {

using braid::co;
using braid::task_id;

BRAID_COROUTINE_TEST(Yield);

TEST_P(Yield, LetsReadyTasksGoFirst) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    std::vector<int> order;
    const auto yields = [&]() -> co<> {
        task_id last;
        for (int i = 0; i < 3; ++i) last = s.spawn([&, i] { order.push_back(i); });
        co_await braid::yield();
        order.push_back(100);
    };
    braid::co_spawn(s, {}, yields()).get();
    s.shut_down();
    EXPECT_EQ(order.size(), 4U);
    EXPECT_EQ(pauses_.suspended, 1U);
}

/// Yields until `stop`; how often it was resumed after `from` was set.
co<int> keeps_yielding(const std::atomic<bool>& stop, const std::atomic<bool>& from) {
    int resumed = 0;
    while (!stop) {
        resumed += from;
        co_await braid::yield();
    }
    co_return resumed;
}

TEST_P(Yield, ForEverKeepsNoReadyTaskFromRunning) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    std::atomic<bool> stop{false};
    std::atomic<int> ran{0};
    braid::scheduler s(options());
    std::vector<braid::future<int>> yielders;
    for (int i = 0; i < GetParam(); ++i) {
        yielders.push_back(braid::co_spawn(s, {}, keeps_yielding(stop, stop)));
    }
    for (int round = 1; round <= 50; ++round) {
        for (int i = 0; i < 10; ++i) s.post([&ran] { ++ran; });
        std::thread foreign([&] { s.post([&ran] { ++ran; }); });
        s.post([&] { s.post([&ran] { ++ran; }); });
        s.spawn({.priority = braid::priority_level::high}, [&ran] { ++ran; });
        braid_test::until([&] { return ran == 13 * round; });  // does not help
        foreign.join();
    }
    stop = true;
    for (auto& one : yielders) one.get();
}

TEST_P(Yield, AYielderIsResumedAtMost64TimesBeforeTheOldestTaskOfARingBegins) {
    // All on one worker, so that nothing but turns decides.
    if (GetParam() != 1) GTEST_SKIP() << "needs one worker";
    braid::scheduler s(options());
    for (int round = 0; round < 50; ++round) {
        std::atomic<bool> stop{false}, posted{false};
        auto first = braid::co_spawn(s, {}, keeps_yielding(stop, posted));
        auto second = braid::co_spawn(s, {}, keeps_yielding(stop, posted));
        s.post([&stop] { stop = true; });
        posted = true;
        braid_test::until([&] { return stop.load(); });
        EXPECT_LE(first.get(), 64);
        EXPECT_LE(second.get(), 64);
    }
}

/// Calls `test` with a scheduler that has many threads that can stand in, one, and none.
template <class Test>
void with_each_reserve(braid::scheduler_options o, Test&& test) {
    for (const int reserves : {256, 1, 0}) {
        SCOPED_TRACE(reserves);
        o.max_reserves = reserves;
        braid::scheduler s(o);
        test(s);
    }
}

/// What a thread that only waits comes to, beside tasks that it needs and that always give way.
TEST_P(Yield, ForEverInWhatAThreadWaitsForKeepsNothingElseFromRunning) {
    with_each_reserve(options(), [](braid::scheduler& s) {
        std::atomic<bool> stop{false};
        const auto begin = [&] { return braid::co_spawn(s, {}, keeps_yielding(stop, stop)); };
        for (int round = 0; round < 20; ++round) {
            stop = false;
            // The wait does not need it; it comes from this thread and from one outside.
            auto one = begin();
            s.post([&] { s.post([&stop] { stop = true; }); });
            one.get();
            stop = false;
            auto other = begin();
            std::thread foreign([&] { s.post([&stop] { stop = true; }); });
            other.get();
            foreign.join();
            // In a task, with tasks below it on the stack.
            stop = false;
            s.wait(s.spawn([&] {
                auto inner = begin();
                s.post([&stop] { stop = true; });
                inner.get();
            }));
            // In the same scope, behind a thread's own.
            stop = false;
            braid::scope all(s);
            for (int i = 0; i < 3; ++i) {
                braid::co_spawn(s, {.within = &all}, keeps_yielding(stop, stop));
            }
            all.post([&] { all.post([&stop] { stop = true; }); });
            all.wait();
        }
    });
}

/// Each of these polls in its own way for what a posted task is to set.
TEST_P(Yield, ForEverKeepsNothingElseFromRunningWhateverElseTheCoroutineDoes) {
    with_each_reserve(options(), [](braid::scheduler& s) {
        std::atomic<bool> stop{false};
        const auto waits = [&]() -> co<> {
            while (!stop) {
                s.wait(s.spawn([] {}));
                co_await braid::yield();
            }
        };
        const auto ends_tasks = [&]() -> co<> {
            while (!stop) {
                co_await s.spawn([] {});
                co_await braid::yield();
            }
        };
        const auto begin = [&](int how) {
            stop = false;
            return how == 0 ? braid::co_spawn(s, {}, waits())
                            : braid::co_spawn(s, {}, ends_tasks());
        };
        for (int how = 0; how < 2; ++how) {
            auto one = begin(how);
            s.post([&stop] { stop = true; });
            one.get();
            auto in_task = s.spawn([&] {
                auto inner = begin(how);
                s.post([&stop] { stop = true; });
                inner.get();
            });
            s.wait(in_task);
            auto in_time = begin(how);
            s.post([&stop] { stop = true; });
            while (!s.wait_for(in_time.id(), braid::microseconds(20))) {
            }
        }
    });
}

/// What ends them is needed, too, and lies in the ring of a thread that does nothing for it.
TEST_P(Yield, ForEverInAScopeKeepsNothingOfTheScopeFromRunningWhereverItLies) {
    if (GetParam() != 1) GTEST_SKIP() << "needs one worker";
    with_each_reserve(options(), [](braid::scheduler& s) {
        std::atomic<bool> stop{false}, waits{false};
        braid::scope all(s);
        const task_id waiter = s.spawn([&] {
            for (int i = 0; i < 3; ++i) {
                braid::co_spawn(s, {.within = &all}, keeps_yielding(stop, stop));
            }
            waits = true;
            all.wait();
        });
        braid_test::until([&] { return waits.load(); });
        all.post([&stop] { stop = true; });
        braid_test::until([&] { return stop.load(); });
        s.wait(waiter);
    });
}

/// The only thread at work waits for something else, and runs a coroutine that comes back to its
/// own ring, so it must also look at the ring of a thread that is away.
TEST_P(Yield, ForEverInTheRingOfTheOnlyThreadKeepsNothingInAnotherRingFromRunning) {
    if (GetParam() != 0) GTEST_SKIP() << "with workers another thread would run it";
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    braid::scheduler s(o);
    for (const braid::nanoseconds each : {braid::no_limit, braid::microseconds(20)}) {
        std::atomic<bool> stop{false};
        braid::event ended(s);
        braid_test::door posted, may_leave;
        std::thread other([&] {
            const braid::main_thread registered(s, "other");
            s.post([&stop] { stop = true; });
            posted.open();
            may_leave.pass();
        });
        posted.pass();
        const auto polls = [&]() -> co<> {
            while (!stop) co_await braid::yield();
            ended.set();
        };
        auto one = braid::co_spawn(s, {}, polls());
        while (!s.do_work_while_waiting_for(ended, each)) {
        }
        may_leave.open();
        other.join();
        one.get();
    }
}

/// What the wait needs lies behind more tasks than a wait looks at, each time that it gives way.
TEST_P(Yield, ForEverBehindManyTasksKeepsNoneOfThemFromRunning) {
    braid::scheduler_options o = options();
    o.ring = 2;
    with_each_reserve(o, [](braid::scheduler& s) {
        std::atomic<bool> stop{false};
        auto one = braid::co_spawn(s, {}, keeps_yielding(stop, stop));
        for (int i = 0; i < 100; ++i) s.post([] {});
        s.post([&stop] { stop = true; });
        for (int i = 0; i < 100; ++i) s.post([] {});
        one.get();
    });
}

/// What the wait needs lies as deep, and gives way only once: the wait buries nothing for that.
TEST_P(Yield, OnceBehindManyTasksMakesAWaitRunNothingThatItDoesNotNeed) {
    if (GetParam() != 0) GTEST_SKIP() << "with workers another thread would run it";
    braid::scheduler_options o = options();
    o.ring = 2;
    o.max_reserves = 0;
    braid::scheduler s(o);
    braid::event set_after_the_wait(s, braid::reset::manual);
    braid::scope others(s);
    const auto post_some = [&] {
        for (int i = 0; i < 100; ++i) {
            others.post([&] { s.do_work_while_waiting_for(set_after_the_wait); });
        }
    };
    post_some();
    const auto yields = []() -> co<> { co_await braid::yield(); };
    auto one = braid::co_spawn(s, {}, yields());
    post_some();
    one.get();
    set_after_the_wait.set();
    others.wait();
}

/// All threads are in such waits at once, and those that stand in, too, if they are few.
TEST_P(Yield, ForEverInTheWaitOfEachThreadEndsWhatWasPosted) {
    const auto threads = static_cast<std::size_t>(std::max(1, GetParam()));
    with_each_reserve(options(), [threads](braid::scheduler& s) {
        for (int round = 0; round < 5; ++round) {
            std::vector<std::atomic<bool>> stops(threads + 2);
            std::atomic<std::size_t> begun{0};
            braid::scope all(s);
            for (auto& stop : stops) {
                all.post([&] {
                    auto one = braid::co_spawn(s, {}, keeps_yielding(stop, stop));
                    // What would end it lies behind until each thread has begun such a wait.
                    ++begun;
                    braid_test::until([&] { return begun >= threads; });
                    s.post([&stop] { stop = true; });
                    one.get();
                });
            }
            all.wait();
        }
    });
}

/// With others at work it runs nothing on top that may bury what it waits for.
TEST_P(Yield, AWaitRunsNothingElseWhileAnotherThreadIsAtWork) {
    if (GetParam() != 1) GTEST_SKIP() << "needs one worker";
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    braid::scheduler s(o);
    std::atomic<bool> stop{false}, begun{false};
    std::atomic<int> resumed{0};
    braid::event late(s, braid::reset::manual);
    s.post([&] {
        begun = true;
        braid_test::until([&] { return resumed > 1'000; });
        stop = true;
    });
    braid_test::until([&] { return begun.load(); });
    const task_id waits = s.spawn([&] { s.do_work_while_waiting_for(late); });
    const auto counts = [&]() -> co<> {
        while (!stop) {
            ++resumed;
            co_await braid::yield();
        }
    };
    braid::co_spawn(s, {}, counts()).get();
    late.set();  // nobody else does
    s.wait(waits);
}

/// A chooser decides who goes on.
TEST_P(Yield, ForEverUnderAChooserKeepsNothingElseFromRunning) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        o.max_reserves = seed % 2 == 0 ? 0 : 256;
        braid::scheduler s(o);
        std::atomic<bool> stop{false};
        auto one = braid::co_spawn(s, {}, keeps_yielding(stop, stop));
        s.post([&stop] { stop = true; });
        one.get();
        EXPECT_EQ(chooser.standstills(), 0);
    }
}

TEST_P(Yield, ForEverOnOneThreadKeepsNothingElseFromRunningThere) {
    with_each_reserve(options(), [](braid::scheduler& s) {
        std::atomic<bool> stop{false};
        // It is ready there before what is to end it comes, which is no work of that thread alone.
        const auto stays = [&](braid::thread_ref here, braid::event& over) -> co<> {
            co_await braid::resume_on(here);
            co_await braid::yield();
            s.post([&stop, &over] {
                stop = true;
                over.set();
            });
            while (!stop) co_await braid::yield();
        };
        for (int round = 0; round < 20; ++round) {
            stop = false;
            braid::event first(s, braid::reset::manual), second(s, braid::reset::manual);
            braid::co_spawn(s, {}, stays(s.this_thread(), first)).get();
            s.work_until(first);  // it may be in set()
            stop = false;
            auto other = braid::co_spawn(s, {}, stays(s.this_thread(), second));
            s.work_until(second);
            other.get();
        }
    });
}

}  // namespace
