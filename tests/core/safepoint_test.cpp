// R3, the core's part: everything rests, and whatever holds a piece of code is reported.
#include "code_piece.hpp"
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace braid_test;
using braid::code_use;

BRAID_SCHEDULER_TEST(Safepoint);

TEST_P(Safepoint, FindsACaptureOfATaskThatHasNotRun) {
    braid::scheduler s(options());
    EXPECT_TRUE(holders(s).empty());
    {
        braid::task_builder gate = s.begin({.name = "gate"}, braid::empty);
        const braid::task_id held =
            s.spawn({.name = "held", .after = {gate.id()}}, [f = &marker] { f(); });
        const auto found = holders(s);
        BRAID_EXPECT_ONE(found, code_use::task, "held");
        EXPECT_EQ(found[0].task, held);
        gate.finish();
        s.wait(held);
    }
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(Safepoint, FindsATaskByItsTag) {
    braid::scheduler s(options());
    braid::task_builder gate = s.begin({}, braid::empty);
    const braid::task_id held =
        s.spawn({.name = "tagged", .after = {gate.id()}, .module = 7}, [] {});
    EXPECT_TRUE(holders(s).empty());
    braid::code_range by_tag;
    by_tag.tag = 7;
    BRAID_EXPECT_ONE(holders(s, by_tag), code_use::task, "tagged");
    gate.finish();
    s.wait(held);
}

TEST_P(Safepoint, FindsTheBodiesOfABatchThatAreLeft) {
    braid::scheduler s(options());
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<int> ran{0};
    const braid::task_id held = s.spawn_batch({.name = "batch", .after = {gate.id()}}, 100,
                                              [&ran, f = &marker](std::size_t) {
                                                  f();
                                                  ++ran;
                                              });
    EXPECT_FALSE(holders(s).empty());
    gate.finish();
    s.wait(held);
    EXPECT_EQ(ran, 100);
    EXPECT_TRUE(holders(s).empty());
}

struct destroyed_by_pointer {
    void (*f)();
};

TEST_P(Safepoint, FindsAValueThatAFutureKeeps) {
    braid::scheduler s(options());
    auto kept = s.async({.name = "valued"}, [] { return destroyed_by_pointer{&marker}; });
    s.wait(kept.id());
    BRAID_EXPECT_ONE(holders(s), code_use::task, "valued");
    kept.get();
    EXPECT_TRUE(holders(s).empty());
}

struct table_of_callbacks final : braid::code_holder {
    using code_holder::code_holder;
    void show_code(braid::code_search& to) const override {
        to.look_at(code_use::callback, "table", one);
    }
    void (*one)() = &marker;
};

TEST_P(Safepoint, AsksWhatAProgramHasRegisteredAsLongAsItLives) {
    braid::scheduler s(options());
    {
        const table_of_callbacks first(s);
        auto second = std::make_unique<table_of_callbacks>(s);
        const table_of_callbacks third(s);
        EXPECT_EQ(holders(s).size(), 3U);
        second = nullptr;
        EXPECT_EQ(holders(s).size(), 2U);
    }
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(Safepoint, FindsHandlersAndInstruments) {
    auto o = options();
    o.log.user = reinterpret_cast<void*>(&marker);
    braid::scheduler s(o);
    BRAID_EXPECT_ONE(holders(s), code_use::handler, "log");
}

TEST_P(Safepoint, FindsTheStackOfAThreadThatRestsWithinTheCode) {
    braid::scheduler s(options());
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<bool> inside{false};
    const braid::task_id body = s.spawn({.name = "waits"}, [&, id = gate.id()] {
        inside = true;
        wait_within(s, id);
    });
    // With no worker the thread of the program runs it, in a wait that ends when the gate does.
    std::thread outside([&] { s.wait(body); });
    braid_test::until([&] { return inside.load(); });
    {
        braid::safepoint rest(s, braid::seconds(20));
        const auto found = holders(rest);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].use, code_use::stack);
        EXPECT_NE(found[0].thread, "");
    }
    gate.finish();
    outside.join();
    EXPECT_TRUE(holders(s).empty());
}

BRAID_IN_PIECE static std::size_t count_from_within(braid::scheduler& s) {
    const std::size_t count = holders(s).size();
    asm volatile("");
    return count;
}

TEST_P(Safepoint, FindsTheCallersOwnStack) {
    braid::scheduler s(options());
    EXPECT_EQ(count_from_within(s), 1U);
    EXPECT_EQ(holders(s).size(), 0U);
}

TEST_P(Safepoint, GivesUpWhenATaskRunsOnAndNamesItsThread) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    braid::scheduler s(options());
    std::atomic<bool> inside{false}, stop{false};
    const braid::task_id endless = s.spawn({.may_be_long = true}, [&] {
        inside = true;
        braid_test::until([&] { return stop.load(); });
    });
    braid_test::until([&] { return inside.load(); });
    {
        const braid::safepoint rest(s, braid::milliseconds(2));
        EXPECT_FALSE(rest.reached());
        EXPECT_EQ(std::string(rest.awake()).substr(0, 6), "worker");
        EXPECT_FALSE(s.internals().frozen().on());
    }
    stop = true;
    s.wait(endless);
    const braid::safepoint rest(s, braid::seconds(20));
    EXPECT_TRUE(rest.reached());
}

TEST_P(Safepoint, GivesUpWhileAnotherThreadHasFrozenTheScheduler) {
    braid::scheduler s(options());
    std::atomic<bool> frozen{false}, stop{false};
    std::thread other([&] {
        s.freeze();
        frozen = true;
        braid_test::until([&] { return stop.load(); });
        s.resume();
    });
    braid_test::until([&] { return frozen.load(); });
    {
        const braid::safepoint rest(s, braid::milliseconds(1));
        EXPECT_FALSE(rest.reached());
    }
    stop = true;
    other.join();
    const braid::safepoint rest(s, braid::seconds(20));
    EXPECT_TRUE(rest.reached());
}

TEST_P(Safepoint, ACancelledHolderDoesNotRunAndItsCaptureIsDestroyed) {
    braid::scheduler s(options());
    const auto shared = std::make_shared<int>(1);
    std::atomic<int> ran{0};
    braid::task_builder gate = s.begin({}, braid::empty);
    const braid::task_id held = s.spawn({.after = {gate.id()}}, [&ran, f = &marker, shared] {
        f();
        ++ran;
    });
    {
        braid::safepoint rest(s, braid::seconds(20));
        const auto found = holders(rest);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_TRUE(rest.cancel(found[0].as_reported));
    }
    gate.finish();
    braid_test::until([&] {
        braid::safepoint::let_run(s, braid::milliseconds(1));
        return s.done(held);
    });
    EXPECT_EQ(s.statistics().cancelled, 1U);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(shared.use_count(), 1);
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(Safepoint, NobodyOutsideMakesATaskMeanwhile) {
    braid::scheduler s(options());
    std::atomic<bool> stop{false};
    std::atomic<int> resting{0};  // the number of the rest, from 1 on, or 0
    std::atomic<int> made{0}, made_within{0};
    std::atomic<std::uint64_t> ran{0};
    std::vector<std::thread> outside;
    for (int i = 0; i < 3; ++i) {
        outside.emplace_back([&, i] {
            while (!stop) {
                const int before = resting;
                bool went = true;
                if (i == 0) {
                    went = s.try_post(
                        [](void* p) { ++*static_cast<std::atomic<std::uint64_t>*>(p); }, &ran);
                } else {
                    s.post([&] { ++ran; });
                }
                made += went;
                made_within += went && before != 0 && resting == before;
            }
        });
    }
    for (int round = 1; round <= 20; ++round) {
        const int seen = made;
        braid_test::until([&] { return made > seen + 10; });
        {
            braid::safepoint rest(s, braid::seconds(20));
            ASSERT_TRUE(rest.reached());
            resting = round;
            const std::uint64_t before = ran;
            EXPECT_TRUE(holders(rest).empty());
            EXPECT_EQ(ran, before);
            resting = 0;
        }
    }
    stop = true;
    for (auto& t : outside) t.join();
    EXPECT_EQ(made_within, 0);
    s.shut_down();
    EXPECT_EQ(ran, static_cast<std::uint64_t>(made));
}

TEST_P(Safepoint, LetRunRunsWhatIsReadyAndComesBack) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    for (int i = 0; i < 50; ++i) s.post([&] { ++ran; });
    braid_test::until([&] {
        braid::safepoint::let_run(s, braid::milliseconds(1));
        return ran == 50;
    });
}

// ---- threads of the program --------------------------------------------------------------------

TEST_P(Safepoint, AThreadOfTheProgramRunsNothingInItsWaitUntilResume) {
    braid::scheduler s(options());
    std::atomic<bool> frozen{false}, stop{false};
    std::atomic<std::uint64_t> ran{0}, within{0};
    std::thread helper([&] {
        const braid::main_thread registered(s, "helper");
        while (!stop) {
            s.wait(s.spawn([&] {
                ++ran;
                if (frozen) ++within;
            }));
        }
    });
    for (int round = 0; round < 50; ++round) {
        const std::uint64_t before = ran;
        braid_test::until([&] { return ran > before + 5; });
        s.freeze();
        frozen = true;
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        frozen = false;
        s.resume();
    }
    stop = true;
    helper.join();
    EXPECT_EQ(within, 0U);
}

TEST_P(Safepoint, AWaitWithADeadlineComesBackWhileEverythingRests) {
    braid::scheduler s(options());
    std::atomic<bool> done{false};
    std::atomic<bool> came{true};
    s.freeze();
    std::thread other([&] {
        came = s.wait_for(s.spawn([] {}), braid::milliseconds(5));
        done = true;
    });
    braid_test::until([&] { return done.load(); });
    s.resume();
    other.join();
    EXPECT_FALSE(came);
}

TEST_P(Safepoint, IsReachedUnderAnySeed) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        auto o = options();
        o.workers = std::min(o.workers, 4);
        o.max_workers = o.workers;
        o.chooser = &chooser;
        braid::scheduler s(o);
        std::atomic<int> ran{0};
        for (int round = 0; round < 5; ++round) {
            braid::scope all(s);
            for (int i = 0; i < 6; ++i) {
                all.spawn(
                    {}, [&](braid::task_context& task) { task.wait(task.spawn([&] { ++ran; })); });
            }
            {
                braid::safepoint rest(s, braid::seconds(20));
                ASSERT_TRUE(rest.reached()) << "seed " << seed << ": " << rest.awake();
                const int before = ran;
                rest.holders(piece());
                EXPECT_EQ(ran, before);
            }
            all.wait();
        }
        EXPECT_EQ(ran, 5 * 6);
    }
}

}  // namespace
