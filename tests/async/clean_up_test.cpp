// A1: a coroutine that is cancelled hears that once; what it awaits from then on, to clean up, ends
// as if nothing had been cancelled.
#include "co_fixture.hpp"
#include "pipe_ends.hpp"

#include <braid/async/await_fd.hpp>
#include <braid/async/channel.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using braid::co;
using braid::task_id;

/// What a clean-up may await, and what ends it.
struct world {
    explicit world(braid::scheduler& on) : s(on) { EXPECT_TRUE(full.try_push(1)); }

    braid::scheduler& s;
    braid::event signal{s}, never{s};
    braid::channel<int> empty{s, {.capacity = 1}}, full{s, {.capacity = 1}};
    braid_test::pipe_ends pipe;
    braid::task_builder gate = s.begin({}, braid::empty);
    const task_id of_gate = gate.id();
    std::atomic<std::uint64_t> deferred{0};
    std::atomic<bool> cleans{false}, released{false}, cleaned{false};
};

struct way {
    const char* name;
    co<> (*await)(world& w);
    void (*release)(world& w) = nullptr;  // null: it ends by itself
};

co<int> seven() { co_return 7; }

const way ways[] = {
    {"sleep_for", [](world&) -> co<> { co_await braid::sleep_for(braid::microseconds(10)); }},
    {"yield", [](world&) -> co<> { co_await braid::yield(); }},
    {"resume_on", [](world&) -> co<> { co_await braid::resume_on(braid::task_class::frame); }},
    {"co", [](world&) -> co<> { EXPECT_EQ(co_await seven(), 7); }},
    {"event", [](world& w) -> co<> { co_await w.signal; }, [](world& w) { w.signal.set(); }},
    {"pop", [](world& w) -> co<> { EXPECT_EQ(co_await w.empty.pop(), 5); },
     [](world& w) { EXPECT_TRUE(w.empty.try_push(5)); }},
    {"push", [](world& w) -> co<> { EXPECT_TRUE(co_await w.full.push(2)); },
     [](world& w) { EXPECT_EQ(w.full.try_pop(), 1); }},
    {"readable", [](world& w) -> co<> { co_await braid::readable(w.pipe.both[0]); },
     [](world& w) { w.pipe.put(); }},
    {"task", [](world& w) -> co<> { co_await w.of_gate; }, [](world& w) { w.gate.finish(); }},
    {"completion",
     [](world& w) -> co<> {
         const braid::completion_id id = braid::this_task::defer();
         w.deferred = id.value;
         co_await id;
     },
     [](world& w) {
         while (w.deferred == 0) std::this_thread::yield();
         EXPECT_TRUE(w.s.complete({w.deferred}));
     }},
};

/// `before` is what the coroutine does before the await that hears of the cancellation, of `first`
/// or of an event that nobody sets.
co<> cleans_up(world& w, const way& how, task_id first, std::function<void()> before) {
    before();
    bool heard = false;
    try {
        if (first) co_await first;
        co_await w.never;
    } catch (const braid::task_cancelled&) {
        heard = true;
    } catch (const std::runtime_error&) {
        heard = true;
    }
    EXPECT_TRUE(heard);
    w.cleans = true;
    co_await how.await(w);
    EXPECT_EQ(w.released, how.release != nullptr) << "it ended before what it awaits";
    co_await braid::yield();
    w.cleaned = true;
}

void release_and_end(world& w, const way& how, braid::future<void>& cleans) {
    while (!w.cleans) {
        braid::event never(w.s);
        w.s.do_work_while_waiting_for(never, braid::microseconds(50));
    }
    if (how.release != nullptr) {
        w.released = true;
        how.release(w);
    }
    cleans.get();
    EXPECT_TRUE(w.cleaned);
    w.gate.finish();
}

class CleanUp : public braid_test::coroutine_test {
protected:
    /// Calls `test` for each thing that a clean-up may await, with a scheduler of its own.
    template <class Test>
    void each_way(Test&& test) {
        for (const way& how : ways) {
            SCOPED_TRACE(how.name);
            braid::scheduler s(options());
            world w(s);
            test(s, w, how);
        }
    }
    /// Returns when the coroutine waits for `first`.
    braid::future<void> suspended(world& w, const way& how, braid::scope* within, task_id first) {
        const unsigned before = pauses_.suspended;
        auto f = braid::co_spawn(w.s, {.within = within}, cleans_up(w, how, first, [] {}));
        until_suspended(w.s, before + 1);
        return f;
    }
};

TEST_P(CleanUp, AwaitsWhatItWantsWhereTheBodyHasCancelledItsScope) {
    each_way([](braid::scheduler& s, world& w, const way& how) {
        braid::scope level(s);
        auto f = braid::co_spawn(s, {.within = &level},
                                 cleans_up(w, how, {}, [&level] { level.cancel(); }));
        release_and_end(w, how, f);
        level.wait();
    });
}

TEST_P(CleanUp, AwaitsWhatItWantsWhereItWasSuspended) {
    each_way([this](braid::scheduler& s, world& w, const way& how) {
        braid::scope level(s);
        auto gate = s.begin({}, braid::empty);
        auto f = suspended(w, how, &level, gate.id());
        level.cancel();
        release_and_end(w, how, f);
        level.wait();
    });
}

TEST_P(CleanUp, AwaitsWhatItWantsWhereASiblingHasFailed) {
    each_way([this](braid::scheduler& s, world& w, const way& how) {
        braid::scope level(s, braid::on_failure::cancel);
        auto gate = s.begin({}, braid::empty);
        const task_id sibling = s.spawn({.after = {gate.id()}, .within = &level},
                                        [] { throw std::runtime_error("disk"); });
        auto f = suspended(w, how, &level, sibling);
        gate.finish();
        release_and_end(w, how, f);
        try {
            level.wait();
        } catch (const std::runtime_error&) {
        }
    });
}

TEST_P(CleanUp, AwaitsWhatItWantsWhereTheAwaitedTaskWasCancelledToo) {
    each_way([](braid::scheduler& s, world& w, const way& how) {
        braid::scope level(s), own(s);
        level.cancel();
        const task_id awaited = s.spawn({.within = &level}, [] {});
        until(s, [&] { return s.done(awaited); });
        auto f = braid::co_spawn(s, {.within = &own},
                                 cleans_up(w, how, awaited, [&own] { own.cancel(); }));
        release_and_end(w, how, f);
        own.wait();
        level.wait();
    });
}

TEST_P(CleanUp, AwaitsWhatItWantsWhereItIsTheRest) {
    each_way([this](braid::scheduler& s, world& w, const way& how) {
        braid::scope rest(s);
        auto gate = s.begin({}, braid::empty);
        auto f = suspended(w, how, &rest, gate.id());
        const auto race = [](braid::scheduler& on, braid::scope& in, task_id other) -> co<> {
            const task_id ids[] = {other, on.spawn([] {})};
            EXPECT_EQ(co_await braid::when_any(ids, braid::cancel_rest{in}), 1U);
        };
        braid::co_spawn(s, {}, race(s, rest, f.id())).get();
        release_and_end(w, how, f);
        rest.wait();
    });
}

TEST_P(CleanUp, AwaitsWhatItWantsWhileAShutdownDiscardsAndWaitsForIt) {
    each_way([this](braid::scheduler& s, world& w, const way& how) {
        auto f = suspended(w, how, nullptr, {});
        std::thread ends([&] {
            s.shut_down(braid::shutdown::discard);
            EXPECT_TRUE(w.cleaned) << "the shutdown did not wait";
        });
        release_and_end(w, how, f);
        ends.join();
    });
}

TEST_P(CleanUp, ThatHasBegunIsNotEndedByAShutdownThatDiscards) {
    each_way([](braid::scheduler& s, world& w, const way& how) {
        braid::scope level(s);
        auto f = braid::co_spawn(s, {.within = &level},
                                 cleans_up(w, how, {}, [&level] { level.cancel(); }));
        until(s, [&] { return w.cleans.load(); });
        std::thread ends([&] { s.shut_down(braid::shutdown::discard); });
        until(s, [&] { return !s.spawn([] {}); });  // refused from the moment when that has begun
        release_and_end(w, how, f);
        ends.join();
    });
}

TEST_P(CleanUp, ThatTakesLongIsNamedByTheShutdown) {
    braid::scheduler_options o = options();
    o.external_patience = braid::milliseconds(1);
    braid::scheduler s(o);
    world w(s);
    braid::scope level(s);
    const way& event = ways[4];
    auto f = braid::co_spawn(s, {.name = "saves", .within = &level},
                             cleans_up(w, event, {}, [&level] { level.cancel(); }));
    until(s, [&] { return w.cleans && s.open_completions(nullptr, 0) == 1; });
    std::thread ends([&] { s.shut_down(braid::shutdown::discard); });
    until(s, [&] { return notes_.count(&braid_test::recorder::log, "of task 'saves'") != 0; });
    release_and_end(w, event, f);
    ends.join();
}

TEST_P(CleanUp, BeginsNotWhereOnlyTheAwaitedTaskWasCancelled) {
    braid::scheduler s(options());
    braid::scope level(s), other(s);
    other.cancel();
    const task_id cancelled = s.spawn({.within = &other}, [] {});
    until(s, [&] { return s.done(cancelled); });
    const auto body = [&]() -> co<int> {
        int heard = 0;
        for (int i = 0; i < 3; ++i) heard += (co_await braid::as_result(cancelled)).cancelled;
        EXPECT_TRUE(co_await braid::as_result(braid::yield()));
        level.cancel();
        heard += (co_await braid::as_result(braid::yield())).cancelled;
        heard += (co_await braid::as_result(braid::yield())).cancelled;
        co_return heard;
    };
    EXPECT_EQ(braid::co_spawn(s, {.within = &level}, body()).get(), 4);
    level.wait();
    other.wait();
}

TEST_P(CleanUp, HearsOfItsCancellationBesideAnError) {
    braid::scheduler s(options());
    braid::scope level(s);
    const task_id failed = s.spawn([] { throw std::runtime_error("disk"); });
    until(s, [&] { return s.done(failed); });
    const auto body = [&]() -> co<bool> {
        level.cancel();
        const braid::await_status first = co_await braid::as_result(failed);
        const braid::await_status second = co_await braid::as_result(braid::yield());
        co_return first.error != nullptr&& first.cancelled&& second;
    };
    EXPECT_TRUE(braid::co_spawn(s, {.within = &level}, body()).get());
    level.wait();
}

TEST_P(CleanUp, SpawnsIntoItsCancelledScopeWhatDoesNotRun) {
    braid::scheduler s(options());
    // Not in the coroutine: its frame is aligned to 16 bytes only.
    braid::scope level(s), fresh(s);
    std::atomic<int> ran{0};
    const auto body = [&]() -> co<> {
        level.cancel();
        EXPECT_TRUE((co_await braid::as_result(braid::yield())).cancelled);
        const task_id in = s.spawn({.within = &level}, [&ran] { ++ran; });
        EXPECT_TRUE((co_await braid::as_result(in)).cancelled);
        const task_id out = s.spawn({.within = &fresh}, [&ran] { ++ran; });
        EXPECT_TRUE(co_await braid::as_result(out));
    };
    braid::co_spawn(s, {.within = &level}, body()).get();
    EXPECT_EQ(ran, 1);
    level.wait();
    fresh.wait();
}

INSTANTIATE_TEST_SUITE_P(Workers, CleanUp, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

}  // namespace
