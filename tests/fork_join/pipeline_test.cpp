// pipeline(): each item passes each stage once, serial stages see the order of the source, no more
// items are in flight than there are tokens, and whatever ends it early leaves nothing behind.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using braid::fork_context;
using braid::parallel;
using braid::pipeline;
using braid::serial;

BRAID_SCHEDULER_TEST(Pipeline);

/// A source of 0 … n − 1.
auto numbers(std::size_t n, std::size_t from = 0) {
    return [n, i = from]() mutable -> std::optional<std::size_t> {
        return i < n ? std::optional(i++) : std::nullopt;
    };
}

/// Plain memory for one at a time: a race is for ThreadSanitizer, two at once are noticed.
class one_at_a_time {
public:
    explicit one_at_a_time(std::vector<std::size_t>& seen) : seen_(seen) {}
    std::size_t operator()(std::size_t i) {
        EXPECT_EQ(inside_.fetch_add(1), 0) << "two in a serial stage";
        seen_.push_back(i);
        inside_.fetch_sub(1);
        return i;
    }

private:
    std::vector<std::size_t>& seen_;
    std::atomic<int> inside_{0};
};

/// Some items take a few times as long as others, so that they overtake each other.
void work_for(std::size_t i) {
    for (std::size_t n = i * 2'654'435'761U % 300; n != 0; --n)
        std::atomic_signal_fence(std::memory_order_seq_cst);
}

std::vector<std::size_t> first(std::size_t n) {
    std::vector<std::size_t> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = i;
    return all;
}

TEST_P(Pipeline, SerialStagesSeeEachItemOnceInTheOrderOfTheSource) {
    braid::scheduler s(options());
    for (const std::size_t tokens : {1U, 2U, 3U, 8U, 16U, 100U}) {
        for (const std::size_t n : {0U, 1U, 2U, 5U, 1000U}) {
            std::vector<std::size_t> early, late;
            std::vector<std::atomic<int>> calls(n);
            one_at_a_time middle(early), last(late);
            pipeline(s, {.tokens = tokens}, serial(numbers(n)), parallel([&](std::size_t i) {
                         work_for(i);
                         ++calls[i];
                         return i;
                     }),
                     serial(middle), parallel([&](std::size_t i) {
                         work_for(i + 7);
                         ++calls[i];
                         return i;
                     }),
                     serial([&](std::size_t i) { last(i); }));
            EXPECT_EQ(early, first(n));
            EXPECT_EQ(late, first(n)) << tokens << " tokens";
            EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](auto& c) { return c == 2; }));
        }
    }
    expect_all_ended(s);
}

TEST_P(Pipeline, StagesOfAnyKindFollowEachOther) {
    braid::scheduler s(options());
    const std::size_t n = 500;
    std::vector<std::size_t> a, b, c;
    one_at_a_time x(a), y(b), z(c);
    std::atomic<std::size_t> sum{0};
    const auto add = [&](std::size_t i) { sum += i; };
    const auto pass = [](std::size_t i) { return i; };
    pipeline(s, {}, serial(numbers(n)), serial(add));
    EXPECT_EQ(sum.exchange(0), n * (n - 1) / 2);
    pipeline(s, {}, serial(numbers(n)), parallel(add));
    EXPECT_EQ(sum.exchange(0), n * (n - 1) / 2);
    pipeline(s, {}, serial(numbers(n)), parallel(pass), parallel(pass), parallel(add));
    EXPECT_EQ(sum.exchange(0), n * (n - 1) / 2);
    pipeline(s, {}, serial(numbers(n)), serial(x), serial(y), parallel(pass), serial(z),
             parallel(add));
    EXPECT_EQ(sum.exchange(0), n * (n - 1) / 2);
    EXPECT_EQ(a, first(n));
    EXPECT_EQ(b, first(n));
    EXPECT_EQ(c, first(n));
}

TEST_P(Pipeline, NoMoreItemsAreInFlightThanTokens) {
    braid::scheduler s(options());
    for (const int tokens : {1, 2, 5, 16}) {
        std::atomic<int> flying{0}, most{0};
        std::size_t made = 0;
        pipeline(s, {.tokens = static_cast<std::size_t>(tokens)},
                 serial([&]() -> std::optional<std::size_t> {
                     if (made == 2000) return std::nullopt;
                     const int now = ++flying;
                     most = std::max(most.load(), now);
                     return made++;
                 }),
                 parallel([](std::size_t i) {
                     work_for(i);
                     return i;
                 }),
                 serial([&](std::size_t) { --flying; }));
        EXPECT_LE(most, tokens);
        EXPECT_EQ(flying, 0);
    }
}

TEST_P(Pipeline, AsManyItemsAreWorkedOnAtOnceAsThereAreThreadsAndTokens) {
    // Each item of a group waits until the whole group is in the parallel stage.
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    braid::scheduler s(options());
    const std::size_t group = std::min<std::size_t>(static_cast<std::size_t>(GetParam()) + 1, 8);
    const std::size_t n = group * 20;
    std::vector<std::atomic<std::size_t>> there(20);
    std::vector<std::size_t> order;
    one_at_a_time last(order);
    pipeline(s, {.tokens = group}, serial(numbers(n)), parallel([&](std::size_t i) {
                 ++there[i / group];
                 braid_test::until([&] { return there[i / group] == group; });
                 return i;
             }),
             serial([&](std::size_t i) { last(i); }));
    EXPECT_EQ(order, first(n));
}

TEST_P(Pipeline, WhileASerialStageIsBusyOthersGoOnUntilTheTokensAreUsedUp) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    braid::scheduler s(options());
    std::atomic<std::size_t> made{0};
    pipeline(s, {.tokens = 10}, serial([&]() -> std::optional<std::size_t> {
                 return made < 50 ? std::optional(made++) : std::nullopt;
             }),
             parallel([](std::size_t i) { return i; }),
             // The first item holds the stage until the others wait behind it.
             serial([&](std::size_t i) {
                 if (i == 0) braid_test::until([&] { return made == 10; });
             }));
    EXPECT_EQ(made, 50U);
}

TEST_P(Pipeline, ThatRanDryTakesUpSpeedAgain) {
    // The source makes nothing until everything before is out; then two items have to meet.
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    braid::scheduler s(options());
    std::atomic<std::size_t> made{0}, out{0};
    std::vector<std::atomic<int>> met(200);
    pipeline(s, {.tokens = 4}, serial([&]() -> std::optional<std::size_t> {
                 if (made == 400) return std::nullopt;
                 if (made % 2 == 0) braid_test::until([&] { return out == made; });
                 return made++;
             }),
             parallel([&](std::size_t i) {
                 ++met[i / 2];
                 braid_test::until([&] { return met[i / 2] == 2; });
                 return i;
             }),
             serial([&](std::size_t) { ++out; }));
    EXPECT_EQ(out, 400U);
}

TEST_P(Pipeline, CarriesItemsOfAnyTypeAndMovesNone) {
    struct fixed {
        explicit fixed(std::string t) : text(std::move(t)) {}
        fixed(const fixed&) = delete;
        fixed& operator=(const fixed&) = delete;
        std::string text;
    };
    braid::scheduler s(options());
    std::string out;
    std::size_t seats = 0;
    pipeline(s, {.tokens = 4, .name = "types"},
             serial([i = 0](fork_context) mutable -> std::optional<std::unique_ptr<int>> {
                 if (i == 100) return std::nullopt;
                 return std::make_unique<int>(i++);
             }),
             parallel([](std::unique_ptr<int> p, fork_context c) {
                 int twice = 0;
                 braid::join(c, [&] { twice = 2 * *p; }, [] {});
                 return fixed(std::to_string(twice));
             }),
             parallel([](const fixed& f) { return std::array<char, 200>{f.text.back()}; }),
             serial([&](std::array<char, 200>&& a, fork_context c) {
                 seats = std::max<std::size_t>(seats, c.seat());
                 out += a[0];
             }));
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += std::to_string(2 * i).back();
    EXPECT_EQ(out, expected);
    EXPECT_LT(seats, s.seat_count());
}

/// Counts itself, so that nothing can be lost or destroyed twice.
struct counted {
    static std::atomic<int> alive;
    std::size_t number;
    explicit counted(std::size_t n) : number(n) { ++alive; }
    counted(counted&& other) noexcept : number(other.number) { ++alive; }
    ~counted() { --alive; }
};
std::atomic<int> counted::alive{0};

TEST_P(Pipeline, AFailureOfAnyStageComesOutAndEverythingBeforeItIsDone) {
    braid::scheduler s(options());
    counted::alive = 0;
    for (int stage = 0; stage < 4; ++stage) {
        for (const std::size_t bad : {0U, 1U, 77U, 299U}) {
            std::size_t made = 0, in_source = 0;
            std::vector<std::size_t> out;
            const auto check = [&](int here, std::size_t i) {
                if (here == stage && i >= bad) throw std::runtime_error(std::to_string(i));
            };
            try {
                pipeline(s, {.tokens = 8}, serial([&]() -> std::optional<counted> {
                             if (made == 300) return std::nullopt;
                             ++in_source;
                             check(0, made);
                             return counted(made++);
                         }),
                         parallel([&](counted c) {
                             work_for(c.number);
                             check(1, c.number);
                             return c;
                         }),
                         serial([&](counted c) {
                             check(2, c.number);
                             return c;
                         }),
                         serial([&](const counted& c) {
                             check(3, c.number);
                             out.push_back(c.number);
                         }));
                ADD_FAILURE() << "nothing came out";
            } catch (const std::runtime_error& e) {
                EXPECT_EQ(e.what(), std::to_string(bad)) << "not the first: stage " << stage;
            }
            EXPECT_EQ(out, first(bad)) << "stage " << stage;
            EXPECT_LE(in_source, bad + 8) << "the source went on";
            EXPECT_EQ(counted::alive, 0);
        }
    }
    expect_all_ended(s);
}

TEST_P(Pipeline, AnEmptySourceAndOneThatThrowsFirstCallNoStage) {
    braid::scheduler s(options());
    bool called = false;
    const auto stage = [&](int) { called = true; };
    pipeline(s, {}, serial([]() -> std::optional<int> { return std::nullopt; }), serial(stage));
    EXPECT_THROW(
        pipeline(s, {}, serial([]() -> std::optional<int> { throw std::runtime_error("a"); }),
                 parallel(stage)),
        std::runtime_error);
    EXPECT_FALSE(called);
}

TEST_P(Pipeline, ACancelledScopeStopsIt) {
    braid::scheduler s(options());
    counted::alive = 0;
    for (int stage = 0; stage < 3; ++stage) {
        braid::scope all(s);
        std::atomic<bool> threw{false}, ended{false};
        std::atomic<std::size_t> made{0}, out{0};
        const auto task = all.spawn({.name = "cancelled"}, [&](braid::task_context& t) {
            const auto check = [&](int here) {
                if (here == stage && made >= 100) all.cancel();
                // Also in the tasks of other threads.
                const bool was_cancelled = all.cancelled();
                EXPECT_TRUE(braid::this_task::cancelled() || !was_cancelled);
            };
            try {
                pipeline(t, {.tokens = 4}, serial([&]() -> std::optional<counted> {
                             check(0);
                             return counted(made++);  // without end
                         }),
                         parallel([&](counted c) {
                             check(1);
                             return c;
                         }),
                         serial([&](const counted&) {
                             check(2);
                             ++out;
                         }));
            } catch (const braid::task_cancelled&) {
                threw = true;
            }
            ended = true;
        });
        s.wait(task);  // it was not cancelled itself, and what was is not its failure
        all.wait();
        EXPECT_TRUE(threw);
        EXPECT_TRUE(ended);
        EXPECT_LE(out, made);
        EXPECT_EQ(counted::alive, 0);
    }
    expect_all_ended(s);
}

TEST_P(Pipeline, RunsInBodiesTasksStagesAndOnForeignThreads) {
    braid::scheduler s(options());
    std::atomic<std::size_t> sum{0};
    const auto run = [&](auto&& place) {
        std::vector<std::size_t> order;
        one_at_a_time last(order);
        pipeline(place, {.tokens = 4}, serial(numbers(50)),
                 parallel([](std::size_t i) { return i; }),
                 serial([&](std::size_t i) { last(i); }));
        EXPECT_EQ(order, first(50));
        sum += order.size();
    };
    braid::parallel_for(s, 20, [&](std::size_t, fork_context c) { run(c); });
    braid::scope all(s);
    for (int i = 0; i < 20; ++i) {
        all.post([&](braid::task_context& task) { run(task); });
        all.spawn({.priority = braid::priority_level::high}, [&] { run(s); });
    }
    std::thread foreign([&] { run(s); });
    all.wait();
    foreign.join();
    pipeline(s, {.tokens = 4}, serial(numbers(20)), parallel([&](std::size_t, fork_context c) {
                 run(c);
                 return 0;
             }),
             serial([&](int) { run(s); }));
    EXPECT_EQ(sum, 101U * 50U);
    expect_all_ended(s);
}

TEST_P(Pipeline, AStageMayWaitForATaskThatRunsAPipeline) {
    braid::scheduler s(options());
    std::atomic<std::size_t> sum{0};
    pipeline(s, {.tokens = 3}, serial(numbers(30)), parallel([&](std::size_t i) {
                 s.wait(s.spawn([&](braid::task_context& task) {
                     pipeline(task, {.tokens = 3}, serial(numbers(10)),
                              parallel([&](std::size_t k) { sum += k; }));
                 }));
                 return i;
             }),
             serial([](std::size_t) {}));
    EXPECT_EQ(sum, 30U * 45U);
}

TEST_P(Pipeline, WhatAStageWaitsForMayComeFromAnotherItem) {
    // Also with no workers: a reserve runs what the wait leaves lying.
    braid::scheduler s(options());
    braid::event second(s);
    std::size_t out = 0;
    pipeline(s, {.tokens = 2}, serial(numbers(2)), parallel([&](std::size_t i) {
                 if (i == 0) s.do_work_while_waiting_for(second);
                 if (i == 1) second.set();
                 return i;
             }),
             serial([&](std::size_t i) { EXPECT_EQ(i, out++); }));
    EXPECT_EQ(out, 2U);
}

TEST_P(Pipeline, WhoWaitsForItsTaskHelps) {
    // The main thread waits; the pipeline's own thread and it have to meet in the parallel stage.
    if (GetParam() != 1) GTEST_SKIP() << "for two threads";
    braid::scheduler s(options());
    std::atomic<int> met{0};
    s.wait(s.spawn([&](braid::task_context& task) {
        pipeline(task, {.tokens = 2}, serial(numbers(2)), parallel([&](std::size_t) {
                     ++met;
                     braid_test::until([&] { return met == 2; });
                 }));
    }));
    EXPECT_EQ(met, 2);
}

TEST_P(Pipeline, WithoutMemoryForItsTokensItRunsWithOne) {
    braid::scheduler_options o = options();
    o.memory_budget_bytes = 256 << 20;
    braid::scheduler s(o);
    struct large {
        std::array<char, 1 << 14> bytes;
        std::size_t i;
    };
    std::size_t out = 0;
    std::atomic<int> flying{0}, most{0};
    pipeline(s, {.tokens = std::size_t{1} << 20},
             serial([&, i = std::size_t{0}]() mutable -> std::optional<large> {
                 most = std::max(most.load(), ++flying);
                 return i < 10 ? std::optional(large{{}, i++}) : std::nullopt;
             }),
             serial([&](const large& l) {
                 EXPECT_EQ(l.i, out++);
                 --flying;
             }));
    EXPECT_EQ(out, 10U);
    EXPECT_EQ(most, 1);
}

}  // namespace
