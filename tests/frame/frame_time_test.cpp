// F5, F6, F9: fixed steps, work over several frames, a thread of fixed rate. The time is the test's
// own, but for the last test.
#include <braid/frame/fixed_step.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/frame/rate_thread.hpp>
#include <braid/frame/spread_work.hpp>

#include "frame/rate_schedule.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace {

using braid::microseconds;
using braid::milliseconds;
using braid::nanoseconds;
using braid::seconds;

/// A clock that stands still until somebody moves it, or waits.
struct moved_clock : braid::system_policy {
    static inline std::int64_t time = 0;
    static inline std::int64_t oversleeps = 0;  // by how much a wait ends late
    static std::int64_t now() { return time; }
    static void wait(const atomic<std::uint32_t>&, std::uint32_t, std::int64_t deadline) {
        time = deadline + std::exchange(oversleeps, 0);
    }
};

constexpr nanoseconds step = milliseconds(10);

TEST(FixedStep, TakesTheStepsThatTheTimeIsLongAndLosesNone) {
    braid::fixed_step steps({.step = step, .most_steps = 4});
    std::int64_t time = 0;
    for (std::int64_t frame = 0; frame < 1000; ++frame) {
        const nanoseconds elapsed{frame * 7'919'000 % 35'000'001};
        time += elapsed.value;
        steps.advance(elapsed);
        ASSERT_EQ(steps.steps(), static_cast<std::uint64_t>(time / step.value));
        const double past = static_cast<double>(time % step.value);
        ASSERT_NEAR(steps.blend(), past / static_cast<double>(step.value), 1e-12);
    }
    EXPECT_EQ(steps.dropped(), nanoseconds{0});
}

TEST(FixedStep, SurvivesAStallOfTwoSecondsInOneFrame) {
    braid::fixed_step steps({.step = step, .most_steps = 4});
    EXPECT_EQ(steps.advance(step), 1U);
    EXPECT_EQ(steps.advance(seconds(2)), 4U);
    EXPECT_EQ(steps.dropped(), nanoseconds{196 * step.value});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(steps.advance(step), 1U) << "as if nothing had been";
}

TEST(FixedStep, AGameThatCannotKeepUpBecomesSlowAndDoesNotSpiral) {
    // Each step takes longer to compute than it is long: without a clamp each frame would take
    // longer than the one before.
    braid::fixed_step steps({.step = step, .most_steps = 4});
    nanoseconds frame = step;
    for (int i = 0; i < 100; ++i) {
        const unsigned due = steps.advance(frame);
        ASSERT_LE(due, 4U);
        frame = nanoseconds{due * 15'000'000 + 1'000'000};
    }
    // The load goes away: at once it runs at its rate again.
    frame = nanoseconds{steps.advance(frame) * 1'000'000 + 1'000'000};
    std::uint64_t before = steps.steps();
    for (int i = 0; i < 100; ++i) steps.advance(step);
    EXPECT_EQ(steps.steps() - before, 100U);
}

TEST(FixedStep, ScalesTimeWithoutLosingFractions) {
    braid::fixed_step fine({.step = nanoseconds{1000}, .time_scale = 0.25});
    for (int i = 0; i < 4000; ++i) fine.advance(nanoseconds{3});
    EXPECT_EQ(fine.steps(), 3U) << "of 12000 ns, a quarter";
    braid::fixed_step steps({.step = step});
    steps.set_time_scale(0);
    EXPECT_EQ(steps.advance(seconds(5)), 0U);
    steps.set_time_scale(-3);
    EXPECT_EQ(steps.advance(seconds(5)), 0U);
    steps.set_time_scale(2);
    EXPECT_EQ(steps.advance(nanoseconds{step.value / 2}), 1U);
    EXPECT_EQ(steps.advance(seconds(-5)), 0U);
    EXPECT_LT(steps.blend(), 1.0);
    EXPECT_EQ(steps.advance(nanoseconds{INT64_MAX}), 4U);
    EXPECT_LT(steps.blend(), 1.0);
}

TEST(FixedStep, TakesAnyNumbers) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const std::int64_t ns :
         {INT64_MIN, std::int64_t{0}, std::int64_t{1}, INT64_MAX - 1, INT64_MAX}) {
        for (const unsigned most : {0U, 1U, UINT32_MAX - 1, UINT32_MAX}) {
            for (const double scale : {-infinity, -1.0, 0.0, 1.0, 1e300, infinity, std::nan("")}) {
                braid::fixed_step steps(
                    {.step = nanoseconds{ns}, .most_steps = most, .time_scale = scale});
                for (int i = 0; i < 300; ++i) {  // of years: more than fit into 64 bits
                    EXPECT_LE(steps.advance(nanoseconds{INT64_MAX}), std::max(most, 1U));
                    EXPECT_EQ(steps.advance(nanoseconds{INT64_MIN}), 0U);
                    ASSERT_GE(steps.blend(), 0.0);
                    ASSERT_LT(steps.blend(), 1.0);
                    ASSERT_GE(steps.dropped().value, 0);
                }
            }
        }
    }
}

TEST(FixedStep, TakesAYearAtMostAtOnce) {
    braid::fixed_step clock({.step = braid::seconds(1), .most_steps = UINT_MAX});
    EXPECT_EQ(clock.advance(braid::nanoseconds(INT64_MAX)), 31'536'000U);
}

TEST(Jitter, KnowsTheQuantileOfAnyShare) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    braid::time_histogram late;
    EXPECT_EQ(late.quantile(std::nan("")).value, 0);
    for (const std::int64_t ns : {INT64_MIN, std::int64_t{0}, std::int64_t{5}, INT64_MAX}) {
        late.add(nanoseconds{ns});
    }
    EXPECT_EQ(late.count(), 4U);
    for (const double share : {std::nan(""), -infinity, -1.0, 0.0}) {
        EXPECT_EQ(late.quantile(share).value, 0) << share;
    }
    for (const double share : {1.0, 1.5, 1e300, infinity}) {
        EXPECT_EQ(late.quantile(share).value, INT64_MAX) << share;
    }
    EXPECT_EQ(late.quantile(0.75).value, 5);
}

BRAID_SCHEDULER_TEST(SpreadWork);
using spread_work = braid::basic_spread_work<moved_clock>;

TEST_P(SpreadWork, RunsAsManyChunksAsFitAndOneAtLeast) {
    braid::scheduler s(options());
    spread_work work(s, {.budget = milliseconds(1)});
    std::vector<std::size_t> ran;
    const auto chunks_of = [&](nanoseconds each) {
        return [&ran, each](std::size_t i) {
            ran.push_back(i);
            moved_clock::time += each.value;
        };
    };
    EXPECT_EQ(work.run_frame(), 0U);
    ASSERT_TRUE(work.add({.name = "small"}, 10, chunks_of(microseconds(300))));
    ASSERT_TRUE(work.add({.name = "large"}, 3, chunks_of(milliseconds(5))));
    EXPECT_EQ(work.jobs(), 2U);
    for (int frame = 0; frame < 3; ++frame) EXPECT_EQ(work.run_frame(), 3U) << "0.9 ms";
    EXPECT_EQ(work.statistics().over_budget, 0U);
    EXPECT_EQ(work.run_frame(), 2U) << "the last small one, and a large one nobody knew";
    EXPECT_EQ(work.run_frame(), 1U);
    EXPECT_EQ(work.jobs(), 1U);
    EXPECT_EQ(work.run_frame(), 1U);
    EXPECT_EQ(work.run_frame(), 0U);
    EXPECT_EQ(ran, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2}));
    EXPECT_EQ(work.jobs(), 0U);
    EXPECT_EQ(work.statistics().finished, 2U);
    EXPECT_EQ(work.statistics().over_budget, 3U);
    EXPECT_STREQ(work.statistics().longest_in, "large");
    EXPECT_EQ(work.statistics().longest_chunk, milliseconds(5));
}

TEST_P(SpreadWork, TakesAnyBudgetAndAnyNumberOfChunks) {
    braid::scheduler s(options());
    for (const std::int64_t budget : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
        spread_work work(s, {.budget = nanoseconds{budget}});
        std::size_t ran = 0;
        ASSERT_TRUE(work.add({.name = "none"}, 0, [&](std::size_t) { ++ran; }));
        ASSERT_TRUE(work.add({.name = "three"}, 3, [&](std::size_t) {
            ++ran;
            ++moved_clock::time;
        }));
        EXPECT_EQ(work.run_frame(), budget > 0 ? 3U : 1U);
        ASSERT_TRUE(work.add({.name = "all"}, SIZE_MAX, [](std::size_t) { throw 1; }));
        for (int i = 0; work.jobs() > 1 && i < 10; ++i) {
            try {
                work.run_frame();
            } catch (int) {
            }
        }
        EXPECT_EQ(ran, 3U);
    }
}

TEST_P(SpreadWork, OneChunkThatWasInterruptedIsForgotten) {
    braid::scheduler s(options());
    spread_work work(s, {.budget = milliseconds(1)});
    work.add({}, 1000, [](std::size_t i) { moved_clock::time += i == 3 ? 20'000'000 : 100'000; });
    std::vector<std::size_t> ran;
    for (int frame = 0; frame < 40; ++frame) ran.push_back(work.run_frame());
    EXPECT_EQ(ran[0], 4U);
    EXPECT_EQ(ran[1], 1U);
    EXPECT_EQ(ran[39], 10U);
}

TEST_P(SpreadWork, NoFrameStallsForWorkOfAHundredFrames) {
    braid::scheduler s(options());
    spread_work work(s, {.budget = milliseconds(1)});
    braid::frame_loop loop(s, {.depth = 1});
    braid::frame_stage simulate(loop);
    std::vector<std::int64_t> took;
    std::vector<int> touched(1000);
    simulate.add([&] {
        const std::int64_t began = moved_clock::time;
        work.run_frame();
        took.push_back(moved_clock::time - began);
    });
    work.add({.name = "paths"}, touched.size(), [&](std::size_t i) {
        ++touched[i];
        moved_clock::time += 100'000;
    });
    while (work.jobs() != 0) {
        loop.advance();
        loop.finish();
    }
    EXPECT_EQ(took.size(), 100U);
    for (const std::int64_t t : took) EXPECT_EQ(t, 1'000'000);
    EXPECT_EQ(std::accumulate(touched.begin(), touched.end(), 0), 1000);
}

TEST_P(SpreadWork, JobsMayAddJobsThrowAndBeDropped) {
    braid::scheduler s(options());
    const auto token = std::make_shared<int>(0);
    {
        spread_work work(s);
        struct broken {};
        work.add({}, 2, [&](std::size_t) { work.add({}, 0, [token](std::size_t) {}); });
        work.add({}, 5, [token](std::size_t i) {
            if (i == 1) throw broken();
        });
        work.add({}, 5, [token](std::size_t) { ++*token; });
        EXPECT_THROW(work.run_frame(), broken);
        EXPECT_EQ(work.jobs(), 3U) << "the third, and two that were added";
        EXPECT_EQ(work.run_frame(), 5U);
        EXPECT_EQ(*token, 5);
        EXPECT_EQ(work.jobs(), 0U);
        work.add({}, 5, [token](std::size_t) {});
    }
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_EQ(s.bytes(braid::memory_tag::closure), 0U);
}

TEST(Jitter, QuantilesAreAnEighthTooLargeAtMost) {
    braid::time_histogram late;
    EXPECT_EQ(late.quantile(0.5), nanoseconds{0});
    std::vector<std::int64_t> all;
    std::uint64_t z = 1;
    for (int i = 0; i < 20'000; ++i) {
        z = z * 6364136223846793005U + 1442695040888963407U;
        all.push_back(static_cast<std::int64_t>(z >> (30 + z % 30)));
        late.add(nanoseconds{all.back()});
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
        const auto at = static_cast<std::size_t>(share * static_cast<double>(all.size()));
        const std::int64_t exact = all[at == 0 ? 0 : at - 1];
        EXPECT_GE(late.quantile(share).value, exact);
        EXPECT_LE(late.quantile(share).value, exact + exact / 8 + 1);
    }
    EXPECT_EQ(late.longest().value, all.back());
    late.add(nanoseconds{-5});
    late.add(nanoseconds{INT64_MAX});
    EXPECT_EQ(late.longest().value, INT64_MAX);
    EXPECT_EQ(late.count(), 20'002U);
}

TEST(RateThread, TicksLieOnAGridAndMissedOnesAreLeftOut) {
    moved_clock::time = 1000;
    braid::system_policy::atomic<std::uint32_t> stop{0};
    braid::detail::rate_counts counts;
    braid::detail::basic_rate_schedule<moved_clock> schedule(milliseconds(4));
    const auto at = [](std::int64_t ms) { return 1000 + ms * 1'000'000; };
    for (std::uint64_t n = 1; n <= 10; ++n) {
        moved_clock::oversleeps = 50'000;
        ASSERT_TRUE(schedule.wait(stop));
        const braid::rate_tick tick = schedule.next(counts);
        EXPECT_EQ(tick.number, n);
        EXPECT_EQ(tick.due, at(static_cast<std::int64_t>(n) * 4)) << "lateness does not add up";
        EXPECT_EQ(tick.began, tick.due + 50'000);
    }
    EXPECT_EQ(counts.missed, 0U);
    // A stall of 21 ms: tick 11 was due at 44 and comes at 65, as tick 16, which is due at 64.
    moved_clock::oversleeps = 21'000'000;
    ASSERT_TRUE(schedule.wait(stop));
    braid::rate_tick tick = schedule.next(counts);
    EXPECT_EQ(tick.number, 16U);
    EXPECT_EQ(tick.due, at(64));
    EXPECT_EQ(counts.missed, 5U);
    EXPECT_EQ(counts.lateness.longest(), milliseconds(21));
    ASSERT_TRUE(schedule.wait(stop));
    tick = schedule.next(counts);
    EXPECT_EQ(tick.due, at(68)) << "back on the grid at once";
    EXPECT_EQ(tick.began, tick.due);
    EXPECT_EQ(counts.lateness.count(), 12U);
    stop = 1;
    EXPECT_FALSE(schedule.wait(stop));
}

TEST(RateThread, APeriodThatEndsAfterTheLastMomentNeverTicks) {
    moved_clock::time = 1'000;
    for (const std::int64_t period : {INT64_MAX - 1'000, INT64_MAX - 1, INT64_MAX}) {
        const braid::detail::basic_rate_schedule<moved_clock> schedule(nanoseconds{period});
        moved_clock::time = 1'000;
        const moved_clock::atomic<std::uint32_t> stop{0};
        ASSERT_TRUE(schedule.wait(stop));  // the clock of the test sleeps to the end
        EXPECT_EQ(moved_clock::time, INT64_MAX) << period;
        moved_clock::time = 1'000;
    }
    braid::detail::rate_counts counts;
    braid::detail::basic_rate_schedule<moved_clock> last(nanoseconds{INT64_MAX / 2});
    const moved_clock::atomic<std::uint32_t> stop{0};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(last.wait(stop));
        EXPECT_GT(last.next(counts).due, 0) << "the sum of periods does not wrap";
    }
    moved_clock::time = 0;
}

BRAID_SCHEDULER_TEST(Rate);

TEST_P(Rate, TakesAnyNumbers) {
    braid::scheduler s(options());
    for (const std::int64_t period : {INT64_MIN, std::int64_t{0}, std::int64_t{1}}) {
        std::atomic<int> ticks{0};
        braid::rate_thread often(
            s, {.period = nanoseconds{period}, .nice = INT32_MAX, .stack_bytes = 1},
            [&](const braid::rate_tick&) { ++ticks; });
        ASSERT_TRUE(often.running());
        braid_test::until([&] { return ticks > 3; });
    }
    for (const std::int64_t period : {INT64_MAX - 1, INT64_MAX}) {
        std::atomic<int> ticks{0};
        {
            braid::rate_thread never(s, {.period = nanoseconds{period}},
                                     [&](const braid::rate_tick&) { ++ticks; });
            EXPECT_TRUE(never.running());
        }
        EXPECT_EQ(ticks, 0);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "rate_options::period"), 2U);
}

TEST_P(Rate, SamplesArriveInOrderAndTheOldestGiveWay) {
    braid::scheduler s(options());
    braid::sampler<std::uint64_t, 8> pad(
        s, {.name = "pad", .period = microseconds(100)},
        [](const braid::rate_tick& tick) { return tick.number * 3; });
    ASSERT_TRUE(pad.running());
    braid_test::until([&] { return pad.report().ticks > 20; });
    EXPECT_GT(pad.dropped(), 0U) << "nobody took any";
    std::uint64_t last = 0, taken = 0;
    braid::sampler<std::uint64_t, 8>::sample one;
    braid_test::until([&] {
        while (pad.take(one)) {
            EXPECT_GT(one.tick.number, last);
            EXPECT_EQ(one.value, one.tick.number * 3);
            last = one.tick.number;
            ++taken;
        }
        return taken > 50;
    });
    pad.stop();
    pad.stop();
    while (pad.take(one)) ++taken;
    EXPECT_EQ(taken + pad.dropped(), pad.report().ticks) << "each was taken or dropped";
    EXPECT_FALSE(pad.running());
}

TEST_P(Rate, ASampleThatWasTakenOrGaveWayIsHeldByNobodyElse) {
    // Copied, never moved.
    struct counted {
        std::shared_ptr<int> held;
        counted() = default;
        explicit counted(std::shared_ptr<int> what) : held(std::move(what)) {}
        counted(const counted&) = default;
        counted& operator=(const counted&) = default;
    };
    const auto all = std::make_shared<int>(0);
    braid::scheduler s(options());
    braid::sampler<counted, 8> pad(s, {.name = "pad", .period = microseconds(100)},
                                   [&all](const braid::rate_tick&) { return counted(all); });
    braid_test::until([&] { return pad.dropped() > 20; });
    pad.stop();
    {
        braid::sampler<counted, 8>::sample one;
        while (pad.take(one)) {
        }
    }
    EXPECT_EQ(all.use_count(), 1);
}

TEST_P(Rate, ATickThatThrowsIsReportedAndTheNextComes) {
    braid::scheduler s(options());
    {
        braid::rate_thread thread(s, {.name = "bad", .period = microseconds(200)},
                                  [](const braid::rate_tick& tick) {
                                      if (tick.number % 2 == 1) throw std::runtime_error("odd");
                                  });
        braid_test::until([&] { return thread.report().failures >= 3; });
    }
    EXPECT_GE(notes_.count(&braid_test::recorder::lost, "bad"), 3U);
}

TEST_P(Rate, LackOfMemoryLeavesItWithoutAThread) {
    braid::scheduler_options o = options();
    o.memory_budget_bytes = 64 << 20;
    braid::scheduler s(o);
    struct large {
        char bytes[65 << 20];
        void operator()(const braid::rate_tick&) const {}
    };
    const auto body = std::make_unique<large>();
    braid::rate_thread thread(s, {}, *body);
    EXPECT_FALSE(thread.running());
    EXPECT_EQ(thread.report().ticks, 0U);
    thread.stop();
}

TEST_P(Rate, GoesOnWhileTheFrameTakesAllThreads) {
    braid::scheduler_options o = options();
    o.workers = std::min(o.workers, 8);  // 64 busy threads say nothing on a few cores
    braid::scheduler s(o);
    const int threads = o.workers + 1;
    std::atomic<int> busy{0};
    std::atomic<std::uint64_t> last{0}, ticks_meanwhile{0};
    braid::rate_thread input(s, {.name = "input", .period = milliseconds(4)},
                             [&](const braid::rate_tick& tick) {
                                 last = tick.number;
                                 if (busy == threads) ++ticks_meanwhile;
                             });
    ASSERT_TRUE(input.running());
    // Frame work on every worker, and on this thread, until enough ticks have come meanwhile.
    std::vector<braid::task_id> work;
    for (int i = 0; i < threads; ++i) {
        work.push_back(s.spawn({.name = "busy", .may_be_long = true}, [&] {
            ++busy;
            while (ticks_meanwhile < 20) braid::system_policy::relax();
        }));
    }
    for (const braid::task_id id : work) s.wait(id);
    input.stop();
    const braid::rate_report report = input.report();
    EXPECT_GE(report.ticks, ticks_meanwhile);
    EXPECT_EQ(report.ticks + report.missed, last);
    EXPECT_LE(report.p50, report.p99);
    EXPECT_LE(report.p99, report.longest);
}

}  // namespace
