// C33: threads of the engine as workers; several schedulers beside each other.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <memory>

namespace {

BRAID_SCHEDULER_TEST(Several);

TEST_P(Several, AThreadOfTheEngineWorksUntilItsEventIsSet) {
    std::atomic<std::thread::id> who{};
    braid::scheduler s(options());
    s.set_worker_count(0);
    braid::event stop(s, braid::reset::manual);
    std::thread engine([&] { s.work_until(stop); });
    const std::thread::id engine_id = engine.get_id();
    s.post([&] { who = std::this_thread::get_id(); });
    if (GetParam() == 0) {
        braid_test::until([&] { return who.load() != std::thread::id(); });
        EXPECT_EQ(who.load(), engine_id);
    }
    stop.set();
    engine.join();
}

TEST_P(Several, ManyEngineThreadsWorkAndNothingIsLost) {
    braid::scheduler s(options());
    braid::event stop(s, braid::reset::manual);
    std::vector<std::thread> engine;
    for (int i = 0; i < 3; ++i) {
        engine.emplace_back([&, i] {
            if (i == 0) {
                const braid::main_thread me(s, "engine");
                s.work_until(stop);
            } else {
                s.work_until(stop);
            }
        });
    }
    std::atomic<std::size_t> ran{0};
    braid::scope all(s);
    const std::size_t tasks = braid_test::scaled(10'000);
    for (std::size_t i = 0; i < tasks; ++i) all.post([&] { ++ran; });
    all.wait();
    stop.set();
    for (auto& t : engine) t.join();
    EXPECT_EQ(ran, tasks);
}

TEST_P(Several, OneThreadServesTwoInTurn) {
    braid::scheduler a(options());
    braid::scheduler_options o = options();
    o.name = "second";
    braid::scheduler b(o);
    a.set_worker_count(0);
    b.set_worker_count(0);
    braid::event stop_a(a), stop_b(b);
    std::atomic<int> ran_a{0}, ran_b{0}, rounds{0};
    std::thread engine([&] {
        for (int i = 0; i < 20; ++i) {
            a.work_until(stop_a);
            b.work_until(stop_b);
            ++rounds;
        }
    });
    for (int i = 0; i < 20; ++i) {
        a.post([&] {
            ++ran_a;
            stop_a.set();
        });
        b.post([&] {
            ++ran_b;
            stop_b.set();
        });
        // Workers that have not stopped yet may run them too: an event that is set twice before
        // it is taken counts once.
        braid_test::until([&] { return rounds > i; });
    }
    engine.join();
    EXPECT_EQ(ran_a, 20);
    EXPECT_EQ(ran_b, 20);
}

TEST_P(Several, ATaskOfOneWaitsForATaskOfTheOther) {
    braid::scheduler a(options());
    braid::scheduler_options o = options();
    o.name = "second";
    o.main_thread = nullptr;
    braid::scheduler b(o);
    std::atomic<int> ran{0};
    for (int i = 0; i < 50; ++i) {
        a.wait(a.spawn({.name = "outer"}, [&] {
            b.wait(b.spawn({.name = "inner"}, [&] {
                EXPECT_STREQ(braid::this_task::name(), "inner");
                ++ran;
            }));
            EXPECT_STREQ(braid::this_task::name(), "outer");
        }));
    }
    EXPECT_EQ(ran, 50);
}

TEST_P(Several, AnIdOfOneIsNotTakenForAnIdOfTheOther) {
    braid::scheduler a(options());
    braid::scheduler_options o = options();
    o.main_thread = nullptr;
    braid::scheduler b(o);
    EXPECT_EQ(a.this_thread().seat, 0);
    EXPECT_FALSE(b.this_thread());
    const braid::task_id id = a.spawn([] {});
    a.wait(id);
    EXPECT_EQ(b.state(id), braid::task_state::unknown);
}

std::vector<std::unique_ptr<braid::scheduler>> make(int count, braid::scheduler_options o) {
    o.workers = std::min(o.workers, 1);
    std::vector<std::unique_ptr<braid::scheduler>> many;
    for (int i = 0; i < count; ++i) many.push_back(std::make_unique<braid::scheduler>(o));
    return many;
}

TEST_P(Several, AThreadKeepsItsSeatInEachOfTwelve) {
    auto many = make(12, options());
    for (int round = 0; round < 3; ++round) {
        for (auto& s : many) {
            EXPECT_EQ(s->this_thread().seat, 0) << "the seat of the constructing thread";
            std::atomic<bool> ran{false};
            s->wait(s->spawn({.on = s->this_thread()}, [&] { ran = true; }));
            EXPECT_TRUE(ran);
        }
    }
    // A thread that has no seat in them does not find one.
    std::thread([&] {
        auto own = make(12, options());
        for (auto& s : own) EXPECT_TRUE(s->this_thread());
        for (auto& s : many) EXPECT_FALSE(s->this_thread());
    }).join();
    // Whatever ends first, the others keep theirs.
    for (const std::size_t gone : {3U, 0U, 7U}) {
        many[gone].reset();
        for (auto& s : many) {
            if (s != nullptr) {
                EXPECT_EQ(s->this_thread().seat, 0);
            }
        }
    }
}

TEST_P(Several, ABlockingCallMayMakeAndEndNineOthers) {
    braid::scheduler outer(options());
    for (int i = 0; i < 3; ++i) {
        outer.blocking([&] {
            auto many = make(9, options());
            for (auto& s : many) s->wait(s->spawn([] {}));
        });
        EXPECT_EQ(outer.this_thread().seat, 0);
        std::atomic<bool> done{false};
        outer.wait(outer.spawn([&] {
            outer.blocking([&] { make(9, options()); });
            done = true;
        }));
        EXPECT_TRUE(done);
    }
}

TEST_P(Several, ComeAndGoOnOneThread) {
    for (int i = 0; i < 20; ++i) {
        std::vector<std::unique_ptr<braid::scheduler>> many;
        braid::scheduler_options o = options();
        o.workers = std::min(GetParam(), 2);
        for (int k = 0; k < 10; ++k) many.push_back(std::make_unique<braid::scheduler>(o));
        std::atomic<int> ran{0};
        for (auto& s : many) s->wait(s->spawn([&] { ++ran; }));
        EXPECT_EQ(ran, 10);
        // Not in the order of making.
        std::swap(many.front(), many.back());
        many.clear();
    }
}

}  // namespace
