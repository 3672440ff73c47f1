// R3: graphs, job lists, queues, rate threads and frames say what they hold; their threads rest.
#include "code_piece.hpp"
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/frame/frame_loop.hpp>
#include <braid/frame/rate_thread.hpp>
#include <braid/frame/spread_work.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>
#include <braid/queue/queue.hpp>

#include <algorithm>
#include <memory>

extern "C" const char __executable_start[], etext[];

namespace {

using namespace braid_test;
using braid::code_use;

BRAID_SCHEDULER_TEST(ModulesAtRest);

TEST_P(ModulesAtRest, FindsANodeOfAGraphBeforeAndAfterItsRuns) {
    braid::scheduler s(options());
    braid::graph g(s, "plan");
    g.add({.name = "harmless"}, [] {});
    const braid::graph_node held = g.add({.name = "node"}, [f = &marker] { f(); });
    BRAID_EXPECT_ONE(holders(s), code_use::node, "node");
    g.run_and_wait();
    BRAID_EXPECT_ONE(holders(s), code_use::node, "node");
    g.erase(held);
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(ModulesAtRest, FindsAJobInAListUntilItHasRun) {
    braid::scheduler s(options());
    braid::job_list_manager manager(s);
    manager.register_job([](void*) {}, "harmless");
    const auto job = [](void* p) { reinterpret_cast<void (*)()>(p)(); };
    manager.register_job(job, "caller");
    braid::job_list* const list = manager.allocate({.name = "jobs"});
    ASSERT_NE(list, nullptr);
    list->add(job, reinterpret_cast<void*>(&marker));
    BRAID_EXPECT_ONE(holders(s), code_use::job, "jobs");
    list->submit();
    list->wait();
    EXPECT_TRUE(holders(s).empty());
    manager.free(list);
}

TEST_P(ModulesAtRest, ComeToRestForAPieceOfWorkThatFreezes) {
    braid::scheduler s(options());
    int frozen = 0;
    for (const unsigned threads : {0U, 1U}) {  // a thread of the test helps, or the queue's own
        braid::queue q(s, {.name = "io", .threads = threads});
        door begun;
        q.push([&] {
            begun.open();
            s.freeze();
            ++frozen;
            s.resume();
        });
        if (threads != 0) begun.pass();
        q.drain();
    }
    EXPECT_EQ(frozen, 2);
}

TEST_P(ModulesAtRest, FindsWorkInAQueueInTheRingAndBehindIt) {
    braid::scheduler s(options());
    braid::queue q(s, {.name = "io", .threads = 0, .capacity = 2, .full = braid::when_full::grow});
    for (int i = 0; i < 4; ++i) q.push([f = &marker] { f(); });
    EXPECT_EQ(holders(s).size(), 4U);
    EXPECT_EQ(holders(s)[0].use, code_use::queued);
    EXPECT_EQ(holders(s)[0].name, "io");
    q.drain();
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(ModulesAtRest, FindsWhatTheBodyOfARateThreadHasCaptured) {
    braid::scheduler s(options());
    {
        const braid::rate_thread rate(s, {.name = "rate", .period = braid::milliseconds(1)},
                                      [f = &marker](const braid::rate_tick&) { f(); });
        BRAID_EXPECT_ONE(holders(s), code_use::thread, "rate");
    }
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(ModulesAtRest, FindsBodiesOfStages) {
    braid::scheduler s(options());
    braid::frame_loop loop(s);
    {
        braid::frame_stage stage(loop, {.name = "simulate"});
        stage.add({.name = "body"}, [f = &marker] { f(); });
        BRAID_EXPECT_ONE(holders(s), code_use::callback, "simulate");
        loop.advance();
        loop.finish();
    }
    EXPECT_TRUE(holders(s).empty());
}

/// Nobody of that name runs.
bool sleeps(const std::string& thread) {
    const auto all = braid_test::proc_threads(thread);
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& t) { return t.state == 'S' || !(t.name == thread); });
}

TEST_P(ModulesAtRest, QueueAndRateThreadsRestToo) {
    braid::scheduler s(options());
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ran{0};
    braid::queue q(s, {.name = "q", .threads = 2});
    struct again {
        braid::queue& q;
        std::atomic<bool>& stop;
        std::atomic<std::uint64_t>& ran;
        void operator()() const {
            ++ran;
            if (!stop) q.push(again(*this));
        }
    };
    q.push(again{q, stop, ran});
    std::atomic<std::uint64_t> ticks{0};
    braid::rate_thread rate(s, {.name = "r", .period = braid::microseconds(50)},
                            [&](const braid::rate_tick&) { ++ticks; });
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t before = ran, ticks_before = ticks;
        braid_test::until([&] { return ran > before + 10 && ticks > ticks_before + 3; });
        s.freeze();
        const std::uint64_t at_rest = ran, ticks_at_rest = ticks;
        braid_test::until([&] {
            // Threads of the queue, and the one with the rate, sleep; or something ran.
            return ran != at_rest || ticks != ticks_at_rest || (sleeps("q") && sleeps("r"));
        });
        EXPECT_EQ(ran, at_rest);
        EXPECT_EQ(ticks, ticks_at_rest);
        s.resume();
    }
    stop = true;
}

TEST_P(ModulesAtRest, APieceOfAQueueThatWaitsForATaskIsAtRest) {
    braid::scheduler s(options());
    braid::queue q(s, {.name = "q", .threads = 1});
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<bool> inside{false};
    std::atomic<int> after{0};
    q.push([&, id = gate.id()] {
        inside = true;
        wait_within(s, id);
        ++after;
    });
    braid_test::until([&] { return inside.load(); });
    {
        braid::safepoint rest(s, braid::seconds(20));
        const auto found = holders(rest);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].use, code_use::stack);
        gate.finish();  // what it waits for is complete: it rests on all the same
        braid_test::until([&] { return after != 0 || sleeps("q"); });
        EXPECT_EQ(after, 0);
    }
    q.drain();
    EXPECT_EQ(after, 1);
}

TEST_P(ModulesAtRest, AQueueMayEndWhileItsThreadsRest) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    for (int round = 0; round < 5; ++round) {
        auto q = std::make_unique<braid::queue>(s, braid::queue_options{.threads = 2});
        auto r = std::make_unique<braid::rate_thread>(
            s, braid::rate_options{.period = braid::microseconds(20)},
            [](const braid::rate_tick&) {});
        for (int i = 0; i < 10; ++i) q->push([&] { ++ran; });
        s.freeze();
        q = nullptr;
        r = nullptr;
        s.resume();
    }
    EXPECT_EQ(ran, 50);
}

TEST_P(ModulesAtRest, FindsWorkThatIsSpreadOverFrames) {
    braid::scheduler s(options());
    const braid::code_range all_code{.begin = reinterpret_cast<std::uintptr_t>(__executable_start),
                                     .end = reinterpret_cast<std::uintptr_t>(etext)};
    const auto found = [&] {
        const auto all = holders(s, all_code);
        return std::count_if(all.begin(), all.end(), [](const reported& one) {
            return one.use == code_use::callback && one.name == "paths";
        });
    };
    braid::spread_work later(s);
    later.add({.name = "paths"}, 2, [](std::size_t) {});
    EXPECT_EQ(found(), 1);
    while (later.jobs() != 0) later.run_frame();
    EXPECT_EQ(found(), 0);
}

TEST_P(ModulesAtRest, AreReachedUnderAnySeed) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        seeded_chooser chooser(seed);
        auto o = options();
        o.workers = std::min(o.workers, 4);
        o.max_workers = o.workers;
        o.chooser = &chooser;
        braid::scheduler s(o);
        std::atomic<int> ran{0};
        braid::queue q(s, {.threads = 1});
        for (int round = 0; round < 5; ++round) {
            q.push([&] { s.wait(s.spawn([&] { ++ran; })); });
            {
                braid::safepoint rest(s, braid::seconds(20));
                ASSERT_TRUE(rest.reached()) << "seed " << seed << ": " << rest.awake();
                const int before = ran;
                rest.holders(piece());
                EXPECT_EQ(ran, before);
            }
            q.drain();
        }
        EXPECT_EQ(ran, 5);
    }
}

}  // namespace
