// G12: a node that is declared idempotent is run again while its thread stands still; no other is.
#include <braid/core/observer.hpp>
#include <braid/core/scope.hpp>
#include <braid/graph/graph.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <time.h>

namespace {

using braid_test::door;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(Straggler);

constexpr braid::run_options rerun_soon{.rerun_after = braid::microseconds(200)};

/// Which attempt stands still, and until when.
enum class plan : std::uint8_t {
    first_until_after,   // the first, until what comes after the node has run
    first_until_second,  // the first, until the second has begun: then both go on
    second_until_first,  // and the second until the first has published
};

/// A graph with such a node, and one after it.
struct frozen_frame {
    explicit frozen_frame(braid::scheduler& scheduler) : s(scheduler) {
        // Keeps the calling thread until the node runs elsewhere.
        g.add({.on = s.this_thread(), .may_be_long = true}, [this] {
            while (s.worker_count() != 0 && calls.load() == 0) std::this_thread::yield();
        });
        const auto node = g.add_idempotent(
            {.name = "skin"}, [this] { return compute(); },
            [this](int result) {
                published = result;
                ++publishes;
                if (frozen == plan::second_until_first) first_has_published.open();
            });
        g.precede(node, g.add([this] {
            seen = published;
            after_has_run.open();
        }));
    }
    int compute() const {
        const unsigned call = ++calls;
        // The calling thread is the one that looks: it cannot stand still here.
        const bool elsewhere = std::this_thread::get_id() != caller;
        if (call == 1) first_elsewhere = elsewhere;
        if (call == 2) second_has_begun.open();
        if (call == 1 && elsewhere) {
            (frozen == plan::first_until_after ? after_has_run : second_has_begun).pass();
        }
        if (call == 2 && frozen == plan::second_until_first) first_has_published.pass();
        // Two runs may make three calls.
        if (call <= throws.size() && throws[call - 1])
            throw std::runtime_error(call == 1 ? "first" : "second");
        return static_cast<int>(10 * run + call);
    }
    void prepare(plan p) {
        frozen = p;
        ++run;
        calls = 0;
        first_elsewhere = false;
        publishes = 0;
        for (door* d : {&after_has_run, &second_has_begun, &first_has_published}) d->close();
    }

    braid::scheduler& s;
    const std::thread::id caller = std::this_thread::get_id();
    plan frozen = plan::first_until_after;
    unsigned run = 0;
    mutable std::atomic<unsigned> calls{0};
    mutable std::atomic<bool> first_elsewhere{false};
    std::array<bool, 2> throws{};
    int published = 0, publishes = 0, seen = 0;  // plain: by one thread, before what comes after
    mutable door after_has_run, second_has_begun, first_has_published;
    braid::graph g{s};
};

TEST_P(Straggler, WhatComesAfterANodeGoesOnWhileItsFirstThreadStandsStill) {
    braid::scheduler s(options());
    frozen_frame f(s);
    std::uint64_t expected = 0;
    for (unsigned i = 0; i < scaled(10); ++i) {
        f.prepare(plan::first_until_after);
        f.g.run_and_wait(rerun_soon);
        const bool again = f.g.reruns() != expected;
        expected += again;
        EXPECT_TRUE(again || !f.first_elsewhere) << "nobody else let the first go on";
        EXPECT_EQ(f.calls, again ? 2U : 1U);
        EXPECT_EQ(f.seen, f.published);
        EXPECT_EQ(f.seen / 10, static_cast<int>(f.run)) << "of this run";
        EXPECT_TRUE(f.seen % 10 == 2 || !f.first_elsewhere) << "the second's result";
        EXPECT_EQ(f.publishes, 1);
        EXPECT_EQ(f.g.reruns(), expected);
    }
    const auto total = s.statistics();
    EXPECT_EQ(total.created, total.ended());
}

TEST_P(Straggler, OneOfTwoThatFinishTogetherPublishes) {
    braid::scheduler s(options());
    frozen_frame f(s);
    for (unsigned i = 0; i < scaled(30); ++i) {
        f.prepare(i % 2 == 0 ? plan::first_until_second : plan::second_until_first);
        f.g.run_and_wait(rerun_soon);
        EXPECT_EQ(f.publishes, 1);
        EXPECT_EQ(f.seen, f.published);
        EXPECT_EQ(f.seen / 10, static_cast<int>(f.run)) << "of this run";
        EXPECT_TRUE(f.seen % 10 == 1 || i % 2 == 0) << "the second waits for the first's";
    }
}

/// Opens a door when the node has ended, however.
struct end_of_node final : braid::observer {
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::completed || e.name == nullptr) return;
        if (std::string_view(e.name) == "skin") over.open();
    }
    door over;
};

TEST_P(Straggler, OnlyTheFailureOfWhoFinishesFirstIsTheNodes) {
    end_of_node watch;
    braid::scheduler_options o = options();
    o.observer = &watch;
    braid::scheduler s(o);
    frozen_frame f(s);
    // The second throws while the first stands still: what comes after the node never runs.
    f.throws = {false, true};
    f.prepare(plan::first_until_after);
    std::thread release([&] {
        watch.over.pass();
        f.after_has_run.open();
    });
    bool failed = false;
    try {
        f.g.run_and_wait(rerun_soon);
    } catch (const std::runtime_error&) {
        failed = true;
    }
    release.join();
    EXPECT_EQ(failed, f.first_elsewhere);
    EXPECT_EQ(f.publishes, failed ? 0 : 1);
    // The first throws when the second has published: nobody hears of it.
    f.throws = {true, false};
    f.prepare(plan::first_until_after);
    try {
        f.g.run_and_wait(rerun_soon);
        EXPECT_TRUE(f.first_elsewhere);
        EXPECT_EQ(f.publishes, 1);
    } catch (const std::runtime_error&) {
        EXPECT_FALSE(f.first_elsewhere);
        EXPECT_EQ(f.publishes, 0);
    }
}

TEST_P(Straggler, NothingElseIsRunTwiceAndNothingWithoutTheOption) {
    braid::scheduler s(options());
    frozen_frame f(s);
    std::atomic<int> ordinary{0};
    f.g.add([&] {
        ++ordinary;
        if (std::this_thread::get_id() != f.caller && f.first_elsewhere) f.after_has_run.pass();
    });
    for (unsigned i = 1; i <= 5; ++i) {
        f.prepare(plan::first_until_after);
        f.g.run_and_wait(rerun_soon);
        EXPECT_EQ(ordinary, static_cast<int>(i));
    }
    const std::uint64_t before = f.g.reruns();
    f.prepare(plan::first_until_after);
    f.after_has_run.open();
    f.g.run_and_wait();
    EXPECT_EQ(f.g.reruns(), before);
    EXPECT_EQ(f.calls, 1U);
}

TEST_P(Straggler, WhoWaitsForTheNextRunTakesNothingOfThisOne) {
    braid::scheduler s(options());
    frozen_frame f(s);
    for (unsigned i = 0; i < scaled(10); ++i) {
        f.prepare(plan::first_until_after);
        f.frozen = plan::first_until_second;
        f.second_has_begun.open();
        const auto first = f.g.run();
        f.g.run_and_wait(rerun_soon);
        EXPECT_TRUE(s.done(first));
        EXPECT_EQ(f.publishes, 2);
    }
    const auto total = s.statistics();
    EXPECT_EQ(total.created, total.ended());
}

TEST_P(Straggler, ACancelledScopeEndsARunWithASecondAttempt) {
    braid::scheduler s(options());
    frozen_frame f(s);
    for (unsigned i = 0; i < scaled(10); ++i) {
        braid::scope all(s);
        f.prepare(plan::first_until_after);
        std::thread cancel([&] {
            // With the first standing still, before or after a second one is sent.
            while (f.calls == 0) std::this_thread::yield();
            all.cancel();
            f.after_has_run.open();
        });
        try {
            f.g.run_and_wait({.within = &all, .rerun_after = braid::nanoseconds(20'000)});
        } catch (const braid::task_cancelled&) {
        }
        cancel.join();
        all.wait();
        EXPECT_LE(f.publishes, 1);
    }
}

/// What the calling thread has used of a processor.
std::int64_t processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// The clock is the test's own, and the processor time is true: a thread that lost its core would be
// a straggler.
TEST(Attempts, OfAThreadThatIsBusyAreNoStragglers) {
    constexpr std::int64_t enough = 500'000;
    braid::detail::attempts node;
    std::int64_t now = 1'000'000;
    EXPECT_FALSE(node.stands_still(now, enough)) << "nobody has begun";
    node.begin();
    EXPECT_FALSE(node.stands_still(now, enough)) << "the first look";
    for (int i = 0; i < 4; ++i) {
        const std::int64_t before = processor_time();
        while (processor_time() - before < 2 * enough) {
        }
        now += 2 * enough;
        EXPECT_FALSE(node.stands_still(now, enough));
    }
    EXPECT_FALSE(node.stands_still(now + enough - 1, enough)) << "too soon for a look";
    // It has hardly run in this hour.
    EXPECT_TRUE(node.stands_still(now + 3'600'000'000'000, enough));
    EXPECT_TRUE(node.begin_second());
    EXPECT_FALSE(node.stands_still(now + 7'200'000'000'000, enough)) << "it runs twice already";
}

TEST(StragglerText, RefusesNodesThatAreTiedToAThread) {
    std::string reported;
    braid::scheduler_options o{.workers = 0};
    o.assertion = {[](void* user, const char*, const char* what, const char*, int) {
                       *static_cast<std::string*>(user) = what;
                   },
                   &reported};
    braid::scheduler s(o);
    braid::graph g(s);
    EXPECT_FALSE(g.add_idempotent({.on = s.this_thread()}, [] { return 1; }, [](int) {}));
    EXPECT_EQ(reported.find("an idempotent node may run on any thread"), 0U) << reported;
    EXPECT_EQ(g.size(), 0U);
}

}  // namespace
