// Timers, channels, completions and cancellation under a chooser: a seed is a run, and finds what
// only some orders show.
#include <braid/async.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace {

using braid::co;
using braid::future;
using braid::nanoseconds;
using braid_test::seeded_chooser;

/// BRAID_ASYNC_SEEDS, or what suits the build.
std::uint64_t seed_count() {
    const char* text = std::getenv("BRAID_ASYNC_SEEDS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : braid_test::scaled(1'000);
}
const std::uint64_t seeds = seed_count();

class AsyncSeed : public testing::Test {
protected:
    void SetUp() override { ASSERT_GT(seeds, 0U) << "BRAID_ASYNC_SEEDS is a number from 1"; }
    braid_test::deadline deadline_{braid_test::hang_limit * (1 + seeds / 1'000)};
};

struct run {
    std::vector<std::uint64_t> decisions;
    std::vector<int> order;  // what happened, as the program writes it down
    std::uint64_t unchosen = 0, deferred = 0, settled = 0;
    int standstills = 0;
};

using program = std::function<void(braid::scheduler&, std::vector<int>&)>;

run play(std::uint64_t seed, const program& of) {
    seeded_chooser chooser(seed);
    run r;
    {
        braid::scheduler_options o;
        o.workers = static_cast<int>(seed % 3);
        o.chooser = &chooser;
        braid::scheduler s(o);
        of(s, r.order);
        s.shut_down();
        const braid::scheduler_statistics sum = s.statistics();
        r.unchosen = sum.unchosen;
        r.deferred = sum.deferred;
        r.settled = sum.settled;
    }
    r.decisions = chooser.log();
    r.standstills = chooser.standstills();
    return r;
}

// ---- a program of everything
// ---------------------------------------------------------------------

enum : int {
    popped = 0,
    late = 100,
    in_time,
    was_cancelled,
    was_let_through,
    ticked,
    first_of = 110
};

struct pieces {
    explicit pieces(braid::scheduler& on, std::vector<int>& to)
        : s(on), numbers(on, {.name = "numbers", .capacity = 2}), order(to) {}

    co<> produce(int from) {
        for (int i = from; i < from + 4; ++i) co_await numbers.push(i);
    }
    co<> consume() {
        while (true) {
            const auto n = co_await braid::as_result(numbers.pop());
            if (!n.value) co_return;
            order.push_back(popped + *n.value);
        }
    }
    co<> close_after(std::array<braid::task_id, 2> producers) {
        const std::size_t first = co_await braid::when_any(producers);
        order.push_back(first_of + static_cast<int>(first));
        co_await braid::when_all(producers);
        co_await braid::sleep_for(nanoseconds(500));
        numbers.close();
    }
    /// A timer answers at the moment at which the time is up.
    co<> ask() {
        const braid::completion_id asked =
            braid::this_task::defer({.name = "answer", .deadline = nanoseconds(2'000)});
        const braid::timer answers(s, {.in = nanoseconds(2'000)}, [&] {
            s.complete(asked);
            order.push_back(ticked);
        });
        const auto how = co_await braid::as_result(asked.task());
        order.push_back(how ? in_time : late);
    }
    co<> wait_for_door() {
        const auto how = co_await braid::as_result(door);
        order.push_back(how ? was_let_through : was_cancelled);
    }

    braid::scheduler& s;
    braid::channel<int> numbers;
    braid::event door{s};
    std::vector<int>& order;
};

void everything(braid::scheduler& s, std::vector<int>& order) {
    pieces p(s, order);
    braid::scope level(s);
    braid::timer cancels(s, {.in = nanoseconds(1'000)}, [&] { level.cancel(); });
    braid::timer opens(s, {.in = nanoseconds(1'000)}, [&] { p.door.set(); });
    std::array<future<void>, 7> all{
        braid::co_spawn(s, {.name = "produce"}, p.produce(1)),
        braid::co_spawn(s, {.name = "produce"}, p.produce(11)),
        braid::co_spawn(s, {.name = "consume"}, p.consume()),
        braid::co_spawn(s, {.name = "consume"}, p.consume()),
        braid::co_spawn(s, {.name = "ask"}, p.ask()),
        braid::co_spawn(s, {.name = "door", .within = &level}, p.wait_for_door()),
        braid::future<void>(),
    };
    all[6] = braid::co_spawn(s, {.name = "close"}, p.close_after({all[0].id(), all[1].id()}));
    for (future<void>& f : all) {
        try {
            f.get();
        } catch (const braid::broken_promise&) {    // cancelled before it began
        } catch (const braid::completion_error&) {  // late before it was awaited
        }
    }
    level.wait();
}

std::size_t count(const run& r, int what) {
    return static_cast<std::size_t>(std::count(r.order.begin(), r.order.end(), what));
}

TEST_F(AsyncSeed, AThousandSeedsEachGiveTheSameRunTwice) {
    std::set<std::vector<int>> orders;
    std::array<std::size_t, 6> ends{};
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const run once = play(seed, everything), again = play(seed, everything);
        ASSERT_EQ(once.decisions, again.decisions);
        ASSERT_EQ(once.order, again.order);
        ASSERT_EQ(once.unchosen, 0U);
        ASSERT_EQ(once.standstills, 0);
        ASSERT_EQ(once.settled, once.deferred);
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(count(once, 1 + i), 1U);
            ASSERT_EQ(count(once, 11 + i), 1U);
        }
        ASSERT_LE(count(once, late) + count(once, in_time), 1U);
        ASSERT_LE(count(once, was_cancelled) + count(once, was_let_through), 1U);
        const std::array<int, 6> outcomes{late,     in_time,     was_cancelled, was_let_through,
                                          first_of, first_of + 1};
        for (std::size_t i = 0; i < ends.size(); ++i) ends[i] += count(once, outcomes[i]);
        orders.insert(once.order);
    }
    std::printf(
        "%zu orders; late %zu, in time %zu, cancelled %zu, let through %zu, first %zu/%zu\n",
        orders.size(), ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]);
    EXPECT_GE(orders.size(), seeds / 2);
    for (const std::size_t n : ends) EXPECT_GT(n, 0U);
}

// ---- planted mistakes
// ----------------------------------------------------------------------------

constexpr int found = 1;

/// Looks for seeds with which `of` finds its mistake, prints them, and plays the first again.
void expect_found_and_replayed(const char* mistake, const program& of) {
    const auto finds = [](const run& r) { return count(r, found) != 0; };
    std::vector<std::uint64_t> with;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        if (finds(play(seed, of))) with.push_back(seed);
    }
    ASSERT_FALSE(with.empty()) << "no seed finds the " << mistake;
    EXPECT_LT(with.size(), seeds) << "every order has the " << mistake;
    const run first = play(with.front(), of);
    int replayed = 0;
    for (int i = 0; i < 100; ++i) {
        const run again = play(with.front(), of);
        replayed += finds(again) && again.decisions == first.decisions;
    }
    EXPECT_EQ(replayed, 100);
    std::string some;
    for (std::size_t i = 0; i < with.size() && i < 8; ++i) {
        some += ' ';
        some += std::to_string(with[i]);
    }
    std::printf("%s: %zu of %llu seeds find it:%s%s; seed %llu replayed %d of 100\n", mistake,
                with.size(), static_cast<unsigned long long>(seeds), some.c_str(),
                with.size() > 8 ? " ..." : "", static_cast<unsigned long long>(with.front()),
                replayed);
}

/// A mailbox whose owner looks and then says that it sleeps, as two steps.
struct mailbox {
    explicit mailbox(braid::scheduler& s) : bell(s) {}

    co<> receive() {
        if (!full) {
            braid::this_task::point();
            sleeping = true;
            co_await bell;
        }
        received = true;
    }
    void send() {
        full = true;
        braid::this_task::point();
        rang = sleeping;
        if (rang) bell.set();
        sent = true;
    }
    /// Rings where nobody else will.
    co<> watch(std::vector<int>& order) {
        while (!received) {
            co_await braid::sleep_for(braid::seconds(1));
            if (!sent || !sleeping || rang) continue;
            order.push_back(found);
            rang = true;
            bell.set();
        }
    }

    braid::event bell;
    bool full = false, sleeping = false, rang = false, sent = false, received = false;
};

TEST_F(AsyncSeed, FindsALostWakeUpAndReplaysIt) {
    expect_found_and_replayed("lost wake-up", [](braid::scheduler& s, std::vector<int>& order) {
        mailbox box(s);
        future<void> receives = braid::co_spawn(s, {.name = "receive"}, box.receive());
        future<void> watches = braid::co_spawn(s, {.name = "watch"}, box.watch(order));
        const braid::task_id sends = s.spawn({.name = "send"}, [&] { box.send(); });
        s.wait(sends);
        receives.get();
        watches.get();
    });
}

TEST_F(AsyncSeed, FindsADoubleCompletionAndReplaysIt) {
    expect_found_and_replayed(
        "double completion", [](braid::scheduler& s, std::vector<int>& order) {
            bool answered = false;
            braid::completion_id request;
            // Looks and then says so, as two steps.
            const auto answer = [&] {
                if (answered) return;
                braid::this_task::point();
                answered = true;
                if (!s.complete(request)) order.push_back(found);
            };
            const auto asks = [&]() -> co<> {
                request = braid::this_task::defer({.name = "request"});
                const braid::timer times_out(s, {.in = nanoseconds(1'000)}, answer);
                const braid::task_id reply = s.spawn({.name = "reply"}, answer);
                co_await request.task();
                co_await braid::sleep_for(nanoseconds(2'000));  // the timer has come by then
                co_await reply;
            };
            braid::co_spawn(s, {.name = "ask"}, asks()).get();
        });
}

}  // namespace
