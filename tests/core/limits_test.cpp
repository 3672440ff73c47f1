// Numbers at the edges of their ranges, and beyond.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <climits>
#include <limits>

namespace {

using braid::nanoseconds;
using braid::scheduler_options;
using braid_test::door;
using braid_test::recorder;

class Limits : public testing::Test {
protected:
    scheduler_options options() {
        scheduler_options o;
        o.workers = 1;
        o.ring = 2;
        notes_.install(o);
        return o;
    }
    void expect_works(const scheduler_options& o) {
        braid::scheduler s(o);
        std::atomic<int> ran{0};
        braid::scope all(s);
        for (int i = 0; i < 100; ++i) all.post([&] { ++ran; });
        all.spawn({.runs_as = braid::task_class::background}, [&] { ++ran; });
        std::thread([&] { s.post([&] { ++ran; }); }).join();
        all.wait();
        s.shut_down();
        EXPECT_EQ(ran, 102);
    }
    std::size_t reports() { return notes_.count(&recorder::log, "out of range"); }

    braid_test::deadline deadline_;
    recorder notes_;
};

TEST_F(Limits, WorkersOutOfRangeCountAsTheNearestAndAreReportedToTheLog) {
    constexpr int most = scheduler_options::most_workers;
    for (const int workers : {0, 1, most - 1, most}) {
        scheduler_options o = options();
        o.workers = workers;
        EXPECT_EQ(braid::scheduler(o).worker_count(), static_cast<unsigned>(workers));
    }
    EXPECT_EQ(reports(), 0U);
    std::size_t expected = 0;
    for (const int workers : {most + 1, 1'000'000, INT_MAX}) {
        scheduler_options o = options();
        o.workers = o.max_workers = workers;
        braid::scheduler s(o);
        EXPECT_EQ(s.worker_count(), static_cast<unsigned>(most));
        s.set_worker_count(UINT_MAX);
        EXPECT_EQ(s.worker_count(), static_cast<unsigned>(most));
        EXPECT_EQ(reports(), expected += 2);
    }
    EXPECT_EQ(notes_.count(&recorder::log, "workers = 1000000 is out of range and counts as 128"),
              2U);
    scheduler_options o = options();
    o.workers = INT_MIN;  // as automatic
    EXPECT_LE(braid::scheduler(o).worker_count(), static_cast<unsigned>(most));
    o.workers = 4;
    o.max_workers = 2;
    EXPECT_EQ(braid::scheduler(o).worker_count(), 4U) << "max_workers is workers at least";
    o.workers = o.max_workers = 0;
    braid::scheduler none(o);
    none.set_worker_count(1);
    EXPECT_EQ(none.worker_count(), 0U) << "0 is no default";
}

TEST_F(Limits, EachNumberOfASchedulerMayBeAnything) {
    for (const std::uint32_t ring : {0U, 1U, 2U, 3U, scheduler_options::most_ring - 1,
                                     scheduler_options::most_ring, UINT32_MAX}) {
        scheduler_options o = options();
        o.ring = ring;
        expect_works(o);
    }
    for (const int n : {INT_MIN, -1, 0, 1, 63, 64, 255, 256, 257, INT_MAX - 1, INT_MAX}) {
        scheduler_options o = options();
        o.max_reserves = o.background_threads = o.guests = o.main_threads = n;
        expect_works(o);
        o.workers = scheduler_options::automatic;  // cores minus main_threads
        expect_works(o);
    }
    EXPECT_EQ(notes_.count(&recorder::log, "::main_threads"), 8U);
    for (const int n :
         {scheduler_options::most_main_threads - 1, scheduler_options::most_main_threads}) {
        scheduler_options o = options();
        o.main_threads = n;
        expect_works(o);
    }
    EXPECT_EQ(notes_.count(&recorder::log, "::main_threads"), 8U) << "these are in the range";
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, SIZE_MAX - 1, SIZE_MAX}) {
        scheduler_options o = options();
        o.stack_reserve_bytes = bytes;
        expect_works(o);
    }
    for (const std::int64_t ns : {INT64_MIN, std::int64_t{0}, std::int64_t{1}, INT64_MAX}) {
        scheduler_options o = options();
        o.long_task = nanoseconds{ns};
        expect_works(o);
    }
}

TEST_F(Limits, TheTimesOfDeadlockOptionsAreFromAMillisecondToAnHourOrADay) {
    const nanoseconds least = braid::milliseconds(1);
    using time = nanoseconds braid::deadlock_options::*;
    const auto expect_limits = [&](time which, nanoseconds most) {
        const auto counts_as = [&](nanoseconds wanted) {
            scheduler_options o = options();
            o.deadlock.*which = wanted;
            braid::scheduler s(o);
            return s.internals().options.deadlock.*which;
        };
        const std::size_t before = reports();
        for (const nanoseconds inside : {least, most, braid::no_limit}) {
            EXPECT_EQ(counts_as(inside), inside);
        }
        EXPECT_EQ(reports() - before, 0U);
        for (const nanoseconds below :
             {nanoseconds(INT64_MIN), nanoseconds(0), nanoseconds(least.value - 1)}) {
            EXPECT_EQ(counts_as(below), least);
        }
        for (const nanoseconds above : {nanoseconds(most.value + 1), nanoseconds(INT64_MAX - 1)}) {
            EXPECT_EQ(counts_as(above), most);
        }
        EXPECT_EQ(reports() - before, 5U);
    };
    expect_limits(&braid::deadlock_options::after, braid::seconds(3600));
    expect_limits(&braid::deadlock_options::outside, braid::seconds(86'400));
}

TEST_F(Limits, ThreadsStartWithAnyStackNiceAndCore) {
    using range = braid::thread_options;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, range::least_stack}) {
        scheduler_options o = options();
        o.worker_threads.stack_bytes = bytes;
        expect_works(o);
    }
    for (const std::size_t bytes : {range::most_stack - 1, range::most_stack, SIZE_MAX}) {
        scheduler_options o = options();
        o.worker_threads.stack_bytes = bytes;
        braid::scheduler s(o);
        bool ran = false;
        s.wait(s.spawn([&] { ran = true; }));
        EXPECT_TRUE(ran);
    }
    for (const int n : {INT_MIN, -20, -1, 0, 19, 20, 1022, 1023, 1024, INT_MAX}) {
        scheduler_options o = options();
        o.worker_threads.nice = n;
        o.worker_threads.pin = true;
        o.worker_threads.first_cpu = n;
        expect_works(o);
    }
    // The largest: the system has no room for them, the log says so, and the work is done.
    EXPECT_EQ(notes_.count(&recorder::log, "refused to start"), 3U);
    EXPECT_EQ(notes_.count(&recorder::log, "stack_bytes"), 2U);
    EXPECT_EQ(notes_.count(&recorder::log, "::nice"), 6U);
    EXPECT_EQ(notes_.count(&recorder::log, "first_cpu"), 4U);
}

// ---- time --------------------------------------------------------------------------------------

/// Durations that end after the last moment of the clock.
std::vector<nanoseconds> endless() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {nanoseconds{INT64_MAX},
            nanoseconds{INT64_MAX - 1},
            nanoseconds{INT64_MAX - 1'000'000'000},
            braid::seconds(INT64_MAX),
            std::chrono::nanoseconds::max(),
            std::chrono::hours::max(),
            std::chrono::duration<double>(infinity),
            std::chrono::duration<double>(1e300)};
}
std::vector<nanoseconds> over_at_once() {
    return {nanoseconds{INT64_MIN},
            nanoseconds{-1},
            nanoseconds{0},
            nanoseconds{1},
            std::chrono::duration<double>(-std::numeric_limits<double>::infinity()),
            std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())};
}

/// Opens the door when this thread sleeps in `wait`, and not before.
template <class Wait>
bool waits_until_opened(braid::scheduler& s, door& go, Wait&& wait) {
    const unsigned seat = s.this_thread().seat;
    const std::uint64_t parks = s.statistics(seat).parks;
    std::atomic<bool> returned{false};
    std::thread opener([&] {
        braid_test::until([&] { return returned || s.statistics(seat).parks != parks; });
        go.open();
    });
    const bool over = wait();
    returned = true;
    opener.join();
    return over;
}

TEST_F(Limits, AnEndlessTimeOutNeverEndsAWait) {
    braid::scheduler s(options());
    for (const nanoseconds timeout : endless()) {
        {
            door go;
            const braid::task_id id = s.spawn([&] { go.pass(); });
            EXPECT_TRUE(waits_until_opened(s, go, [&] {
                return s.wait_for(id, timeout, braid::help::none);
            })) << timeout.value;
            s.wait(id);
        }
        {
            door go;
            braid::scope all(s);
            all.post([&] { go.pass(); });
            EXPECT_TRUE(waits_until_opened(s, go, [&] {
                return all.wait_for(timeout, braid::help::none);
            })) << timeout.value;
            all.wait();
        }
        {
            door go;
            braid::event e(s);
            std::thread setter([&] {
                go.pass();
                e.set();
            });
            EXPECT_TRUE(waits_until_opened(s, go, [&] {
                return s.do_work_while_waiting_for(e, timeout);
            })) << timeout.value;
            setter.join();
        }
    }
}

TEST_F(Limits, AShortOrNegativeTimeOutEndsAWait) {
    braid::scheduler s(options());
    for (const nanoseconds timeout : over_at_once()) {
        door go;
        const braid::task_id id = s.spawn([&] { go.pass(); });
        EXPECT_FALSE(s.wait_for(id, timeout, braid::help::none)) << timeout.value;
        braid::event e(s);
        EXPECT_FALSE(s.do_work_while_waiting_for(e, timeout)) << timeout.value;
        go.open();
        s.wait(id);
        EXPECT_TRUE(s.wait_for(id, timeout));
    }
}

TEST_F(Limits, WorkThatIsExpectedAfterTheEndOfTimeIsNotExpected) {
    if (!braid::detail::policies::expect_work) GTEST_SKIP() << "built without the policy";
    braid::scheduler s(options());
    const auto expected = [&] { return s.internals().expected_work(); };
    for (const nanoseconds in : endless()) {
        s.expect_work(braid::milliseconds(1));
        EXPECT_GT(expected(), 0);
        s.expect_work(in);
        EXPECT_EQ(expected(), 0) << in.value;
        s.wait(s.spawn([] {}));
    }
    for (const nanoseconds in : over_at_once()) {
        s.expect_work(in);
        EXPECT_GE(expected(), 0) << in.value;
        EXPECT_LE(expected(), braid::active_policy::now() + 1) << in.value;
        s.wait(s.spawn([] {}));
    }
}

// ---- tables and counts -------------------------------------------------------------------------

TEST_F(Limits, APriorityTableWithALevelThatIsNoneIsRefusedAsAWhole) {
    using level = braid::priority_level;
    braid::scheduler s(options());
    std::vector<level> table(257, level::high);
    s.set_priority_table(table.data(), 256);
    EXPECT_EQ(notes_.count(&recorder::misuse), 0U);
    const auto entry = [&](std::uint8_t i) { return s.internals().slots.level_of_category(i); };
    EXPECT_EQ(entry(0), level::high);
    EXPECT_EQ(entry(255), level::high);

    table[1] = level::low;
    s.set_priority_table(table.data(), 257);
    EXPECT_EQ(notes_.count(&recorder::misuse), 1U);
    for (const int none : {3, 99, 255}) {
        table[200] = static_cast<level>(none);
        s.set_priority_table(table.data(), 256);
    }
    EXPECT_EQ(notes_.count(&recorder::misuse), 4U);
    s.set_priority_table(nullptr, 1);
    EXPECT_EQ(notes_.count(&recorder::misuse), 5U);
    EXPECT_EQ(entry(1), level::high) << "nothing of a table that is refused";
    s.set_priority_table(nullptr, 0);
    table.assign(1, level::low);
    s.set_priority_table(table.data(), 1);
    EXPECT_EQ(notes_.count(&recorder::misuse), 5U);
    EXPECT_EQ(entry(0), level::low);
    EXPECT_EQ(entry(1), level::high);

    EXPECT_FALSE(s.spawn({.priority = static_cast<level>(99)}, [] {}));
    EXPECT_EQ(notes_.count(&recorder::misuse), 6U);
    bool ran = false;
    s.wait(s.spawn({.category = 255}, [&] { ran = true; }));
    EXPECT_TRUE(ran);
}

TEST_F(Limits, ABatchOfMoreBodiesThanCanBeCountedIsRefused) {
    braid::scheduler s(options());
    constexpr std::size_t most = braid::scheduler::most_bodies;
    std::atomic<std::size_t> ran{0};
    const auto body = [&](std::size_t) { ++ran; };
    for (const std::size_t count : {most + 1, SIZE_MAX - 1, SIZE_MAX}) {
        EXPECT_FALSE(s.spawn_batch({}, count, body));
    }
    EXPECT_EQ(notes_.count(&recorder::misuse), 3U);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
        s.wait(s.spawn_batch({}, count, body));
    }
    EXPECT_EQ(ran, 1U);
    // The largest are taken, too; cancelled before they begin, they need no week.
    braid::scope none(s);
    none.cancel();
    for (const std::size_t count : {most - 1, most}) {
        EXPECT_TRUE(s.spawn_batch({.within = &none}, count, body));
    }
    none.wait();
    EXPECT_EQ(ran, 1U);
}

}  // namespace
