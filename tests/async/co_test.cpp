// A1: coroutines are tasks that give their thread back while they wait.
#include "co_fixture.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"

#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

using braid::co;
using braid::future;
using braid::task_context;
using braid::task_id;

BRAID_COROUTINE_TEST(Coroutine);

co<int> number(int n) { co_return n; }

co<int> sum_of(int first, int last) {
    int sum = 0;
    for (int i = first; i <= last; ++i) sum += co_await number(i);
    co_return sum;
}

co<> after(task_id awaited, std::atomic<int>& came) {
    co_await awaited;
    ++came;
}

TEST_P(Coroutine, ReturnsItsValueThroughAFuture) {
    braid::scheduler s(options());
    future<int> sum = braid::co_spawn(s, {.name = "sum"}, sum_of(1, 100));
    EXPECT_EQ(sum.get(), 5050);
    auto text = braid::co_spawn(s, {}, []() -> co<std::unique_ptr<std::string>> {
        co_return std::make_unique<std::string>("moved");
    }());
    EXPECT_EQ(*text.get(), "moved");
    expect_all_ended(s);
}

/// Counts those that are alive.
class counted {
public:
    explicit counted(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    counted(const counted& other) : alive_(other.alive_) { ++alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --alive_; }

private:
    std::atomic<int>& alive_;
};

TEST_P(Coroutine, OfACallableHasItsCapturesUntilItHasReturnedAndNoLonger) {
    braid::scheduler s(options());
    std::atomic<int> alive{0};
    for (int i = 0; i < 50; ++i) {
        auto gate = s.begin({.name = "gate"}, braid::empty);
        const task_id opens = gate.id();
        auto text = braid::co_spawn(
            s, {}, [own = counted(alive), alive = &alive, opens, i]() -> co<std::string> {
                co_await opens;
                EXPECT_EQ(*alive, 1);
                static_cast<void>(own);
                co_return "captured " + std::to_string(i) + " before it was suspended";
            });
        until_suspended(s, static_cast<unsigned>(i) + 1);
        EXPECT_EQ(alive, 1);
        gate.finish();
        s.wait(text.id());
        EXPECT_EQ(alive, 0);  // before it is complete
        EXPECT_EQ(text.get(), "captured " + std::to_string(i) + " before it was suspended");
    }
    const auto named = []() -> co<int> { co_return 7; };
    EXPECT_EQ(braid::co_spawn(s, {}, named).get(), 7);
    auto fails = braid::co_spawn(s, {}, [own = counted(alive)]() -> co<> {
        static_cast<void>(own);
        throw std::runtime_error("as it was called");
        co_return;
    });
    EXPECT_THROW(fails.get(), std::runtime_error);
    EXPECT_EQ(alive, 0);
    expect_all_ended(s);
}

TEST_P(Coroutine, DoesNotBeginBeforeItIsAwaitedOrSpawned) {
    bool began = false;
    const auto mark = [](bool& b) -> co<> {
        b = true;
        co_return;
    };
    {
        const co<> never = mark(began);
    }
    EXPECT_FALSE(began);
    braid::scheduler s(options());
    braid::co_spawn(s, {}, mark(began)).get();
    EXPECT_TRUE(began);
}

TEST_P(Coroutine, GoesOnWhenATaskIsCompleteAndSeesWhatThatWrote) {
    braid::scheduler s(options());
    for (std::size_t i = 0; i < braid_test::scaled(300); ++i) {
        int written = 0, seen = 0;
        const task_id writes = s.spawn([&] { written = 7; });
        const auto reads = [](task_id id, const int& from, int& to) -> co<> {
            co_await id;
            to = from;
        };
        braid::co_spawn(s, {}, reads(writes, written, seen)).get();
        EXPECT_EQ(seen, 7);
    }
    expect_all_ended(s);
}

TEST_P(Coroutine, HoldsNoThreadWhileItWaits) {
    braid::scheduler s(options());
    constexpr int many = 500;
    std::atomic<int> came{0};
    auto gate = s.begin({.name = "gate"}, braid::empty);
    std::vector<future<void>> all;
    for (int i = 0; i < many; ++i) all.push_back(braid::co_spawn(s, {}, after(gate.id(), came)));
    until_suspended(s, many);
    EXPECT_EQ(came, 0);
    gate.finish();
    for (future<void>& f : all) f.get();
    EXPECT_EQ(came, many);
    EXPECT_EQ(pauses_.resumed, static_cast<unsigned>(many));
    EXPECT_LE(s.statistics().reserves_started, 1U) << "for the wait of this thread";
    expect_all_ended(s);
}

TEST_P(Coroutine, AwaitsFuturesAndOtherCoroutinesOfItsOwn) {
    braid::scheduler s(options());
    const auto both = [](braid::scheduler& on) -> co<int> {
        future<int> a = on.async([] { return 1; });
        future<int> b = braid::co_spawn(on, {}, sum_of(1, 3));
        const int first = co_await std::move(a);
        co_return first + co_await std::move(b) + co_await number(10);
    };
    EXPECT_EQ(braid::co_spawn(s, {}, both(s)).get(), 17);
    expect_all_ended(s);
}

TEST_P(Coroutine, IsOneTaskWithOneId) {
    braid::scheduler s(options());
    std::array<task_id, 2> ids;
    const auto looks = [](braid::scheduler& on, std::array<task_id, 2>& to) -> co<> {
        to[0] = braid::this_task::id();
        co_await on.spawn([] {});
        to[1] = braid::this_task::id();
    };
    const std::uint64_t before = s.statistics().executed;
    future<void> f = braid::co_spawn(s, {}, looks(s, ids));
    const task_id id = f.id();
    f.get();
    EXPECT_EQ(ids[0], id);
    EXPECT_EQ(ids[1], id);
    EXPECT_EQ(s.statistics().executed - before, 2U) << "it, and what it awaited";
}

TEST_P(Coroutine, IsHelpedByItsWaiter) {
    // With nobody else to run what it awaits.
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    const auto chain = [](braid::scheduler& on) -> co<int> {
        int ran = 0;
        for (int i = 0; i < 50; ++i) co_await on.spawn([&] { ++ran; });
        co_return ran;
    };
    EXPECT_EQ(braid::co_spawn(s, {}, chain(s)).get(), 50);
}

TEST_P(Coroutine, GetsTheFailureOfWhatItAwaitsAndMayGoOn) {
    braid::scheduler s(options());
    unsigned pauses = 0;
    const auto gate = [&](auto body) {
        auto held = s.begin({}, braid::empty);
        const task_id fails =
            s.spawn({.after = {held.id()}}, [] { throw std::runtime_error("disk"); });
        future<int> f = braid::co_spawn(s, {}, body(fails));
        until_suspended(s, ++pauses);
        held.finish();
        return f.get();
    };
    EXPECT_EQ(gate([](task_id id) -> co<int> {
                  try {
                      co_await id;
                  } catch (const std::runtime_error& e) {
                      co_return braid_test::says(e, "disk") ? 1 : 2;
                  }
                  co_return 3;
              }),
              1);
    EXPECT_THROW(gate([](task_id id) -> co<int> {
                     co_await id;
                     co_return 1;
                 }),
                 std::runtime_error);
    EXPECT_EQ(gate([](task_id id) -> co<int> {
                  const auto came = co_await braid::as_result(id);
                  co_return came.error != nullptr && !came.cancelled ? 1 : 2;
              }),
              1);
    expect_all_ended(s);
}

TEST_P(Coroutine, ThrowsThroughCoroutines) {
    braid::scheduler s(options());
    const auto throws = [](int n) -> co<int> {
        if (n > 2) throw std::invalid_argument("too many");
        co_return n;
    };
    const auto outer = [throws](int n) -> co<int> { co_return co_await throws(n); };
    EXPECT_EQ(braid::co_spawn(s, {}, outer(2)).get(), 2);
    EXPECT_THROW(braid::co_spawn(s, {}, outer(3)).get(), std::invalid_argument);
    expect_all_ended(s);
}

TEST_P(Coroutine, ThatIsCancelledWhileItAwaitsUnwindsOnce) {
    braid::scheduler s(options());
    struct guard {
        std::atomic<int>& count;
        ~guard() { ++count; }
    };
    std::atomic<int> destroyed{0}, caught{0}, went_on{0};
    braid::scope level(s);
    auto gate = s.begin({}, braid::empty);
    const auto waits = [&](task_id id) -> co<> {
        const guard g{destroyed};
        try {
            co_await id;
        } catch (const braid::task_cancelled&) {
            ++caught;
            throw;
        }
        ++went_on;
    };
    const auto outer = [&](task_id id) -> co<> { co_await waits(id); };
    future<void> f = braid::co_spawn(s, {.within = &level}, outer(gate.id()));
    until_suspended(s, 1);
    level.cancel();
    EXPECT_THROW(f.get(), braid::task_cancelled) << "before what it awaits is complete";
    gate.finish();
    try {
        level.wait();
    } catch (const braid::task_cancelled&) {
    }
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(caught, 1);
    EXPECT_EQ(went_on, 0);
}

TEST_P(Coroutine, ThatIsAwaitedTwiceIsReportedAndThrows) {
    braid::scheduler s(options());
    const auto twice = []() -> co<int> {
        co<int> once = number(3);
        int sum = co_await std::move(once);
        try {
            sum += co_await std::move(once);
        } catch (const braid::broken_promise&) {
            sum += 10;
        }
        EXPECT_TRUE((co_await braid::as_result(std::move(once))).cancelled);
        co_return sum + co_await number(100);
    };
    EXPECT_EQ(braid::co_spawn(s, {}, twice()).get(), 113);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a coroutine runs once"), 2U);
}

TEST_P(Coroutine, ThatWasMovedElsewhereThrowsWhenItIsAwaitedAndASentenceSaysWhy) {
    braid::scheduler s(options());
    const auto moved = []() -> co<int> {
        co<int> one = number(3);
        co<int> other = std::move(one);
        int sum = 0;
        try {
            sum += co_await std::move(one);
        } catch (const std::bad_alloc&) {
            sum += 10;
        }
        EXPECT_TRUE((co_await braid::as_result(std::move(one))).no_memory);
        co_return sum + co_await std::move(other);
    };
    EXPECT_EQ(braid::co_spawn(s, {.name = "reads levels"}, moved()).get(), 13);
    EXPECT_EQ(
        notes_.count(&braid_test::recorder::log, "task 'reads levels' awaits an empty coroutine"),
        2U);
}

TEST_P(Coroutine, OfACallableWithArgumentsHasCopiesOfThemUntilItHasReturned) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    std::atomic<int> alive{0};
    future<std::size_t> f;
    {
        const std::string name(100, 'x');
        const counted guard(alive);
        // References: to the copies.
        f = braid::co_spawn(
            s, {},
            [&gate](const std::string& text, const counted&,
                    std::unique_ptr<int>& owned) -> co<std::size_t> {
                co_await gate.id();
                co_return text.size() + static_cast<std::size_t>(*owned);
            },
            name, guard, std::make_unique<int>(11));
        EXPECT_GE(alive, 2);
    }
    until_suspended(s, 1);
    EXPECT_EQ(alive, 1);
    const auto gate_id = gate.finish();
    EXPECT_TRUE(gate_id);
    EXPECT_EQ(f.get(), 111U);
    until(s, [&] { return alive == 0; });
}

TEST_P(Coroutine, ThatNeverRanLeavesNothing) {
    auto kept = std::make_shared<int>(1);
    const std::weak_ptr<int> seen = kept;
    {
        braid::scheduler s(options());
        braid::scope level(s);
        level.cancel();
        const auto holds = [](std::shared_ptr<int> p) -> co<int> { co_return *p; };
        future<int> f = braid::co_spawn(s, {.within = &level}, holds(std::move(kept)));
        EXPECT_THROW(f.get(), braid::broken_promise);
        level.wait();
    }
    EXPECT_TRUE(seen.expired());
}

TEST_P(Coroutine, IsUnwoundByADiscardingShutdown) {
    std::atomic<int> destroyed{0};
    struct guard {
        std::atomic<int>& count;
        ~guard() { ++count; }
    };
    constexpr int many = 50;
    {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        const auto waits = [&](task_id id) -> co<> {
            const guard g{destroyed};
            co_await id;
            co_await id;
        };
        for (int i = 0; i < many; ++i) braid::co_spawn(s, {}, waits(gate.id()));
        until_suspended(s, many);
        std::thread ends([&] { s.shut_down(braid::shutdown::discard); });
        gate.finish();
        ends.join();
    }
    EXPECT_EQ(destroyed, many);
}

TEST_P(Coroutine, ACycleThroughAnAwaitIsRefusedWithItsSentence) {
    braid::scheduler s(options());
    const auto itself = [&]() -> co<> { co_await braid::this_task::id(); };
    braid::co_spawn(s, {}, itself()).get();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "cannot await itself"), 1U);
    const auto circle = [](braid::scheduler& on) -> co<> {
        const task_id mine = braid::this_task::id();
        braid::task_options later;
        later.after_all = braid::task_ids(&mine, 1);
        co_await on.spawn(later, [] {});
    };
    braid::co_spawn(s, {}, circle(s)).get();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "that would be a cycle"), 1U);
}

co<int> depth(int n) {
    if (n == 0) co_return 0;
    co_return 1 + co_await depth(n - 1);
}

TEST_P(Coroutine, AChainOfAHundredThousandNeedsNoStack) {
    braid::scheduler s(options());
    const int n = 100'000;
    EXPECT_EQ(braid::co_spawn(s, {}, depth(n)).get(), n);
}

TEST_P(Coroutine, TenMillionAwaitsThatDoNotSuspendNeedNoStack) {
    braid::scheduler s(options());
    const int n = 10'000'000;
    const auto loop = [](int count) -> co<std::int64_t> {
        std::int64_t sum = 0;
        for (int i = 0; i < count; ++i) sum += co_await number(i);
        co_return sum;
    };
    EXPECT_EQ(braid::co_spawn(s, {}, loop(n)).get(), std::int64_t{n} * (n - 1) / 2);
}

TEST_P(Coroutine, WithoutMemoryIsRefusedOrSaysSoAndNothingIsLost) {
    for (int k = 0; k < 12; ++k) {
        braid::scheduler_options o = options();
        o.workers = std::min(o.workers, 2);
        braid_test::refusing_memory memory(o.memory);
        o.memory = memory.hooks();
        braid::scheduler s(o);
        SCOPED_TRACE(k);
        const auto waits = [](braid::scheduler& on) -> co<int> {
            int early = 0;
            for (int i = 0; i < 5; ++i) {
                bool ran = false;
                const task_id id = on.spawn([&] { ran = true; });
                if (!id) continue;
                const braid::await_status how = co_await braid::as_result(id);
                if (!how.no_memory) {
                    early += !ran;
                } else {
                    on.wait(id);  // it has `ran` of this frame
                }
            }
            co_return early;
        };
        memory.refuse_after(k);
        future<int> f = braid::co_spawn(s, {}, waits(s));
        if (f.valid()) {
            EXPECT_EQ(f.get(), 0) << "came back before what it awaited";
        }
        memory.give_back();
        s.shut_down();
        expect_all_ended(s);
    }
}

TEST_P(Coroutine, CountsManyFromManyThreads) {
    braid::scheduler s(options());
    const int each = static_cast<int>(braid_test::scaled(300));
    std::atomic<int> came{0};
    const auto parts = [](braid::scheduler& on, std::atomic<int>& count) -> co<> {
        std::array<task_id, 4> ids;
        for (task_id& id : ids) id = on.spawn([&count] { ++count; });
        co_await braid::when_all(ids);
        ++count;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            std::vector<future<void>> all;
            for (int i = 0; i < each; ++i) all.push_back(braid::co_spawn(s, {}, parts(s, came)));
            for (future<void>& f : all) f.get();
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(came, 3 * each * 5);
    expect_all_ended(s);
}

}  // namespace
