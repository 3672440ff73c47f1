// C24: what was done, by whom, and what kind of task takes the time.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <map>

namespace {

BRAID_SCHEDULER_TEST(Statistics);

void busy(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

std::map<std::string, braid::task_type_statistics> types(const braid::scheduler& s) {
    std::array<braid::task_type_statistics, 64> rows;
    const std::size_t n = s.statistics(rows.data(), rows.size());
    std::map<std::string, braid::task_type_statistics> result;
    for (std::size_t i = 0; i < n; ++i) result[rows[i].name] = rows[i];
    return result;
}

TEST_P(Statistics, OfSeatsAndOfTypesAddUpToTheWhole) {
    braid::scheduler_options o = options();
    o.statistics = true;
    braid::scheduler s(o);
    braid::scope all(s);
    for (int i = 0; i < 300; ++i) {
        all.spawn({.name = i % 3 == 0 ? "skin" : "pose"},
                  [] { busy(std::chrono::microseconds(3)); });
    }
    // What an outer task can have worked: all time from before its spawn to after its end, less
    // what its wait took at least. The inner one is for the same thread, so it runs in that wait.
    std::int64_t most_outer_ns = 0;
    for (int i = 0; i < 10; ++i) {
        all.wait();
        std::int64_t in_wait_ns = 0;
        const std::int64_t before = braid::active_policy::now();
        all.spawn({.name = "outer"}, [&](braid::task_context& task) {
            task.wait(task.spawn({.name = "inner", .on = s.this_thread()}, [&] {
                const std::int64_t began = braid::active_policy::now();
                busy(std::chrono::milliseconds(2));
                in_wait_ns = braid::active_policy::now() - began;
            }));
        });
        all.wait();
        most_outer_ns += braid::active_policy::now() - before - in_wait_ns;
    }
    s.shut_down();
    braid::scheduler_statistics sum;
    std::uint64_t executed = 0, busy_ns = 0, stolen = 0, helped = 0, parks = 0;
    do {
        sum = s.statistics();
        executed = busy_ns = stolen = helped = parks = 0;
        for (unsigned seat = 0; seat < s.seat_count(); ++seat) {
            const braid::seat_statistics row = s.statistics(seat);
            executed += row.executed;
            busy_ns += row.busy_ns;
            stolen += row.stolen;
            helped += row.helped;
            parks += row.parks;
        }
        // A worker whose last wake-up came too late falls asleep once more.
    } while (s.statistics().parks != sum.parks);
    EXPECT_EQ(sum.executed, 320U);
    EXPECT_EQ(executed, sum.executed);
    EXPECT_EQ(stolen, sum.stolen);
    EXPECT_EQ(helped, sum.helped);
    EXPECT_EQ(parks, sum.parks);

    auto rows = types(s);
    EXPECT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows["skin"].count, 100U);
    EXPECT_EQ(rows["pose"].count, 200U);
    std::uint64_t total_ns = 0;
    for (const auto& [name, row] : rows) {
        total_ns += row.total_ns;
        EXPECT_GE(row.total_ns, row.longest_ns) << name;
    }
    EXPECT_EQ(total_ns, busy_ns);
    EXPECT_GE(rows["inner"].total_ns, 20'000'000U);
    EXPECT_LE(rows["outer"].total_ns, static_cast<std::uint64_t>(most_outer_ns))
        << "time in a wait is not work";
}

TEST_P(Statistics, CountAFailureACancellationAndARefusal) {
    braid::scheduler s(options());
    auto failing = s.async([]() -> int { throw 1; });
    EXPECT_THROW(failing.get(), int);
    braid::scope dropped(s);
    dropped.cancel();
    dropped.post([] {});
    dropped.wait();
    s.shut_down();
    s.post([] {});
    const braid::scheduler_statistics sum = s.statistics();
    EXPECT_EQ(sum.created, 2U);
    EXPECT_EQ(sum.failed, 1U);
    EXPECT_EQ(sum.cancelled, 1U);
    EXPECT_EQ(sum.refused, 1U);
    EXPECT_EQ(sum.ended(), sum.created);
}

TEST_P(Statistics, EqualTextsAtDifferentAddressesAreOneType) {
    braid::scheduler_options o = options();
    o.statistics = true;
    braid::scheduler s(o);
    const char first[] = "same";
    const char second[] = "same";
    for (const char* name : {first, second}) s.wait(s.spawn({.name = name}, [] {}));
    s.shut_down();
    EXPECT_EQ(types(s)["same"].count, 2U);
    EXPECT_EQ(s.statistics(nullptr, 0), 2U) << "how many rows there may be";
}

TEST_P(Statistics, MayBeReadWhileEverythingRuns) {
    braid::scheduler_options o = options();
    o.statistics = true;
    braid::scheduler s(o);
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop) {
            const braid::scheduler_statistics sum = s.statistics();
            EXPECT_LE(sum.ended(), sum.created);
            static_cast<void>(types(s));
            for (unsigned seat = 0; seat < 8; ++seat) EXPECT_NE(s.statistics(seat).name, nullptr);
        }
    });
    for (int i = 0; i < 20; ++i) {
        braid::scope all(s);
        for (int k = 0; k < 100; ++k) all.spawn({.name = "task"}, [] {});
        all.wait();
    }
    stop = true;
    reader.join();
    EXPECT_EQ(s.statistics().executed, 2000U);
}

}  // namespace
