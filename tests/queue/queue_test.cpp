// C14, C15: named queues; each policy when full is observable and nothing is lost.
#include "proc_threads.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <unistd.h>
#include <cfenv>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using braid_test::door;

class Queue : public braid_test::scheduler_test {
protected:
    /// One thread that is held until `go` opens, so that the ring stays full.
    struct held {
        explicit held(braid::scheduler& s, braid::when_full full, unsigned threads = 1)
            : q(s, {.name = "held", .threads = threads, .capacity = 2, .full = full}) {
            for (unsigned i = 0; i < threads; ++i) {
                q.push([this] {
                    ++busy;
                    go.pass();
                });
                braid_test::until([&] { return busy == static_cast<int>(i) + 1; });
            }
        }
        ~held() { go.open(); }
        door go;
        std::atomic<int> busy{0};
        braid::queue q;
    };
};
INSTANTIATE_TEST_SUITE_P(Workers, Queue, testing::Values(0, 2),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Queue, DrainReturnsAfterEverythingPushedAndTheQueueGoesOn) {
    // H1: the goal was never raised: the second drain returned at once or never.
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 2});
    std::atomic<int> ran{0};
    for (int round = 1; round <= 5; ++round) {
        for (int i = 0; i < 1000; ++i) q.push([&ran] { ++ran; });
        q.drain();
        ASSERT_EQ(ran, round * 1000);
    }
    EXPECT_EQ(q.statistics().executed, 5000U);
    EXPECT_EQ(q.size(), 0U);
}

TEST_P(Queue, DrainHelpsSoThatAQueueWithoutThreadsEnds) {
    // H9: the drain span without helping; with no worker it never came back.
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 0, .capacity = 16});
    int ran = 0;
    for (int i = 0; i < 16; ++i) q.push([&ran] { ++ran; });
    EXPECT_EQ(ran, 0);
    q.drain();
    EXPECT_EQ(ran, 16);
    EXPECT_EQ(q.statistics().helped, 16U);
}

TEST_P(Queue, OneThreadStartsInPushOrder) {
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 1, .capacity = 4, .full = braid::when_full::grow});
    std::vector<int> order;
    for (int i = 0; i < 500; ++i) q.push([&order, i] { order.push_back(i); });
    // Not drained: a helper would be a second thread.
    braid_test::until([&] { return q.statistics().executed == 500; });
    for (int i = 0; i < 500; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(Queue, ARawCallbackReceivesItsQueueAndData) {
    braid::scheduler s(options());
    braid::queue q(s);
    struct seen {
        braid::queue* queue = nullptr;
        bool second = false;
    } got;
    q.push([&got](braid::queue& self) {
        got.queue = &self;
        self.push([&got] { got.second = true; });
    });
    q.drain();
    EXPECT_EQ(got.queue, &q);
    EXPECT_TRUE(got.second);
    std::atomic<int> value{0};
    q.push([](braid::queue&, void* data) { *static_cast<std::atomic<int>*>(data) = 5; }, &value);
    q.drain();
    EXPECT_EQ(value, 5);
}

TEST_P(Queue, FullWithHelpRunsTheOldestOnThePusher) {
    // H5: 255 entries were lost when the ring was full.
    braid::scheduler s(options());
    held h(s, braid::when_full::help);
    std::vector<int> order(6, 0);
    std::atomic<int> ran{0};
    for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(h.q.push([&order, &ran, i] { order[static_cast<std::size_t>(i)] = ++ran; }));
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 0, 0}));
    EXPECT_EQ(h.q.statistics().helped, 4U);
    h.go.open();
    h.q.drain();
    EXPECT_EQ(ran, 6);
}

TEST_P(Queue, FullWithBlockSleepsUntilThereIsRoom) {
    braid::scheduler s(options());
    held h(s, braid::when_full::block);
    std::atomic<int> pushed{0};
    std::atomic<int> ran{0};
    std::atomic<long> pusher_number{0};
    std::thread pusher([&] {
        pusher_number = gettid();
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(h.q.push([&ran] { ++ran; }));
            ++pushed;
        }
    });
    braid_test::until([&] { return h.q.statistics().blocked != 0; });
    const auto asleep = [&] { return braid_test::proc_thread_of(pusher_number).state == 'S'; };
    braid_test::until([&] { return asleep() || h.q.statistics().blocked > 1; });
    EXPECT_EQ(h.q.statistics().blocked, 1U) << "it looks again and again instead of sleeping";
    EXPECT_EQ(pushed, 2);
    EXPECT_EQ(ran, 0);
    h.go.open();
    pusher.join();
    h.q.drain();
    EXPECT_EQ(ran, 10);
}

TEST_P(Queue, FullWithGrowTakesEverythingInOrder) {
    braid::scheduler s(options());
    held h(s, braid::when_full::grow);
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(h.q.push([&ran] { ++ran; }));
    EXPECT_EQ(h.q.size(), 1000U);
    EXPECT_EQ(h.q.statistics().grown, 998U);
    h.go.open();
    h.q.drain();
    EXPECT_EQ(ran, 1000);
}

TEST_P(Queue, WhatComesAfterTheRingWasFullStaysBehindWhatWaits) {
    braid::scheduler s(options());
    held h(s, braid::when_full::grow);
    door second;
    std::atomic<bool> taken{false};
    std::vector<int> order;  // the queue's one thread
    h.q.push([&] {
        order.push_back(0);
        taken = true;
        second.pass();
    });
    for (int i = 1; i < 3; ++i) h.q.push([&order, i] { order.push_back(i); });
    h.go.open();
    braid_test::until([&] { return taken.load(); });
    h.q.push([&order] { order.push_back(3); });  // the ring has room by now
    second.open();
    braid_test::until([&] { return h.q.statistics().executed == 5; });
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(Queue, FullWithGrowRefusesWhatThereIsNoMemoryFor) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    held h(s, braid::when_full::grow);
    int ran = 0;
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(h.q.push([&ran] { ++ran; }));
    memory.refuse_after(0);
    EXPECT_FALSE(h.q.push([&ran] { ++ran; }));
    memory.give_back();
    EXPECT_EQ(h.q.statistics().refused, 1U);
    h.go.open();
    braid_test::until([&] { return h.q.statistics().executed == 3; });
    EXPECT_EQ(ran, 2);
}

TEST_P(Queue, FullWithFailSaysSoAndCountsIt) {
    braid::scheduler s(options());
    held h(s, braid::when_full::fail);
    std::atomic<int> ran{0};
    int accepted = 0;
    for (int i = 0; i < 10; ++i) accepted += h.q.push([&ran] { ++ran; });
    EXPECT_EQ(accepted, 2);
    EXPECT_EQ(h.q.statistics().refused, 8U);
    h.go.open();
    h.q.drain();
    EXPECT_EQ(ran, 2);
}

TEST_P(Queue, ItsOwnThreadThatFindsItFullHelpsInsteadOfBlocking) {
    // I6: the only thread that could make room would wait for itself.
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 1, .capacity = 2, .full = braid::when_full::block});
    std::atomic<int> ran{0};
    std::atomic<bool> pushed{false};
    q.push([&](braid::queue& self) {
        for (int i = 0; i < 10; ++i) self.push([&ran] { ++ran; });
        pushed = true;
    });
    braid_test::until([&] { return pushed.load(); });
    q.drain();
    EXPECT_EQ(ran, 10);
}

TEST_P(Queue, DrainFromItsOwnWorkIsReportedInsteadOfWaitingForItself) {
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 1});
    q.push([](braid::queue& self) { self.drain(); });
    q.drain();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

TEST_P(Queue, RefusedPushesNeverLeaveADrainAsleep) {
    // A push that is refused raises the count for a moment; a drain that saw it slept on.
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 1, .capacity = 2, .full = braid::when_full::fail});
    std::atomic<bool> over{false};
    std::thread pusher([&] {
        while (!over) q.push([] {});
    });
    for (std::size_t i = 0; i < braid_test::scaled(300); ++i) {
        q.push([] {});
        if (i % 16 == 0) std::this_thread::yield();
    }
    over = true;
    pusher.join();
    q.drain();
    const braid::queue_statistics sum = q.statistics();
    EXPECT_EQ(sum.pushed, sum.executed);
}

TEST_P(Queue, ABlockedQueueNeverDelaysAnother) {
    // SF, BS: two queues instead of priorities.
    braid::scheduler s(options());
    held low(s, braid::when_full::grow);
    for (int i = 0; i < 10; ++i) low.q.push([] {});
    braid::queue high(s, {.name = "high"});
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) high.push([&ran] { ++ran; });
    high.drain();
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(low.busy, 1);
}

TEST_P(Queue, DestructionRunsWhatWasPushedAndJoins) {
    // S2: leftovers died after the join.
    std::atomic<int> ran{0};
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        braid::queue q(s, {.threads = 2, .capacity = 4, .full = braid::when_full::grow});
        for (int i = 0; i < 50; ++i) q.push([&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 1000);
}

TEST_P(Queue, DiscardDestroysWhatHasNotStartedAndSaysHowMuch) {
    // S1, S3: captures that outlive their work; work that vanishes unaccounted.
    braid::scheduler s(options());
    held h(s, braid::when_full::grow);
    auto captured = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = captured;
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) h.q.push([&ran, captured] { ++ran; });
    captured.reset();
    EXPECT_EQ(h.q.discard(), 10U);
    EXPECT_TRUE(seen.expired());
    h.go.open();
    h.q.drain();
    EXPECT_EQ(ran, 0);
}

TEST_P(Queue, CapturesAreGoneWhenDrainReturns) {
    // S1: captures outlived the task in the ring of the original.
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 1});
    for (int i = 0; i < 100; ++i) {
        auto captured = std::make_unique<std::shared_ptr<int>>(std::make_shared<int>(1));
        const std::weak_ptr<int> seen = *captured;
        door go;
        std::atomic<bool> begun{false};
        q.push([captured = std::move(captured), &go, &begun] {
            begun = true;
            go.pass();
        });
        // The queue's thread has it, so drain() can only wait for it.
        braid_test::until([&] { return begun.load(); });
        go.open();
        q.drain();
        ASSERT_TRUE(seen.expired());
    }
}

TEST_P(Queue, ItsThreadsComputeAndReportAsThoseOfTheScheduler) {
    std::atomic<int> started{0}, stopping{0};
    struct counts {
        std::atomic<int>&started, &stopping;
    } both{started, stopping};
    static constexpr auto of_queue = [](const char* name) {
        return std::strcmp(name, "rounding") == 0;
    };
    braid::scheduler_options o = options();
    o.threads = {.started =
                     [](void* user, const char* name) {
                         if (of_queue(name)) ++static_cast<counts*>(user)->started;
                     },
                 .stopping =
                     [](void* user, const char* name) {
                         if (of_queue(name)) ++static_cast<counts*>(user)->stopping;
                     },
                 .user = &both};
    const int before = std::fegetround();
    std::fesetround(FE_UPWARD);
    braid::scheduler s(o);
    std::fesetround(before);
    std::atomic<int> mode{-1};
    {
        braid::queue q(s, {.name = "rounding", .threads = 1});
        q.push([&] { mode = std::fegetround(); });
        braid_test::until([&] { return q.statistics().executed == 1; });
        EXPECT_EQ(started, 1);
        EXPECT_EQ(stopping, 0);
    }
    EXPECT_EQ(mode, FE_UPWARD);
    EXPECT_EQ(stopping, 1);
}

TEST_P(Queue, WhatItsWorkThrowsReachesTheHandler) {
    // S4, D13.
    braid::scheduler s(options());
    {
        braid::queue q(s, {.name = "thrower"});
        q.push([] { throw std::runtime_error("planned"); });
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost, "thrower"), 1U);
}

TEST_P(Queue, ManyProducersLoseNothingOnTheSmallestRing) {
    // H6: a single producer only; L9: a second submitter corrupted it.
    braid::scheduler s(options());
    for (const auto full :
         {braid::when_full::help, braid::when_full::block, braid::when_full::grow}) {
        braid::queue q(s, {.threads = 2, .capacity = 2, .full = full});
        std::atomic<int> ran{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 500; ++i) q.push([&ran] { ++ran; });
            });
        }
        for (std::thread& t : threads) t.join();
        q.drain();
        ASSERT_EQ(ran, 2000);
    }
}

TEST_P(Queue, WithoutTheThreadsThatTheSystemRefusedStillRunsEverything) {
    // S6: thread creation fails.
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    {
        braid::queue q(s, {.threads = 2,
                           .capacity = 2,
                           .full = braid::when_full::block,
                           .stack_bytes = std::size_t{1} << 50});
        for (int i = 0; i < 20; ++i) q.push([&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "refused a thread"), 2U);
}

TEST_P(Queue, ForWhichThereIsNoMemoryIsEmptyAndRefusesEverything) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    memory.refuse_after(0);
    braid::queue q(s, {.name = "none"});
    memory.give_back();
    bool ran = false;
    EXPECT_FALSE(q.push([&ran] { ran = true; }));
    EXPECT_EQ(q.size(), 0U);
    EXPECT_EQ(q.discard(), 0U);
    EXPECT_STREQ(q.name(), "");
    EXPECT_EQ(q.statistics().pushed, 0U);
    q.drain();
    EXPECT_FALSE(ran);
}

TEST_P(Queue, ForWhichThereIsMemoryInPartGivesThatBack) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    for (int granted = 0; granted < 3; ++granted) {
        memory.refuse_one_after(granted);
        const braid::queue q(s, {.name = "part"});
        EXPECT_EQ(memory.refused(), granted + 1);
        EXPECT_EQ(s.bytes(braid::memory_tag::queue), 0U) << granted;
    }
}

TEST_P(Queue, TakesNothingAnyMoreWhenItsThreadsEnd) {
    struct last_words {
        braid::queue* of = nullptr;
        int tried = 0, taken = 0;
    } last;
    braid::scheduler_options o = options();
    o.threads = {.stopping =
                     [](void* user, const char* name) {
                         auto& self = *static_cast<last_words*>(user);
                         if (std::string_view(name) != "ends") return;
                         ++self.tried;
                         self.taken += self.of->push([] {});
                     },
                 .user = &last};
    braid::scheduler s(o);
    {
        braid::queue q(s, {.name = "ends", .threads = 1});
        last.of = &q;
    }
    EXPECT_EQ(last.tried, 1);
    EXPECT_EQ(last.taken, 0);
}

TEST_P(Queue, WorkThatRunsWhileItEndsMayPushMore) {
    braid::scheduler s(options());
    for (const unsigned threads : {0U, 1U}) {
        int ran = 0;
        {
            braid::queue q(s, {.threads = threads});
            q.push([&ran](braid::queue& own) {
                ++ran;
                EXPECT_TRUE(own.push([&ran] { ++ran; }));
            });
        }
        EXPECT_EQ(ran, 2) << threads << " threads";
    }
}

}  // namespace
