// Timers under a chooser: on the virtual clock, and the same seed gives the same run.
#include <braid/async/message_source.hpp>
#include <braid/async/timer.hpp>

#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

namespace {

using braid::decision_kind;
using braid::nanoseconds;
using braid::timer;
using braid::timer_tick;
using braid_test::seeded_chooser;

class TimerChooser : public testing::Test {
protected:
    braid_test::deadline deadline_;
};

struct run {
    std::vector<std::uint64_t> decisions;
    std::vector<std::int64_t> order;  // who ticked, and when it was due
    std::size_t arrivals = 0;
    std::uint64_t unchosen = 0;
    int standstills = 0;
};

/// Timers that are due at the same moment, ones that come again, one that is cancelled on the way,
/// and messages that their ticks send.
run play(std::uint64_t seed, int workers) {
    seeded_chooser chooser(seed);
    run r;
    {
        braid::scheduler_options o;
        o.workers = workers;
        o.chooser = &chooser;
        braid::scheduler s(o);
        std::atomic<int> left{0};
        braid::event done(s);
        const auto tick_of = [&](int who) {
            return [&r, &left, &done, who](const timer_tick& tick) {
                r.order.push_back(who);
                r.order.push_back(tick.due);
                if (--left == 0) done.set();
            };
        };
        left = 3 + 4 + 6;
        braid::message_source<int> inbox(s, {.batch = 2}, [&](std::span<int> some) {
            for (const int one : some) r.order.push_back(-one);
            left -= static_cast<int>(some.size());
            if (left == 0) done.set();
        });
        std::vector<std::unique_ptr<timer>> all;
        for (int who = 0; who < 3; ++who) {
            all.push_back(std::make_unique<timer>(s, braid::timer_options{.in = nanoseconds{1'000}},
                                                  tick_of(who)));
        }
        timer other(s, {.in = nanoseconds{1'500}}, [&] { r.order.push_back(77); });
        int ticks = 0;
        timer* self = nullptr;
        timer often(s, {.in = braid::no_limit, .every = nanoseconds{500}},
                    [&](const timer_tick& tick) {
                        r.order.push_back(8);
                        r.order.push_back(tick.due);
                        if (ticks == 2) other.cancel();
                        if (++ticks > 4) {
                            self->cancel();
                            return;
                        }
                        if (--left == 0) done.set();
                        for (int i = 0; i < 2 && ticks < 4; ++i)
                            EXPECT_TRUE(inbox.push(ticks * 2 + i));
                    });
        self = &often;  // before the first tick, which may come at once
        often.restart(nanoseconds{500});
        s.do_work_while_waiting_for(done);
        r.unchosen = s.statistics().unchosen;
    }
    r.decisions = chooser.log();
    r.arrivals = chooser.asked(decision_kind::arrival);
    r.standstills = chooser.standstills();
    return r;
}

TEST_F(TimerChooser, TheSameSeedGivesTheSameRun) {
    std::set<std::vector<std::int64_t>> orders;
    std::size_t arrivals = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const int workers = static_cast<int>(seed % 3);
        const run once = play(seed, workers), again = play(seed, workers);
        ASSERT_EQ(once.decisions, again.decisions) << "seed " << seed;
        ASSERT_EQ(once.order, again.order) << "seed " << seed;
        ASSERT_EQ(once.unchosen, 0U) << "seed " << seed;
        ASSERT_EQ(once.standstills, 0) << "seed " << seed;
        arrivals += once.arrivals;
        orders.insert(once.order);
    }
    EXPECT_GE(arrivals, 100U);
    EXPECT_GE(orders.size(), 20U);
}

TEST_F(TimerChooser, AnHourGoesByInNoTime) {
    seeded_chooser chooser(1);
    braid::scheduler_options o;
    o.workers = 1;
    o.chooser = &chooser;
    braid::scheduler s(o);
    std::int64_t due = 0;
    braid::event done(s);
    timer far(s, {.in = braid::seconds(3'600)}, [&](const timer_tick& tick) {
        due = tick.due;
        done.set();
    });
    s.do_work_while_waiting_for(done);
    EXPECT_EQ(due, 3'600'000'000'000);
}

TEST_F(TimerChooser, OfTimersThatAreDueTogetherEachMayComeFirst) {
    std::set<std::int64_t> first;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const run r = play(seed, 1);
        for (std::size_t i = 0; i + 1 < r.order.size(); ++i) {
            if (r.order[i] < 0 || r.order[i] > 2 || r.order[i + 1] != 1'000) continue;
            first.insert(r.order[i]);
            break;
        }
    }
    EXPECT_EQ(first.size(), 3U);
}

}  // namespace
