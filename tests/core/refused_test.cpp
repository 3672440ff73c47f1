// What memory, seats and threads that run out may cost: an operation is refused, never half done,
// and no wait returns before what it waits for has come.
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <array>
#include <functional>
#include <optional>

namespace {

using braid_test::refusing_memory;

BRAID_SCHEDULER_TEST(Refused);

/// Runs `operation(scheduler, memory)` with the memory gone from each request on in turn, until a
/// round needs no more than there is.
template <class Operation>
void sweep(braid::scheduler_options o, Operation&& operation) {
    constexpr int most = 40;
    o.workers = std::min(o.workers, 2);
    for (int k = 0; k < most; ++k) {
        refusing_memory memory(o.memory);
        braid::scheduler_options with = o;
        with.memory = memory.hooks();
        braid::scheduler s(with);
        SCOPED_TRACE("refused from request " + std::to_string(k));
        operation(s, memory, k);
        memory.give_back();
        s.shut_down();
        const braid::scheduler_statistics sum = s.statistics();
        ASSERT_EQ(sum.created, sum.ended());
        if (memory.refused() == 0 && k > 4) break;
    }
}

TEST_P(Refused, MemoryMakesNoWaitForATaskReturnEarly) {
    for (const bool before : {false, true}) {
        sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
            auto gate = s.begin({}, braid::empty);
            std::atomic<bool> ran{false};
            const auto id = s.spawn({.after = {gate.id()}}, [&] { ran = true; });
            ASSERT_TRUE(id);
            memory.refuse_after(k);
            std::thread opener([&] { gate.finish(); });
            if (before) memory.give_back();
            s.wait(id);
            EXPECT_TRUE(ran);
            EXPECT_TRUE(s.done(id));
            opener.join();
        });
    }
}

TEST_P(Refused, MemoryMakesNoWaitInATaskReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        std::atomic<int> early{0};
        const auto outer = s.spawn([&](braid::task_context& task) {
            memory.refuse_after(k);
            // Deeper and deeper, so that each wait needs what it needs anew.
            std::function<void(braid::task_context&, int)> nest = [&](braid::task_context& t,
                                                                      int left) {
                if (left == 0) return;
                bool ran = false;
                const auto id = t.spawn([&](braid::task_context& inner) {
                    nest(inner, left - 1);
                    ran = true;
                });
                t.wait(id);
                if (id && !ran) ++early;
            };
            nest(task, 40);
            memory.give_back();
        });
        s.wait(outer);
        EXPECT_EQ(early, 0);
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAScopeReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        braid::scope all(s);
        std::atomic<int> ran{0};
        memory.refuse_after(k);
        for (int i = 0; i < 600; ++i) all.post([&] { ++ran; });
        all.wait();
        const braid::scope_account account = all.account();
        EXPECT_EQ(account.created, account.executed);
        EXPECT_EQ(account.created, static_cast<std::uint64_t>(ran));
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAnEventReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        braid::event happened(s);
        std::atomic<bool> set{false};
        memory.refuse_after(k);
        std::thread setter([&] {
            set = true;
            happened.set();
        });
        EXPECT_TRUE(s.do_work_while_waiting_for(happened));
        EXPECT_TRUE(set);
        EXPECT_FALSE(happened.is_set()) << "an automatic event goes to its waiter";
        setter.join();
        braid::event stop(s);
        std::thread stopper([&] { stop.set(); });
        s.work_until(stop);
        EXPECT_FALSE(stop.is_set());
        stopper.join();
    });
}

TEST_P(Refused, MemoryMakesNoFutureBreakItsPromise) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        auto gate = s.begin({}, braid::empty);
        auto value = s.async({.after = {gate.id()}}, [] { return 42; });
        ASSERT_TRUE(value.valid());
        memory.refuse_after(k);
        std::thread opener([&] { gate.finish(); });
        EXPECT_EQ(value.get(), 42);
        opener.join();
    });
}

TEST_P(Refused, MemoryMakesNoRunOfAGraphReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        braid::graph g(s);
        std::atomic<int> ran{0};
        const auto a = g.add([&] { ++ran; });
        const auto b = g.add([&] { ++ran; });
        g.precede(a, b);
        g.run_and_wait();
        ran = 0;
        memory.refuse_after(k);
        const auto id = g.run();
        memory.refuse_after(k);
        s.wait(id);
        EXPECT_TRUE(!id || ran == 2);
        ran = 0;
        g.run_and_wait();
        EXPECT_TRUE(ran == 2 || memory.refused() > 0);
        EXPECT_NE(ran, 1);
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAJobListReturnEarly) {
    notes_.expects_misuse = true;  // of a wait for a list that could not be submitted
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        braid::job_list_manager lists(s);
        std::atomic<int> ran{0};
        const auto add_one = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
        lists.register_job(+add_one, "add one");
        braid::job_list* list = lists.allocate({.name = "ten", .max_jobs = 16});
        ASSERT_NE(list, nullptr);
        for (int i = 0; i < 10; ++i) list->add(+add_one, &ran);
        memory.refuse_after(k);
        const auto submitted = static_cast<bool>(list->submit());
        list->wait();
        if (submitted) {
            EXPECT_EQ(ran, 10);
        }
        memory.give_back();
        lists.free(list);
        EXPECT_TRUE(!submitted || ran == 10);
    });
}

TEST_P(Refused, MemoryMakesNoPipelineReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        std::atomic<int> sum{0};
        memory.refuse_after(k);
        int next = 0;
        braid::pipeline(s, {.tokens = 4}, braid::serial([&]() -> std::optional<int> {
                            return next < 100 ? std::optional(++next) : std::nullopt;
                        }),
                        braid::parallel([](int i) { return i; }),
                        braid::serial([&](int i) { sum += i; }));
        EXPECT_EQ(sum, 5050);
    });
}

TEST_P(Refused, MemoryLosesNoBodyOfABatch) {
    constexpr std::size_t count = 2'000;
    enum class way { plain, background, on, workers };
    for (const way w : {way::plain, way::background, way::on, way::workers}) {
        if (w == way::workers && GetParam() == 0) continue;
        sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
            std::atomic<std::size_t> ran{0};
            braid::scope all(s);
            braid::task_options o{.name = "batch", .within = &all};
            if (w == way::background) o.runs_as = braid::task_class::background;
            if (w == way::on) o.on = s.this_thread();
            if (w == way::workers) o.workers = 1;
            // By a task of its own first, so that the thread of the class exists.
            s.wait(s.spawn(o, [] {}));
            memory.refuse_after(k);
            const auto id = s.spawn_batch(o, count, [&](std::size_t) { ++ran; });
            if (id) {
                s.wait(id);
                EXPECT_EQ(ran, count);
            }
            all.wait();  // counts its ends a moment after the tasks read as done
        });
    }
}

TEST_P(Refused, MemoryMakesNoFailureASuccess) {
    // Without memory for its record a failure was forgotten: no wait threw, and successors ran.
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        braid::scope all(s);
        std::atomic<bool> successor_ran{false};
        auto gate = s.begin({}, braid::empty);
        const auto failing = all.spawn({.name = "failing", .after = {gate.id()}},
                                       [] { throw std::runtime_error("planned"); });
        auto later = s.async({.after = {failing}, .within = &all}, [&] { successor_ran = true; });
        auto value = s.async({.after = {gate.id()}}, [] { throw std::runtime_error("value"); });
        ASSERT_TRUE(failing && later.valid() && value.valid());
        memory.refuse_after(k);
        std::thread opener([&] { gate.finish(); });
        EXPECT_ANY_THROW(later.get());
        EXPECT_ANY_THROW(value.get());
        opener.join();
        memory.give_back();
        try {
            all.wait();
        } catch (const std::exception&) {
        }
        EXPECT_FALSE(successor_ran);
        EXPECT_EQ(all.account().executed, 0U);
    });
}

TEST_P(Refused, MemoryLosesNoDependencyWithoutAWord) {
    // add_dependency() said "yes" and made no edge: the join completed before its predecessors.
    sweep(options(), [&](braid::scheduler& s, refusing_memory& memory, int k) {
        constexpr int count = 600;
        auto gate = s.begin({}, braid::empty);
        std::vector<braid::task_id> ids;
        std::atomic<int> ran{0};
        for (int i = 0; i < count; ++i) {
            ids.push_back(s.spawn({.after = {gate.id()}}, [&] { ++ran; }));
        }
        auto join = s.begin({}, braid::empty);
        memory.refuse_after(k);
        int linked = 0;
        for (const braid::task_id id : ids) linked += join.add_dependency(id);
        memory.give_back();
        const braid::task_id all = join.finish();
        EXPECT_EQ(s.done(all), linked == 0);
        gate.finish();
        s.wait(all);
        EXPECT_GE(ran, linked);
        for (const braid::task_id id : ids) s.wait(id);  // those without an edge use `ran`, too
        EXPECT_TRUE(linked == count || memory.refused() > 0);
    });
}

TEST_P(Refused, MemoryForSeatsBlocksNoForeignCall) {
    braid::scheduler_options o = options();
    o.guests = 0;  // the first foreign call wants a seat
    sweep(o, [&](braid::scheduler& s, refusing_memory& memory, int k) {
        for (const bool helped : {true, false}) {
            memory.refuse_after(k);
            std::atomic<bool> ran{false};
            std::atomic<bool> over{false};
            std::thread foreign([&] {
                const auto id = s.spawn([&] { ran = true; });
                s.wait(id);
                EXPECT_EQ(ran, static_cast<bool>(id));
                over = true;
            });
            // With 0 workers somebody must run it: this thread, or the foreign one as soon as there
            // is memory for a seat.
            braid::event never(s);
            while (helped && !over) s.do_work_while_waiting_for(never, braid::milliseconds(1));
            memory.give_back();
            foreign.join();
        }
    });
}

TEST_P(Refused, SeatsLetThreeHundredForeignThreadsWaitForWhatOneMorePosts) {
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 2);
    braid::scheduler s(o);
    braid::event go(s, braid::reset::manual);
    constexpr int count = 300;
    std::atomic<int> inside{0};
    std::atomic<int> over{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            ++inside;
            if (i % 2 == 0) {
                while (!s.do_work_while_waiting_for(go, braid::milliseconds(20))) {
                }
            } else {
                EXPECT_TRUE(s.do_work_while_waiting_for(go));
            }
            ++over;
        });
    }
    braid_test::until([&] { return inside == count; });
    std::thread last([&] { s.wait(s.spawn([&] { go.set(); })); });
    last.join();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(over, count);
}

}  // namespace
