// What a chooser is asked about, by choosers that are made for one question each.
#include "braid/core/decision.hpp"
#include "braid/core/event.hpp"
#include "braid/core/future.hpp"
#include "braid/core/scope.hpp"
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using braid::decision_kind;
using braid::task_id;
using braid_test::seeded_chooser;

class ChooserAsks : public braid_test::scheduler_test {
protected:
    braid::scheduler_options options_with(braid::chooser& chooser) {
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        return o;
    }
};

INSTANTIATE_TEST_SUITE_P(Workers, ChooserAsks, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

/// Always the last alternative; the running thread goes on as long as it can.
struct last_chooser final : braid::chooser {
    std::size_t most = 0, asked = 0;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t count) override {
        if (kind == decision_kind::preempt) return 0;
        if (kind == decision_kind::next_task) {
            most = std::max(most, count);
            ++asked;
        }
        return count - 1;
    }
};

TEST_P(ChooserAsks, AboutReadyTasksOfAllLevels) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    std::vector<int> order;
    braid::scope all(s);
    using enum braid::priority_level;
    int n = 0;
    for (const braid::priority_level level : {high, normal, low}) {
        all.spawn({.priority = level}, [&order, n] { order.push_back(n); });
        ++n;
    }
    all.wait();
    EXPECT_EQ(chooser.most, 3U);
    EXPECT_EQ(order, (std::vector{2, 1, 0})) << "the low one first, as it was chosen";
}

TEST_P(ChooserAsks, AboutTasksForOneThreadBesideThoseForAll) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    int ran = 0;
    braid::scope all(s);
    for (int i = 0; i < 3; ++i) {
        all.spawn({.on = s.this_thread()}, [&ran] { ++ran; });
        all.spawn({.priority = braid::priority_level::low}, [&ran] { ++ran; });
    }
    all.wait();
    EXPECT_EQ(ran, 6);
    EXPECT_EQ(chooser.most, 6U);
}

TEST_P(ChooserAsks, AboutTenThousandReadyTasksWithoutMemoryForEachQuestion) {
    last_chooser chooser;
    braid::scheduler s(options_with(chooser));
    const std::size_t count = braid_test::scaled(10'000);
    std::vector<std::size_t> order;
    order.reserve(count);
    braid::scope all(s);
    for (std::size_t i = 0; i < count; ++i) {
        all.post([&order, i] { order.push_back(i); });
    }
    const std::uint64_t before = memory_.calls;
    all.wait();
    EXPECT_EQ(chooser.most, count) << "all of them are offered";
    EXPECT_EQ(chooser.asked, count - 1);
    ASSERT_EQ(order.size(), count);
    EXPECT_TRUE(std::is_sorted(order.rbegin(), order.rend())) << "each as it was chosen";
    EXPECT_LT(memory_.calls - before, count / 10) << "the lists of what is offered are kept";
}

/// The last in line gets the resource; otherwise the first of everything.
struct heir_chooser final : braid::chooser {
    std::vector<std::size_t> lines;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t count) override {
        if (kind != decision_kind::resource) return 0;
        lines.push_back(count);
        return count - 1;
    }
};

TEST_P(ChooserAsks, WhoInLineGetsAResource) {
    heir_chooser chooser;
    braid::scheduler s(options_with(chooser));
    braid::resource one(s, "one");
    std::vector<int> order;
    braid::scope all(s);
    for (int i = 0; i < 5; ++i) {
        all.spawn({.uses = {&one}}, [&order, i] { order.push_back(i); });
    }
    all.wait();
    EXPECT_EQ(order, (std::vector{0, 4, 3, 2, 1}));
    EXPECT_EQ(chooser.lines, (std::vector<std::size_t>{4, 3, 2})) << "one alone is no question";
}

TEST_P(ChooserAsks, WhoGetsResourcesOfWhichTasksNeedSeveral) {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        seeded_chooser chooser(seed);
        braid::scheduler s(options_with(chooser));
        braid::resource a(s, "a"), b(s, "b", 2);
        std::vector<int> order;
        int users = 0;
        braid::scope all(s);
        for (int i = 0; i < 4; ++i) {
            all.spawn({.uses = {&b, &a}}, [&, i] {
                EXPECT_EQ(++users, 1);
                order.push_back(i);
                all.spawn({.uses = {&b}}, [&order] { order.push_back(9); });
                --users;
            });
        }
        all.wait();
        ASSERT_EQ(order.size(), 8U) << "seed " << seed;
        std::erase(order, 9);
        orders.insert(order);
    }
    EXPECT_GE(orders.size(), 6U) << "the first one holds them, the others come in any order";
}

/// The running thread goes on; counts how often it is asked whether it does.
struct point_counter final : braid::chooser {
    std::size_t points = 0;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t) override {
        points += kind == decision_kind::preempt;
        return 0;
    }
};

TEST_P(ChooserAsks, AtEachCallWhetherAnotherThreadGoesOn) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    point_counter chooser;
    braid::scheduler s(options_with(chooser));
    braid::event e(s, braid::reset::manual);
    braid::scope all(s);
    braid::future<int> value = s.async([] { return 1; });
    // Some other thread can go on from here, and does not until this one sleeps.
    auto built = s.begin({}, braid::empty);
    const task_id id = built.id();
    const task_id first = s.spawn({.after = {s.begin({}, braid::empty).finish()}}, [] {});
    const std::pair<const char*, std::function<void()>> calls[] = {
        {"spawn", [&] { s.spawn({.after = {id}}, [] {}); }},
        {"spawn empty", [&] { s.spawn({.after = {id}}, braid::empty); }},
        {"begin", [&] { s.begin({.after = {id}}, braid::empty).finish(); }},
        {"add_dependency", [&] { built.add_dependency(first); }},
        {"state", [&] { s.state(id); }},
        {"wait_for", [&] { s.wait_for(id, braid::seconds(0)); }},
        {"set", [&] { e.set(); }},
        {"is_set", [&] { EXPECT_TRUE(e.is_set()); }},
        {"wait for event", [&] { s.do_work_while_waiting_for(e); }},
        {"clear", [&] { e.clear(); }},
        {"scope", [&] { all.wait(); }},
        {"account", [&] { all.account(); }},
        {"cancel", [&] { all.cancel(); }},
        {"ready", [&] { value.ready(); }},
        {"worker_count", [&] { EXPECT_GT(s.worker_count(), 0U); }},
        {"worker_thread", [&] { s.worker_thread(0); }},
        {"statistics", [&] { s.statistics(); }},
        {"statistics of a seat", [&] { s.statistics(0); }},
        {"statistics of types", [&] { s.statistics(nullptr, 0); }},
        {"resume", [&] { s.resume(); }},
        {"expect_work", [&] { s.expect_work(braid::seconds(3600)); }},
        {"finish", [&] { built.finish(); }},
    };
    for (const auto& [name, call] : calls) {
        const std::size_t before = chooser.points;
        call();
        EXPECT_GT(chooser.points, before) << name;
    }
    EXPECT_EQ(value.get(), 1);
    const std::size_t before_memory = chooser.points;
    s.bytes(braid::memory_tag::slot);
    s.allocations();
    EXPECT_EQ(chooser.points, before_memory) << "handlers ask for them below a lock";
    for (void (*const last)(braid::scheduler&) :
         {+[](braid::scheduler& other) { other.freeze(); },
          +[](braid::scheduler& other) { other.shut_down(); }}) {
        braid::scheduler fresh(options_with(chooser));
        const std::size_t before = chooser.points;
        last(fresh);
        EXPECT_GT(chooser.points, before) << "freeze, shut_down";
    }
}

/// Reads and writes with a call between: two may read before either writes.
template <class Call>
std::set<int> sums_of_two(braid::scheduler_options o, Call&& between) {
    std::set<int> sums;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        seeded_chooser chooser(seed);
        o.chooser = &chooser;
        braid::scheduler s(o);
        int sum = 0;
        braid::scope all(s);
        for (int i = 0; i < 2; ++i) {
            all.post([&] {
                const int before = sum;
                between();
                sum = before + 1;
            });
        }
        all.wait();
        sums.insert(sum);
    }
    return sums;
}

TEST_P(ChooserAsks, AtAPointOfTheProgramsOwnWhetherAnotherThreadGoesOn) {
    braid::this_task::point();  // nothing outside tasks
    if (GetParam() == 0) GTEST_SKIP() << "nobody else";
    EXPECT_EQ(sums_of_two(options(), [] {}), (std::set<int>{2}));
    EXPECT_EQ(sums_of_two(options(), [] { braid::this_task::point(); }), (std::set<int>{1, 2}));
}

TEST_P(ChooserAsks, NobodyAboutThreadsFromOutsideButTheyAreCounted) {
    seeded_chooser chooser(1);
    braid::scheduler s(options_with(chooser));
    braid::event e(s, braid::reset::manual);
    std::uint64_t before = 0;
    const auto more = [&] {
        const std::uint64_t now = s.statistics().unchosen;
        return now - std::exchange(before, now);
    };
    s.wait(s.spawn([&] { s.wait(s.spawn([&] { e.set(); })); }));
    EXPECT_EQ(more(), 0U) << "all of it was chosen";
    std::thread([&] { e.clear(); }).join();
    EXPECT_EQ(more(), 1U) << "a foreign thread";
    s.blocking([] {});
    EXPECT_EQ(more(), 1U) << "the end of blocking()";
    s.blocking([&] { std::thread([&] { s.wait(s.spawn([] {})); }).join(); });
    EXPECT_GE(more(), 3U) << "a foreign thread that makes a task and waits for it";
    s.blocking([&] { e.set(); });
    EXPECT_EQ(more(), 1U) << "its end; a set() in it enters nothing";
    s.blocking([&] { s.post([] {}); });
    EXPECT_GE(more(), 2U) << "a task that is made within it";
    braid::scheduler other({.workers = 1});
    other.wait(other.spawn({.on = other.worker_thread(0)}, [&] { e.clear(); }));
    EXPECT_EQ(more(), 1U) << "another scheduler's thread";
}

struct wake_counter final : braid::chooser {
    std::atomic<int> wakes{0};
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t) override {
        wakes += kind == decision_kind::wake;
        return 0;
    }
};

TEST_P(ChooserAsks, NobodyWhomATryPostFromOutsideWakes) {
    if (GetParam() < 2) GTEST_SKIP() << "nobody to choose from";
    wake_counter chooser;
    braid::scheduler s(options_with(chooser));
    std::atomic<int> ran{0};
    const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
    const auto all_sleep = [&] {
        int idle = 0;
        for (unsigned i = 0; i < s.internals().seat_count(); ++i) {
            idle += s.internals().asleep().asleep(i, braid::detail::searcher::idle);
        }
        return idle >= GetParam();
    };
    const std::uint64_t before = s.statistics().unchosen;
    s.blocking([&] {
        braid_test::until(all_sleep);
        const int wakes = chooser.wakes;
        std::thread([&] { EXPECT_TRUE(s.try_post(count, &ran)); }).join();
        braid_test::until([&] { return ran == 1; });
        braid_test::until(all_sleep);
        EXPECT_TRUE(s.try_post(count, &ran)) << "this thread is outside, too";
        braid_test::until([&] { return ran == 2; });
        EXPECT_EQ(chooser.wakes, wakes);
    });
    EXPECT_EQ(s.statistics().unchosen - before, 3U) << "both, and the end of blocking()";
}

/// Says when time passes; takes the first of everything else.
struct clock_chooser final : braid::chooser {
    std::size_t answer = 0, asked = 0;
    std::size_t choose(decision_kind kind, const braid::alternative*, std::size_t) override {
        if (kind != decision_kind::clock) return 0;
        ++asked;
        return answer;
    }
};

TEST_P(ChooserAsks, WhetherATimeOutComesWhileOthersCanGoOn) {
    for (const std::size_t answer : {0U, 1U}) {
        clock_chooser chooser;
        chooser.answer = answer;
        braid::scheduler s(options_with(chooser));
        braid::event never(s);
        std::vector<int> order;
        braid::scope all(s);
        all.post([&] {
            EXPECT_FALSE(s.do_work_while_waiting_for(never, braid::seconds(3600)));
            order.push_back(0);
        });
        for (int i = 1; i < 9; ++i) all.post([&order, i] { order.push_back(i); });
        all.wait();
        ASSERT_EQ(order.size(), 9U);
        EXPECT_GT(chooser.asked, 0U);
        if (answer == 0) {
            EXPECT_EQ(order.back(), 0) << "an hour is long when time stands still meanwhile";
        } else {
            EXPECT_NE(order.back(), 0) << "and others are slow when it does not";
        }
    }
}

/// Time stands still until all waits have begun; from then on the seed decides. The entrance of a
/// wait is a point, too, but nobody else goes on there: its deadline counts from then.
struct late_clock final : braid::chooser {
    late_clock(std::uint64_t seed, const int& waits) : by_seed(seed), begun(waits) {}
    seeded_chooser by_seed;
    const int& begun;
    int entered = 0;
    std::size_t choose(decision_kind kind, const braid::alternative* list,
                       std::size_t count) override {
        if (kind == decision_kind::preempt && entered != begun) {
            entered = begun;
            return 0;
        }
        if (kind == decision_kind::clock && begun < 5) return 0;
        return by_seed.choose(kind, list, count);
    }
};

TEST_P(ChooserAsks, NeverForALaterDeadlineBeforeAnEarlierOne) {
    std::size_t among_others = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        int begun = 0;
        late_clock chooser(seed, begun);
        braid::scheduler s(options_with(chooser));
        braid::event never(s);
        std::vector<int> order;
        braid::scope all(s);
        for (const int hours : {3, 1, 5, 2, 4}) {
            all.post([&, hours] {
                ++begun;
                s.do_work_while_waiting_for(never, braid::seconds(3600 * hours));
                order.push_back(hours);
            });
        }
        for (int i = 0; i < 20; ++i) {
            all.post([&] { all.post([&order] { order.push_back(0); }); });
        }
        all.wait();
        if (order.back() == 0) ++among_others;
        std::erase(order, 0);
        ASSERT_EQ(order, (std::vector{1, 2, 3, 4, 5})) << "seed " << seed;
    }
    EXPECT_GT(among_others, 0U) << "no time-out came while others could go on";
}

TEST_P(ChooserAsks, NobodyAboutATimeOutOfZero) {
    clock_chooser chooser;
    braid::scheduler s(options_with(chooser));
    braid::event never(s);
    s.wait(s.spawn([&] { EXPECT_FALSE(s.do_work_while_waiting_for(never, braid::seconds(0))); }));
    EXPECT_EQ(chooser.asked, 0U);
}

}  // namespace
