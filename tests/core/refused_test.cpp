// What memory, seats and threads that run out may cost: an operation is refused, never half done,
// and no wait returns before what it waits for has come.
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/observer.hpp>
#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <array>
#include <functional>
#include <optional>

namespace {

using braid_test::refusing_memory;

BRAID_SCHEDULER_TEST(Refused);

/// Which requests of one round are refused, and until when.
class shortage {
public:
    shortage(refusing_memory& memory, int granted, bool ends_before)
        : memory_(memory), granted_(granted), ends_before_(ends_before) {}

    void begin() { memory_.refuse_after(granted_); }
    void begin_at_once() { memory_.refuse_after(0); }
    /// To be called before the last wait of the operation: in one half of the sweep memory has come
    /// back by then, in the other half it comes back after the wait.
    void before_last_wait() {
        if (ends_before_) end();
    }
    void end() { memory_.give_back(); }
    /// Also how far the round is.
    int granted() const { return granted_; }
    bool felt() const { return memory_.refused() > 0; }

private:
    refusing_memory& memory_;
    const int granted_;
    const bool ends_before_;
};

/// Runs `operation(scheduler, shortage)` with the memory gone from each request on in turn, until a
/// round needs no more than there is.
template <class Operation>
void sweep(braid::scheduler_options o, Operation&& operation) {
    constexpr int most = braid_test::sanitized ? 12 : 40;
    o.workers = std::min(o.workers, 2);
    int refused = 0;
    for (const bool ends_before : {false, true}) {
        for (int k = 0; k < most; ++k) {
            refusing_memory memory(o.memory);
            braid::scheduler_options with = o;
            with.memory = memory.hooks();
            braid::scheduler s(with);
            SCOPED_TRACE("refused from request " + std::to_string(k) +
                         (ends_before ? ", until the last wait" : ""));
            operation(s, shortage(memory, k, ends_before));
            memory.give_back();
            s.shut_down();
            const braid::scheduler_statistics sum = s.statistics();
            ASSERT_EQ(sum.created, sum.ended());
            refused += memory.refused();
            if (memory.refused() == 0 && k > 4) break;
        }
    }
    // Under a sanitizer who waits may be late enough to need no memory for that.
    if (!braid_test::sanitized) {
        EXPECT_GT(refused, 0) << "the operation asked for no memory: it was not tested";
    }
}

/// Waits for the scope, whether that throws or not.
void wait_anyhow(braid::scope& all) {
    try {
        all.wait();
    } catch (const std::exception&) {
    }
}

/// Options with which each first call of a foreign thread asks for a seat.
braid::scheduler_options without_guests(braid::scheduler_options o) {
    o.guests = 0;
    return o;
}

/// A foreign thread makes a task: it asks for a seat, and takes the spare one where it gets none.
void call_from_outside(braid::scheduler& s) {
    std::thread([&] { static_cast<void>(s.spawn([] {})); }).join();
}

TEST_P(Refused, MemoryMakesNoWaitForATaskReturnEarly) {
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        auto gate = s.begin({}, braid::empty);
        std::atomic<bool> ran{false};
        const auto id = s.spawn({.after = {gate.id()}}, [&] { ran = true; });
        ASSERT_TRUE(id);
        memory.begin();
        call_from_outside(s);
        std::thread opener([&] { gate.finish(); });
        memory.before_last_wait();
        s.wait(id);
        EXPECT_TRUE(ran);
        EXPECT_TRUE(s.done(id));
        opener.join();
    });
}

TEST_P(Refused, MemoryMakesNoWaitInATaskReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, shortage memory) {
        std::atomic<int> early{0};
        const auto outer = s.spawn([&](braid::task_context& task) {
            memory.begin();
            // Deeper and deeper, so that each wait needs what it needs anew.
            std::function<void(braid::task_context&, int)> nest = [&](braid::task_context& t,
                                                                      int left) {
                if (left == 0) return;
                bool ran = false;
                const auto id = t.spawn([&](braid::task_context& inner) {
                    nest(inner, left - 1);
                    ran = true;
                });
                if (!id || left == 1) memory.before_last_wait();
                t.wait(id);
                if (id && !ran) ++early;
            };
            nest(task, 300);  // more tasks than there are slots from the start
        });
        s.wait(outer);
        EXPECT_EQ(early, 0);
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAScopeReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, shortage memory) {
        braid::scope all(s);
        std::atomic<int> ran{0};
        memory.begin();
        for (int i = 0; i < 600; ++i) all.post([&] { ++ran; });
        memory.before_last_wait();
        all.wait();
        const braid::scope_account account = all.account();
        EXPECT_EQ(account.created, account.executed);
        EXPECT_EQ(account.created, static_cast<std::uint64_t>(ran));
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAnEventReturnEarly) {
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        braid::event happened(s);
        std::atomic<bool> set{false};
        memory.begin();
        call_from_outside(s);
        memory.before_last_wait();
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
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        auto gate = s.begin({}, braid::empty);
        auto value = s.async({.after = {gate.id()}}, [] { return 42; });
        ASSERT_TRUE(value.valid());
        memory.begin();
        call_from_outside(s);
        std::thread opener([&] { gate.finish(); });
        memory.before_last_wait();
        EXPECT_EQ(value.get(), 42);
        opener.join();
    });
}

TEST_P(Refused, MemoryMakesNoRunOfAGraphReturnEarly) {
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        braid::graph g(s);
        std::atomic<int> ran{0};
        const auto a = g.add([&] { ++ran; });
        const auto b = g.add([&] { ++ran; });
        g.precede(a, b);
        g.run_and_wait();
        ran = 0;
        memory.begin();
        const auto id = g.run();
        memory.begin();
        call_from_outside(s);
        memory.before_last_wait();
        s.wait(id);
        EXPECT_TRUE(!id || ran == 2);
        ran = 0;
        g.run_and_wait();
        EXPECT_TRUE(ran == 2 || memory.felt());
        EXPECT_NE(ran, 1);
    });
}

TEST_P(Refused, MemoryMakesNoWaitForAJobListReturnEarly) {
    notes_.expects_misuse = true;  // of a wait for a list that could not be submitted
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        braid::job_list_manager lists(s);
        std::atomic<int> ran{0};
        const auto add_one = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
        lists.register_job(+add_one, "add one");
        braid::job_list* list = lists.allocate({.name = "ten", .max_jobs = 16});
        ASSERT_NE(list, nullptr);
        for (int i = 0; i < 10; ++i) list->add(+add_one, &ran);
        memory.begin();
        const auto submitted = static_cast<bool>(list->submit());
        call_from_outside(s);
        memory.before_last_wait();
        list->wait();
        if (submitted) {
            EXPECT_EQ(ran, 10);
        }
        memory.end();
        lists.free(list);
        EXPECT_TRUE(!submitted || ran == 10);
    });
}

TEST_P(Refused, MemoryMakesNoPipelineReturnEarly) {
    sweep(options(), [&](braid::scheduler& s, shortage memory) {
        std::atomic<int> sum{0};
        memory.begin();
        int next = 0;
        braid::pipeline(s, {.tokens = 4}, braid::serial([&]() -> std::optional<int> {
                            if (next == 99) memory.before_last_wait();
                            return next < 100 ? std::optional(++next) : std::nullopt;
                        }),
                        braid::parallel([](int i) { return i; }),
                        braid::serial([&](int i) { sum += i; }));
        EXPECT_EQ(sum, 5050);
    });
}

TEST_P(Refused, MemoryLosesNoBodyOfABatch) {
    enum class way { plain, background, on, workers, observer, chooser };
    struct hearing final : braid::observer {
        void on_event(const braid::task_event&) override {}
    } hears;
    braid_test::seeded_chooser chooses(1);
    for (const way w :
         {way::plain, way::background, way::on, way::workers, way::observer, way::chooser}) {
        if (w == way::workers && GetParam() == 0) continue;
        SCOPED_TRACE(static_cast<int>(w));
        braid::scheduler_options with = options();
        if (w == way::observer) with.observer = &hears;
        if (w == way::chooser) with.chooser = &chooses;
        // With a chooser each is a decision.
        const std::size_t count = braid_test::scaled(w == way::chooser ? 400 : 2'000);
        sweep(with, [&](braid::scheduler& s, shortage memory) {
            std::atomic<std::size_t> ran{0};
            braid::scope all(s);
            braid::task_options o{.name = "batch", .within = &all};
            if (w == way::background) o.runs_as = braid::task_class::background;
            if (w == way::on) o.on = s.this_thread();
            if (w == way::workers) o.workers = 1;
            // By a task of its own first, so that the thread of the class exists.
            s.wait(s.spawn(o, [] {}));
            // A batch may ask for few slots only, so others have them. Some are given back, or some
            // requests granted.
            std::vector<braid::task_builder> others;
            memory.begin_at_once();
            do {
                others.push_back(s.begin({}, braid::empty));
            } while (others.back().id());
            if (memory.granted() % 2 == 0) memory.begin();
            for (int i = memory.granted() % 2 * memory.granted(); i >= 0; --i) others.pop_back();
            const auto id = s.spawn_batch(o, count, [&](std::size_t) { ++ran; });
            memory.before_last_wait();
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
    sweep(options(), [&](braid::scheduler& s, shortage memory) {
        braid::scope all(s);
        std::atomic<bool> successor_ran{false};
        auto gate = s.begin({}, braid::empty);
        const auto failing = all.spawn({.name = "failing", .after = {gate.id()}},
                                       [] { throw std::runtime_error("planned"); });
        auto later = s.async({.after = {failing}, .within = &all}, [&] { successor_ran = true; });
        auto value = s.async({.after = {gate.id()}}, [] { throw std::runtime_error("value"); });
        ASSERT_TRUE(failing && later.valid() && value.valid());
        memory.begin();
        std::thread opener([&] { gate.finish(); });
        EXPECT_ANY_THROW(later.get());
        EXPECT_ANY_THROW(value.get());
        opener.join();
        memory.before_last_wait();
        wait_anyhow(all);
        EXPECT_FALSE(successor_ran);
        EXPECT_EQ(all.account().executed, 0U);
    });
}

TEST_P(Refused, MemoryLetsAChildsFailureReachAParentWhoseBodyStillRuns) {
    if (GetParam() == 0) GTEST_SKIP() << "the child runs beside its parent";
    // A plain parent ends in a shortcut, which did not look for it.
    for (const bool followed : {false, true}) {
        sweep(options(), [&](braid::scheduler& s, shortage memory) {
            braid::scope all(s);
            std::atomic<bool> linked{false}, successor_ran{false};
            const auto parent = all.spawn({}, [&](braid::task_context& task) {
                braid_test::until([&] { return linked.load(); });
                const auto child = task.spawn_child([] { throw std::runtime_error("planned"); });
                memory.begin();
                braid_test::until([&] { return s.done(child); });
            });
            braid::future<void> later;
            if (followed) later = s.async({.after = {parent}}, [&] { successor_ran = true; });
            linked = true;
            if (followed) {
                EXPECT_ANY_THROW(later.get());
            }
            memory.before_last_wait();
            wait_anyhow(all);
            EXPECT_FALSE(successor_ran);
            EXPECT_EQ(all.account().executed, 0U);
        });
    }
}

TEST_P(Refused, MemoryLosesNoDependencyWithoutAWord) {
    // add_dependency() said "yes" and made no edge: the join completed before its predecessors.
    sweep(options(), [&](braid::scheduler& s, shortage memory) {
        constexpr int count = 600;
        auto gate = s.begin({}, braid::empty);
        std::vector<braid::task_id> ids;
        std::atomic<int> ran{0};
        for (int i = 0; i < count; ++i) {
            ids.push_back(s.spawn({.after = {gate.id()}}, [&] { ++ran; }));
        }
        auto join = s.begin({}, braid::empty);
        memory.begin();
        int linked = 0;
        for (const braid::task_id id : ids) linked += join.add_dependency(id);
        memory.before_last_wait();
        const braid::task_id all = join.finish();
        EXPECT_EQ(s.done(all), linked == 0);
        gate.finish();
        s.wait(all);
        EXPECT_GE(ran, linked);
        for (const braid::task_id id : ids) s.wait(id);  // those without an edge use `ran`, too
        EXPECT_TRUE(linked == count || memory.felt());
    });
}

TEST_P(Refused, MemoryForSeatsBlocksNoForeignCall) {
    sweep(without_guests(options()), [&](braid::scheduler& s, shortage memory) {
        for (const bool helped : {true, false}) {
            memory.begin();
            std::atomic<bool> ran{false};
            std::atomic<bool> over{false};
            std::thread foreign([&] {
                const auto id = s.spawn([&] { ran = true; });
                memory.before_last_wait();
                s.wait(id);
                EXPECT_EQ(ran, static_cast<bool>(id));
                over = true;
            });
            // With 0 workers somebody must run it: this thread, or the foreign one as soon as there
            // is memory for a seat.
            braid::event never(s);
            while (helped && !over) s.do_work_while_waiting_for(never, braid::milliseconds(1));
            memory.end();
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
