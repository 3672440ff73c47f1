// C4: many bodies in one submission.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string_view>

namespace {

BRAID_SCHEDULER_TEST(Batch);

TEST_P(Batch, RunsEveryIndexExactlyOnce) {
    braid::scheduler s(options());
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{5000}}) {
        std::vector<std::atomic<int>> runs(count);
        s.wait(s.spawn_batch({}, count, [&runs](std::size_t i) { ++runs[i]; }));
        EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
    }
}

TEST_P(Batch, OfNothingIsDoneAndReleasesItsSuccessors) {
    // L3: an empty batch slept for ever.
    braid::scheduler s(options());
    const auto none = s.spawn_batch({}, 0, [](std::size_t) { FAIL(); });
    bool after = false;
    s.wait(s.spawn({.after = {none}}, [&after] { after = true; }));
    EXPECT_TRUE(after);
}

TEST_P(Batch, BeyondTheRingLosesNothing) {
    // L6, L8: caps that nobody checked.
    braid::scheduler_options o = options();
    o.ring = 4;
    braid::scheduler s(o);
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 1000, [&ran](std::size_t) { ++ran; }));
    EXPECT_EQ(ran, 1000);
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Batch, TheCallableIsCopiedOnceAndDestroyedBeforeCompletionIsVisible) {
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        auto owned = std::make_shared<int>(0);
        const std::weak_ptr<int> seen = owned;
        std::atomic<long> most{0};
        s.wait(s.spawn_batch({}, 100, [owned = std::move(owned), &most](std::size_t) {
            if (owned.use_count() > most) most = owned.use_count();
        }));
        ASSERT_TRUE(seen.expired());
        ASSERT_EQ(most, 1);
    }
}

TEST_P(Batch, AThreadLeftRunsEveryBodyThatLiesBehindStuckOnes) {
    braid::scheduler s(options());
    // One stuck body a worker: the waiting thread, or another that is left, runs all others.
    const std::size_t stuck = std::min<std::size_t>(s.worker_count(), 8);
    std::minstd_rand random(1);
    for (std::size_t round = 0; round < braid_test::scaled(400); ++round) {
        const std::size_t count = stuck + 1 + random() % (round % 2 == 0 ? 8 : 100);
        std::vector<char> is_stuck(count, 0);
        std::fill_n(is_stuck.begin(), stuck, 1);
        std::shuffle(is_stuck.begin(), is_stuck.end(), random);
        std::atomic<std::size_t> ran{0};
        s.wait(s.spawn_batch({}, count, [&](std::size_t i) {
            while (is_stuck[i] != 0 && ran < count - stuck) std::this_thread::yield();
            ran += 1 - static_cast<std::size_t>(is_stuck[i]);
        }));
        ASSERT_EQ(ran, count - stuck);
    }
}

TEST_P(Batch, CostsOneWakeDecision) {
    // L10: one wake for each body. That is decided for each entry that comes into a queue, and all
    // bodies are one entry there.
    braid::scheduler s(options());
    braid::detail::runtime& rt = s.internals();
    std::atomic<std::size_t> ran{0}, most{0};
    s.wait(s.spawn_batch({}, 1000, [&](std::size_t) {
        std::size_t entries = 0;
        const auto count = [&](std::uint64_t) {
            ++entries;
            return false;
        };
        rt.take_if(*rt.bound(), count, SIZE_MAX, braid::detail::look_first::own_oldest);
        std::size_t before = most;
        while (before < entries && !most.compare_exchange_weak(before, entries)) {
        }
        ++ran;
    }));
    EXPECT_EQ(ran, 1000U);
    // Each thread that takes part leaves one for the next; another one counts twice if it is taken
    // elsewhere while this thread counts.
    EXPECT_LE(most, 8 + 4 * static_cast<std::size_t>(GetParam()));
}

TEST_P(Batch, RethrowsTheFailureOfTheLowestIndexAndReportsTheOthers) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    struct seventh : std::exception {};  // told apart by type, see failure_test.cpp
    struct later : std::exception {};
    const auto batch = s.spawn_batch({.after = {gate.id()}}, 100, [](std::size_t i) {
        if (i == 7) throw seventh{};
        if (i % 10 == 7) throw later{};
    });
    bool was_there = false;
    std::thread opener([&] { gate.finish(); });
    try {
        s.wait(batch);
    } catch (const seventh&) {
        was_there = true;
    }
    opener.join();
    s.shut_down();
    // A wait that begins after the batch is complete only hears "done"; the handler has all ten
    // then.
    EXPECT_EQ(notes_.lost.size(), was_there ? 9U : 10U);
}

TEST_P(Batch, AThrowingMemberDoesNotStopItsSiblings) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    const auto batch = s.spawn_batch({}, 50, [&ran](std::size_t i) {
        ++ran;
        if (i == 0) throw std::runtime_error("planned");
    });
    try {
        s.wait(batch);
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(ran, 50);
}

TEST_P(Batch, OfABatchOfABatchCompletesFromTheInside) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 8, [&](std::size_t) {
        s.wait(s.spawn_batch({}, 8, [&](std::size_t) {
            s.wait(s.spawn_batch({}, 8, [&ran](std::size_t) { ++ran; }));
        }));
    }));
    EXPECT_EQ(ran, 512);
}

TEST_P(Batch, HighTasksAndTasksForTheThreadRunBetweenTwoOfItsBodies) {
    // A thread in the middle of a batch does what it would do between two tasks.
    braid::scheduler s(options());
    std::vector<std::size_t> bodies(s.seat_count());  // by seat: each thread its own
    std::atomic<int> ran{0}, high{0}, mine{0}, late{0};
    const auto batch = s.spawn_batch({}, 2000, [&](std::size_t) {
        const std::uint16_t seat = s.this_thread().seat;
        const std::size_t before = ++bodies[seat];
        const int number = ++ran;
        if (number == 10) {
            s.spawn({.priority = braid::priority_level::high}, [&, seat, before] {
                late += s.this_thread().seat == seat && bodies[seat] != before;
                ++high;
            });
        }
        if (number == 20) {  // apart, or each would do the other's work
            s.spawn({.on = s.this_thread()}, [&, seat, before] {
                late += bodies[seat] != before;
                ++mine;
            });
        }
    });
    braid::event done(s);
    s.spawn({.after = {batch}}, [&] { done.set(); });
    s.work_until(done);
    s.shut_down();
    EXPECT_EQ(high, 1);
    EXPECT_EQ(mine, 1);
    EXPECT_EQ(late, 0);
}

TEST_P(Batch, AWaitThatIsOverReturnsBetweenTwoOfItsBodies) {
    braid::scheduler s(options());
    braid::event stop(s);
    const auto here = std::this_thread::get_id();
    std::atomic<std::size_t> ran{0};
    std::size_t here_since = 0;  // bodies that this thread began after the event was set
    const auto batch = s.spawn_batch({}, 1000, [&](std::size_t) {
        const bool is_here = std::this_thread::get_id() == here;
        if (is_here && stop.is_set()) ++here_since;
        // By this thread, so that it is known when the body returns; or by the thread that is last.
        if (++ran == 1000 || is_here) stop.set();
    });
    s.work_until(stop);
    EXPECT_EQ(here_since, 0U);
    s.wait(batch);
    EXPECT_EQ(ran, 1000U);
}

TEST_P(Batch, ThatIsLeftAfterEachBodyTakesNoMoreSlotsThanOneThatIsNot) {
    // A wait with a deadline looks at the clock after each body. A ticket below the last for each
    // return made a chain as long as the batch, and its search took the square of that.
    braid::scheduler s(options());
    std::atomic<std::size_t> ran{0};
    const auto run = [&](std::size_t count) {
        ASSERT_TRUE(s.wait_for(s.spawn_batch({}, count, [&](std::size_t) { ++ran; }),
                               braid::milliseconds(60'000)));
    };
    run(100);
    const std::size_t before = s.bytes(braid::memory_tag::slot);
    run(4000);
    EXPECT_EQ(ran, 4100U);
    EXPECT_LE(s.bytes(braid::memory_tag::slot), 2 * before);
}

TEST_P(Batch, BodiesSeeTheBatchAsTheirTask) {
    braid::scheduler s(options());
    std::atomic<int> children{0}, wrong{0};
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<std::uint64_t> own{0};
    const auto batch = s.spawn_batch({.name = "all", .after = {gate.id()}}, 50, [&](std::size_t) {
        wrong += braid::this_task::id().value != own;
        wrong += std::string_view(braid::this_task::name()) != "all";
        s.spawn({.parent = braid::this_task::id()}, [&children] { ++children; });
    });
    own = batch.value;
    gate.finish();
    s.wait(batch);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(children, 50);
}

TEST_P(Batch, EachBodyIsCountedOnceAlsoInAScopeThatIsCancelledInTheMiddle) {
    braid::scheduler s(options());
    braid::scope some(s);
    s.wait(s.spawn_batch({.within = &some}, 100, [](std::size_t) {}));
    some.wait();
    EXPECT_EQ(some.account().executed, 101U);  // and the batch itself
    std::atomic<std::uint64_t> ran{0};
    braid_test::door cancelled;
    s.spawn_batch({.within = &some}, 100, [&](std::size_t) {
        const std::uint64_t before = ran++;
        if (before == 9) {
            some.cancel();
            cancelled.open();
        }
        if (before > 9) cancelled.pass();
    });
    try {
        some.wait();
    } catch (const braid::task_cancelled&) {
    }
    const braid::scope_account account = some.account();
    EXPECT_EQ(account.created, 202U);
    EXPECT_EQ(account.executed, 101U + ran);
    EXPECT_EQ(account.cancelled, 100U - ran);
    EXPECT_EQ(account.failed, 1U);  // the batch, for what did not run
    s.shut_down();
    EXPECT_EQ(s.statistics().created, 202U);
    expect_all_ended(s);
}

}  // namespace
