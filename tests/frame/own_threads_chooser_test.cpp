// With a chooser the threads of queues and rate_threads pass the gate like workers: a seed decides
// when they go on, and the same seed gives the same run.
#include "braid/core/decision.hpp"
#include "braid/core/event.hpp"
#include "braid/core/scope.hpp"
#include "braid/frame/rate_thread.hpp"
#include "braid/queue/queue.hpp"
#include "scale.hpp"
#include "seeded_chooser.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <set>
#include <vector>

namespace {

using braid_test::seeded_chooser;

/// What a run left behind. Plain memory: one thread runs at a time.
struct run_record {
    std::vector<int> order;
    std::vector<std::uint64_t> decisions;
    std::uint64_t unchosen = 0;
};

/// The body gets a scheduler and a list in which all of its threads write down that they run.
template <class Body>
run_record run(std::uint64_t seed, Body&& body) {
    seeded_chooser chooser(seed);
    run_record record;
    {
        braid::scheduler s({.workers = 2, .chooser = &chooser});
        body(s, record.order);
        record.unchosen = s.statistics().unchosen;
    }
    record.decisions = chooser.log();
    return record;
}

void tasks_beside_a_queue_and_a_rate(braid::scheduler& s, std::vector<int>& order) {
    braid::queue q(s, {.name = "disk", .threads = 2, .capacity = 4});
    braid::rate_thread rate(s, {.name = "pad"}, [&order](const braid::rate_tick& tick) {
        order.push_back(1000 + static_cast<int>(tick.number));
    });
    braid::scope all(s);
    for (int i = 0; i < 6; ++i) {
        all.post([&, i] {
            order.push_back(i);
            EXPECT_TRUE(q.push([&, i] {
                order.push_back(100 + i);
                s.wait(s.spawn([&order, i] { order.push_back(200 + i); }));
            }));
        });
    }
    all.wait();
    q.drain();
    rate.stop();
    order.push_back(-1);
}

TEST(OwnThreads, TheSameSeedGivesTheSameRunTwoHundredTimes) {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const run_record first = run(seed, &tasks_beside_a_queue_and_a_rate);
        EXPECT_EQ(first.unchosen, 0U) << "nobody comes by himself";
        orders.insert(first.order);
        for (std::size_t i = 1; i < braid_test::scaled(200); ++i) {
            const run_record again = run(seed, &tasks_beside_a_queue_and_a_rate);
            ASSERT_EQ(again.order, first.order) << "seed " << seed << ", run " << i;
            ASSERT_EQ(again.decisions, first.decisions) << "seed " << seed << ", run " << i;
        }
    }
    EXPECT_EQ(orders.size(), 8U) << "each seed gives another one";
}

TEST(OwnThreads, ASeedDecidesWhetherAPieceRunsBeforeItsPusherGoesOn) {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        orders.insert(run(seed, [](braid::scheduler& s, std::vector<int>& order) {
                          braid::queue q(s);
                          q.push([&order] { order.push_back(1); });
                          q.size();
                          order.push_back(0);
                          q.drain();
                      }).order);
    }
    EXPECT_EQ(orders, (std::set<std::vector<int>>{{0, 1}, {1, 0}}));
}

/// Time passes when nobody else can go on, and no sooner.
struct patient final : braid::chooser {
    std::size_t choose(braid::decision_kind, const braid::alternative*, std::size_t) override {
        return 0;
    }
};

TEST(OwnThreads, ARateLastsAsLongAsTheChooserSays) {
    patient chooser;
    braid::scheduler s({.workers = 1, .chooser = &chooser});
    std::vector<std::int64_t> due;
    braid::rate_thread hourly(s, {.name = "hourly", .period = braid::seconds(3600)},
                              [&due](const braid::rate_tick& tick) {
                                  EXPECT_EQ(tick.began, tick.due);
                                  due.push_back(tick.due);
                              });
    braid::event never(s);
    EXPECT_FALSE(s.do_work_while_waiting_for(never, braid::seconds(3600 * 10 + 1)));
    ASSERT_EQ(due.size(), 10U) << "ten hours have passed";
    for (std::size_t i = 0; i < due.size(); ++i) {
        EXPECT_EQ(due[i], braid::seconds(3600 * static_cast<int>(i + 1)).value);
    }
    hourly.stop();
    EXPECT_EQ(hourly.report().ticks, 10U);
    EXPECT_EQ(hourly.report().missed, 0U);
}

TEST(OwnThreads, APusherThatSleepsForRoomIsWokenByTheQueuesThread) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const run_record record = run(seed, [](braid::scheduler& s, std::vector<int>& order) {
            braid::queue q(s, {.capacity = 2, .full = braid::when_full::block});
            for (int i = 0; i < 12; ++i) q.push([&order, i] { order.push_back(i); });
            q.drain();
        });
        ASSERT_EQ(record.order.size(), 12U);
        for (int i = 0; i < 12; ++i) EXPECT_EQ(record.order[static_cast<std::size_t>(i)], i);
    }
}

}  // namespace
