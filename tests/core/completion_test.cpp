// A1: a task stays open until somebody outside says that its work is done.
#include "misuse.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include "core/control/runtime.hpp"

#include <braid/graph/graph.hpp>

#include <array>
#include <climits>
#include <memory>
#include <optional>

namespace {

using braid::completion_error;
using braid::completion_id;
using braid::completion_options;
using braid::task_context;
using braid::task_id;

/// Takes ids from tasks to a thread outside, in order.
class outbox {
public:
    void put(completion_id id) {
        const std::lock_guard lock(mutex_);
        ids_.push_back(id);
    }
    completion_id take() {
        completion_id id;
        braid_test::until([&] {
            const std::lock_guard lock(mutex_);
            if (next_ == ids_.size()) return false;
            id = ids_[next_++];
            return true;
        });
        return id;
    }
    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return ids_.size();
    }

private:
    std::mutex mutex_;
    std::vector<completion_id> ids_;
    std::size_t next_ = 0;
};

/// libstdc++ counts the owners of an exception where ThreadSanitizer does not see it, so that its
/// contents are read without that only.
void expect_error(const completion_error& e, int code, const std::string& sentence = {}) {
    if (braid_test::sanitized) return;
    EXPECT_EQ(e.code(), code);
    if (!sentence.empty()) {
        EXPECT_EQ(e.what(), sentence);
    }
}

class Completion : public braid_test::scheduler_test {
protected:
    /// Also without workers.
    template <class Happened>
    static void work_until(braid::scheduler& s, Happened&& happened) {
        while (!happened()) {
            braid::event never(s);
            s.do_work_while_waiting_for(never, braid::microseconds(50));
        }
    }
    /// Nobody may have been left behind.
    static void expect_all_settled(const braid::scheduler& s) {
        expect_all_ended(s);
        EXPECT_EQ(s.statistics().deferred, s.statistics().settled);
        EXPECT_EQ(s.open_completions(nullptr, 0), 0U);
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Completion, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Completion, ATaskThatDefersIsCompleteWhenSomebodyOutsideSaysSo) {
    braid::scheduler s(options());
    outbox out;
    int written = 0;
    std::atomic<bool> complete_before{false};
    const task_id id = s.spawn([&](task_context& task) { out.put(task.defer()); });
    const task_id after = s.spawn({.after = {id}}, [&] { complete_before = written == 7; });
    std::thread outside([&] {
        const completion_id c = out.take();
        written = 7;
        EXPECT_FALSE(s.done(id));
        EXPECT_FALSE(s.completed(c));
        EXPECT_TRUE(s.complete(c));
        EXPECT_TRUE(s.completed(c));
    });
    s.wait(id);
    EXPECT_EQ(written, 7);
    s.wait(after);
    EXPECT_TRUE(complete_before);
    outside.join();
    expect_all_settled(s);
}

TEST_P(Completion, OfATaskOfTheSameSchedulerIsCompletedByATask) {
    braid::scheduler s(options());
    for (int i = 0; i < 100; ++i) {
        outbox out;
        const task_id id = s.spawn([&](task_context& task) { out.put(task.defer()); });
        work_until(s, [&] { return out.count() == 1; });
        s.wait(s.spawn([&] { EXPECT_TRUE(s.complete(out.take())); }));
        s.wait(id);
    }
    expect_all_settled(s);
}

TEST_P(Completion, InTheBodyItselfIsJustAsGood) {
    braid::scheduler s(options());
    int left = 0;
    s.wait(s.spawn([&](task_context& task) {
        for (int i = 0; i < 10; ++i) left += s.complete(task.defer());
        EXPECT_TRUE(s.complete(braid::this_task::defer()));
    }));
    EXPECT_EQ(left, 10);
    expect_all_settled(s);
}

TEST_P(Completion, IsSettledOnceAndLaterCallsChangeNothing) {
    braid::scheduler s(options());
    outbox out;
    const task_id id = s.spawn([&](task_context& task) {
        out.put(task.defer());
        out.put(task.defer());
    });
    std::thread outside([&] {
        const completion_id first = out.take();
        const completion_id second = out.take();
        EXPECT_NE(first, second);
        EXPECT_TRUE(s.complete(first));
        for (int i = 0; i < 10; ++i) EXPECT_FALSE(s.complete(first, {.code = 5}));
        EXPECT_FALSE(s.try_complete(first));
        EXPECT_FALSE(s.done(id)) << "the second one is open";
        EXPECT_TRUE(s.complete(second));
        EXPECT_FALSE(s.complete(second));
    });
    EXPECT_NO_THROW(s.wait(id));
    outside.join();
    expect_all_settled(s);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(Completion, OfThousandsAreEachSettledByOneOfManyThreads) {
    braid::scheduler s(options());
    constexpr int threads = 4;
    const int each = static_cast<int>(braid_test::scaled(200));
    std::vector<completion_id> ids(static_cast<std::size_t>(each) * 5);
    std::atomic<std::size_t> armed{0};
    const task_id all = s.spawn([&](task_context& task) {
        for (std::size_t i = 0; i < ids.size(); i += 5) {
            task.spawn_child([&, i](task_context& child) {
                for (std::size_t n = i; n < i + 5; ++n) ids[n] = child.defer({.name = "part"});
                armed += 5;
            });
        }
    });
    std::atomic<std::size_t> won{0};
    std::vector<std::thread> outside;
    for (int t = 0; t < threads; ++t) {
        outside.emplace_back([&] {
            braid_test::until([&] { return armed == ids.size(); });
            for (const completion_id id : ids) won += s.complete(id);
        });
    }
    s.wait(all);
    for (std::thread& t : outside) t.join();
    EXPECT_EQ(won, ids.size());
    expect_all_settled(s);
}

TEST_P(Completion, AFailureOutsideIsTheTasksWithItsCodeAndSentence) {
    braid::scheduler s(options());
    outbox out;
    std::atomic<bool> ran{false};
    std::string gone = "the disk is full";
    const task_id id = s.spawn({.name = "save"},
                               [&](task_context& task) { out.put(task.defer({.name = "write"})); });
    braid::future<void> after = s.async({.after = {id}}, [&] { ran = true; });
    std::thread outside([&] {
        EXPECT_TRUE(s.complete(out.take(), {.code = 28, .sentence = gone.c_str()}));
        gone = "................";
    });
    try {
        after.get();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const completion_error& e) {
        expect_error(e, 28, "the disk is full");
    }
    outside.join();
    EXPECT_FALSE(ran);
    expect_all_settled(s);
}

TEST_P(Completion, WithoutASentenceIsNamedInTheError) {
    braid::scheduler s(options());
    for (const int code : {1, -1, INT_MAX, INT_MIN + 1}) {
        braid::future<void> save = s.async({.name = "save"}, [&](task_context& task) {
            s.complete(task.defer({.name = "write"}), {.code = code});
        });
        try {
            save.get();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const completion_error& e) {
            expect_error(e, code, "completion 'write' failed with code " + std::to_string(code));
        }
    }
    braid::future<void> own = s.async([&](task_context& task) {
        s.complete(task.defer(), {.error = std::make_exception_ptr(std::string("mine"))});
    });
    try {
        own.get();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::string& e) {
        EXPECT_EQ(e, "mine");
    }
    s.shut_down();
    expect_all_settled(s);
}

TEST_P(Completion, DestroysWhatItKeepsAfterItWasSettledAndBeforeTheTaskIsComplete) {
    braid::scheduler s(options());
    outbox out;
    auto buffer = std::make_shared<int>(0);
    std::weak_ptr<int> seen = buffer;
    auto captured = std::make_shared<int>(1);
    std::weak_ptr<int> capture = captured;
    const task_id id =
        s.spawn([&out, captured = std::move(captured), buffer](task_context& task) mutable {
            out.put(task.defer({.keep = std::move(buffer)}));
        });
    buffer.reset();
    const task_id after = s.spawn({.after = {id}}, [&] { EXPECT_TRUE(seen.expired()); });
    std::thread outside([&] {
        const completion_id c = out.take();
        braid_test::until([&] { return capture.expired(); });
        ASSERT_FALSE(seen.expired()) << "what is kept outlives the captures";
        *seen.lock() = 5;
        s.complete(c);
    });
    s.wait(id);
    EXPECT_TRUE(seen.expired());
    s.wait(after);
    outside.join();
    expect_all_settled(s);
}

TEST_P(Completion, MayKeepFortyEightBytesOfAnythingThatMoves) {
    struct wide {
        std::unique_ptr<int> own;
        std::array<char, 40> bytes;
    };
    static_assert(sizeof(wide) == braid::completion_keep::capacity);
    braid::scheduler s(options());
    s.wait(s.spawn([&](task_context& task) {
        s.complete(task.defer({.keep = wide{std::make_unique<int>(1), {}}}));
        braid::completion_keep first = std::make_unique<int>(2);
        braid::completion_keep second = std::move(first);
        EXPECT_FALSE(first);
        second = braid::completion_keep(std::make_unique<int>(3));
        EXPECT_TRUE(second);
    }));
    expect_all_settled(s);
}

TEST_P(Completion, OfANodeAChildAndAMemberOfABatchHoldsWhatItIsPartOf) {
    braid::scheduler s(options());
    outbox out;
    braid::graph g(s);
    std::atomic<int> order{0};
    const auto load = g.add({.name = "load"}, [&](task_context& t) { out.put(t.defer()); });
    const auto use = g.add({.name = "use"}, [&] { EXPECT_EQ(order.exchange(2), 1); });
    g.precede(load, use);
    std::thread outside([&] {
        for (int round = 0; round < 20; ++round) {
            const completion_id c = out.take();
            order = 1;
            EXPECT_TRUE(s.complete(c));
        }
        for (int i = 0; i < 11; ++i) s.complete(out.take());
    });
    for (int round = 0; round < 20; ++round) {
        g.run_and_wait();
        EXPECT_EQ(order, 2);
    }
    const task_id parent = s.spawn([&](task_context& task) {
        task.spawn_child([&](task_context& child) { out.put(child.defer()); });
    });
    s.wait(parent);
    s.wait(s.spawn_batch({}, 10, [&](std::size_t) {
        // A member has no id of its own: what it starts does.
        braid::scheduler& inner = s;
        inner.spawn([&](task_context& task) { out.put(task.defer()); });
    }));
    work_until(s, [&] { return out.count() == 31; });
    outside.join();
    s.shut_down();
    expect_all_settled(s);
}

TEST_P(Completion, LetsTheScopesCancellationAskEachHintOnce) {
    struct device {
        braid::scheduler& s;
        bool lets_go;
        std::atomic<int> asked{0};
        completion_id last;
        static bool ask(void* data, completion_id id) {
            auto& self = *static_cast<device*>(data);
            ++self.asked;
            self.last = id;
            return self.lets_go;
        }
    };
    braid::scheduler s(options());
    device quick{s, true, {}, {}}, slow{s, false, {}, {}};
    auto buffer = std::make_shared<int>(0);
    std::weak_ptr<int> kept = buffer;
    outbox armed;
    braid::scope level(s);
    const auto defers = [&](completion_options with) {
        return [&armed, w = std::make_shared<completion_options>(std::move(with))](
                   task_context& task) { armed.put(task.defer(std::move(*w))); };
    };
    braid::future<void> a = s.async({.within = &level}, defers({.cancel = {&device::ask, &quick}}));
    const task_id b = level.spawn({}, defers({.cancel = {&device::ask, &slow}}));
    braid::future<void> c = s.async({.within = &level}, defers({}));
    const task_id d = level.spawn({}, defers({.keep = std::move(buffer)}));
    work_until(s, [&] { return armed.count() == 4; });
    level.cancel();
    level.cancel();
    EXPECT_THROW(a.get(), braid::broken_promise);
    EXPECT_THROW(c.get(), braid::broken_promise);
    EXPECT_FALSE(s.done(d)) << "a device may still write into what it keeps";
    EXPECT_FALSE(kept.expired());
    work_until(s, [&] { return slow.asked == 1; });
    EXPECT_FALSE(s.done(b));
    EXPECT_EQ(quick.asked, 1);
    // The device has ended what it was at.
    std::array<braid::completion_info, 8> open;
    ASSERT_EQ(s.open_completions(open.data(), open.size()), 2U);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(s.complete(open[std::size_t(i)].id));
    level.wait();
    EXPECT_EQ(slow.asked, 1);
    EXPECT_TRUE(kept.expired());
    EXPECT_TRUE(s.done(b) && s.done(d));
    EXPECT_EQ(level.account().failed, 2U);
    expect_all_settled(s);
}

TEST_P(Completion, ThatIsArmedInACancelledScopeIsAskedAtOnce) {
    braid::scheduler s(options());
    braid::scope level(s);
    std::atomic<int> asked{0};
    braid::future<void> own = s.async({.within = &level}, [&](task_context& task) {
        level.cancel();
        task.defer({.cancel = {[](void* data, completion_id) {
                                   ++*static_cast<std::atomic<int>*>(data);
                                   return true;
                               },
                               &asked}});
    });
    EXPECT_THROW(own.get(), braid::broken_promise);
    level.wait();
    EXPECT_EQ(asked, 1);
    expect_all_settled(s);
}

TEST_P(Completion, InAFailFastScopeEndsWithTheFirstFailure) {
    braid::scheduler s(options());
    braid::scope level(s, braid::on_failure::cancel);
    outbox armed;
    const task_id waits = level.spawn({}, [&](task_context& task) { armed.put(task.defer()); });
    const task_id fails = level.spawn({.after_any = {}}, [&] {
        if (armed.count() == 0) return;
        throw std::string("broken");
    });
    static_cast<void>(fails);
    const task_id breaks = level.spawn({}, [&](task_context& task) {
        task.defer();
        throw std::string("broken");
    });
    EXPECT_ANY_THROW(level.wait());
    EXPECT_TRUE(s.done(waits) && s.done(breaks));
    expect_all_settled(s);
}

TEST_P(Completion, ADrainingShutdownWaitsForItAndNamesItOnce) {
    std::weak_ptr<int> kept;
    outbox out;
    std::thread outside;
    {
        braid::scheduler_options o = options();
        o.external_patience = braid::milliseconds(1);
        braid::scheduler s(o);
        auto buffer = std::make_shared<int>(0);
        kept = buffer;
        s.spawn({.name = "load"}, [&out, buffer = std::move(buffer)](task_context& task) mutable {
            out.put(task.defer({.name = "read", .keep = std::move(buffer)}));
        });
        outside = std::thread([&] {
            const completion_id c = out.take();
            braid_test::until(
                [&] { return notes_.count(&braid_test::recorder::log, "'read'") != 0; });
            EXPECT_FALSE(kept.expired());
            EXPECT_TRUE(s.complete(c));
        });
    }
    EXPECT_TRUE(kept.expired());
    outside.join();
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "completion 'read' of task 'load'"), 1U);
}

TEST_P(Completion, ADrainingShutdownLooksAgainWhereNoneWasOpen) {
    if (GetParam() == 0)
        GTEST_SKIP() << "the shutdown runs the task, and looks at nothing meanwhile";
    outbox out;
    braid_test::door begun;
    std::thread outside;
    {
        braid::scheduler_options o = options();
        o.external_patience = braid::milliseconds(0);
        braid::scheduler s(o);
        s.spawn({.name = "load"}, [&](task_context& task) {
            begun.open();
            // The shutdown sleeps under this key after each look.
            braid::detail::runtime& rt = s.internals();
            braid_test::until(
                [&] { return rt.lot().look_at(rt.phase_key(), [](const auto&) { return true; }); });
            out.put(task.defer({.name = "read"}));
        });
        outside = std::thread([&] {
            const completion_id c = out.take();
            braid_test::until(
                [&] { return notes_.count(&braid_test::recorder::log, "'read'") != 0; });
            EXPECT_TRUE(s.complete(c));
        });
        begun.pass();
    }
    outside.join();
}

TEST_P(Completion, ADiscardingShutdownAsksAndWaitsForWhoGoesOn) {
    outbox out;
    std::atomic<int> asked{0};
    braid::scheduler s(options());
    const completion_options goes_on{.cancel = {[](void* data, completion_id) {
                                                    ++*static_cast<std::atomic<int>*>(data);
                                                    return false;
                                                },
                                                &asked}};
    s.wait(s.spawn([&](task_context& task) {
        task.spawn([&](task_context& t) { out.put(t.defer()); });
        task.spawn([&](task_context& t) { out.put(t.defer({.cancel = goes_on.cancel})); });
    }));
    work_until(s, [&] { return out.count() == 2; });
    std::thread outside([&] {
        braid_test::until([&] { return asked == 1; });
        std::array<braid::completion_info, 4> open;
        braid_test::until([&] { return s.open_completions(open.data(), open.size()) == 1; });
        EXPECT_TRUE(s.complete(open[0].id));
    });
    s.shut_down(braid::shutdown::discard);
    outside.join();
    EXPECT_EQ(asked, 1);
    expect_all_settled(s);
}

TEST_P(Completion, TheDestructorWaitsForTheCallThatEndedEverything) {
    const std::size_t rounds = GetParam() > 8 ? 20 : braid_test::scaled(300);
    for (std::size_t i = 0; i < rounds; ++i) {
        outbox out;
        std::optional<braid::scheduler> s(options());
        s->spawn([&](task_context& task) { out.put(task.defer()); });
        braid::scheduler& at = *s;
        std::thread outside([&] { EXPECT_TRUE(at.complete(out.take())); });
        s.reset();
        outside.join();
    }
}

TEST_P(Completion, ThatMissesItsDeadlineFailsTheTask) {
    braid::scheduler s(options());
    for (const std::int64_t ns :
         {std::int64_t{1'000'000}, std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
        braid::future<void> read = s.async([ns](task_context& task) {
            task.defer({.name = "disk", .deadline = braid::nanoseconds(ns)});
        });
        try {
            read.get();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const completion_error& e) {
            expect_error(e, completion_error::deadline_passed,
                         "completion 'disk' missed its deadline");
        }
    }
    EXPECT_EQ(s.statistics().timers_fired, 4U);
    expect_all_settled(s);
}

TEST_P(Completion, InTimeCancelsItsDeadline) {
    braid::scheduler s(options());
    for (const std::int64_t ns : {std::int64_t{3'600'000'000'000}, INT64_MAX - 1}) {
        completion_id id;
        s.wait(s.spawn([&](task_context& task) {
            id = task.defer({.deadline = braid::nanoseconds(ns)});
            EXPECT_TRUE(s.complete(id));
        }));
        EXPECT_TRUE(s.completed(id));
    }
    EXPECT_EQ(s.statistics().timers_cancelled, 2U);
    EXPECT_EQ(s.statistics().timers_fired, 0U);
    expect_all_settled(s);
}

TEST_P(Completion, GoesOnAfterItsDeadlineWhereTheHintSaysSoOrItHoldsSomething) {
    braid::scheduler s(options());
    outbox out;
    std::atomic<int> asked{0};
    auto buffer = std::make_shared<int>(0);
    const std::weak_ptr<int> held = buffer;
    braid::future<void> read = s.async([&](task_context& task) {
        out.put(task.defer({.deadline = braid::nanoseconds(1),
                            .cancel = {[](void* data, completion_id) {
                                           ++*static_cast<std::atomic<int>*>(data);
                                           return false;
                                       },
                                       &asked}}));
        out.put(task.defer({.deadline = braid::nanoseconds(1), .keep = std::move(buffer)}));
    });
    work_until(s, [&] { return s.statistics().timers_fired == 2 && asked == 1; });
    EXPECT_FALSE(held.expired());
    EXPECT_TRUE(s.complete(out.take()));
    EXPECT_TRUE(s.complete(out.take()));
    EXPECT_NO_THROW(read.get());
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(held.expired());
    expect_all_settled(s);
}

TEST_P(Completion, IsRefusedToAPostedTaskAndOutsideOfTasks) {
    braid::scheduler s(options());
    s.post([](task_context& task) { EXPECT_FALSE(task.defer()); });
    s.shut_down();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a posted task cannot defer"), 1U);
    expect_all_settled(s);
}

TEST_P(Completion, AnIdThatWasNeverIssuedIsReported) {
    braid::scheduler s(options());
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32,
                                      ~std::uint64_t{0}, std::uint64_t{0x7777'0000'0001}}) {
        EXPECT_FALSE(s.complete({value}));
        EXPECT_FALSE(s.try_complete({value}));
        EXPECT_FALSE(s.completed({value}));
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "complete only ids"), 10U);
    // A task's own id is none of a completion.
    const task_id id = s.spawn([&](task_context& task) {
        const completion_id own{task.id().value};
        EXPECT_FALSE(s.complete(own));
        EXPECT_FALSE(s.try_complete(own));
        EXPECT_FALSE(s.completed(own));
    });
    s.wait(id);
    EXPECT_TRUE(s.done(id));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "complete only ids"), 12U);
    expect_all_settled(s);
}

TEST_P(Completion, AStaleIdIsNoMistakeWhateverUsesItsSlotNow) {
    braid::scheduler s(options());
    std::vector<completion_id> old;
    s.wait(s.spawn([&](task_context& task) {
        for (int i = 0; i < 100; ++i) {
            old.push_back(task.defer());
            EXPECT_TRUE(s.complete(old.back()));
            EXPECT_TRUE(s.completed(old.back()));
        }
    }));
    s.wait(s.spawn([&](task_context& task) {
        for (int i = 0; i < 100; ++i) task.spawn_child([] {});
        for (const completion_id c : old) {
            EXPECT_FALSE(s.complete(c));
            EXPECT_FALSE(s.try_complete(c));
            EXPECT_TRUE(s.completed(c));
        }
    }));
    expect_all_settled(s);
}

TEST_P(Completion, WithoutMemoryIsRefusedAndTheTaskEnds) {
    for (const bool keeps : {false, true}) {
        for (int k = 0; k < 14; ++k) {
            braid::scheduler_options o = options();
            o.workers = std::min(o.workers, 2);
            braid_test::refusing_memory memory(o.memory);
            o.memory = memory.hooks();
            braid::scheduler s(o);
            SCOPED_TRACE(k);
            std::vector<completion_id> ids;
            int refused = 0;
            const task_id id = s.spawn([&](task_context& task) {
                memory.refuse_after(k);
                for (int i = 0; i < 600; ++i) {
                    completion_options with;
                    if (keeps) with.keep = std::make_shared<int>(i);
                    if (keeps && i % 2 != 0) with.deadline = braid::seconds(1000);
                    const completion_id c = task.defer(std::move(with));
                    refused += !c;
                    if (c) ids.push_back(c);
                }
                memory.give_back();
                for (const completion_id c : ids) EXPECT_TRUE(s.complete(c));
            });
            s.wait(id);
            EXPECT_EQ(static_cast<int>(ids.size()) + refused, 600);
            EXPECT_EQ(memory.refused() == 0, refused == 0);
            expect_all_settled(s);
        }
    }
}

TEST_P(Completion, WithoutMemoryForItsFailureTheTaskFailsAllTheSame) {
    braid::scheduler_options o = options();
    o.workers = std::min(o.workers, 2);
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    for (int how = 0; how < 6; ++how) {
        const bool body_still_runs = how % 2 == 1;
        braid::scheduler s(o);
        std::atomic<bool> ran{false}, linked{false};
        outbox out;
        const auto fail = [&, room = how / 2](completion_id c) {
            memory.refuse_after(room);
            EXPECT_TRUE(s.complete(c, {.code = 3}));
        };
        const task_id id = s.spawn([&](task_context& task) {
            braid_test::until([&] { return linked.load(); });
            body_still_runs ? fail(task.defer()) : out.put(task.defer());
        });
        braid::future<void> after = s.async({.after = {id}}, [&] { ran = true; });
        linked = true;
        if (!body_still_runs) {
            work_until(s, [&] { return out.count() == 1; });
            fail(out.take());
        }
        EXPECT_ANY_THROW(after.get());
        memory.give_back();
        EXPECT_FALSE(ran);
        expect_all_settled(s);
    }
}

TEST_P(Completion, AllocatesNothingInSteadyState) {
    braid::scheduler s(options());
    std::uint64_t before = 0;
    s.wait(s.spawn([&](task_context& task) {
        const auto round = [&] {
            for (int i = 0; i < 100; ++i) {
                std::array<completion_id, 8> open;
                for (completion_id& c : open) c = task.defer({.keep = i});
                for (const completion_id c : open) EXPECT_TRUE(s.complete(c));
            }
        };
        round();
        before = s.allocations();
        round();
        EXPECT_EQ(s.allocations(), before);
    }));
    expect_all_settled(s);
}

TEST_P(Completion, TryCompleteTakesNoMemoryAndLeavesTheRestToAnotherThread) {
    braid::scheduler s(options());
    const std::size_t many = braid_test::scaled(500);
    outbox out;
    std::thread outside([&] {
        for (std::size_t i = 0; i < many; ++i) {
            const completion_id c = out.take();
            while (!s.try_complete(c, i % 3 == 2 ? 9 : 0)) {
                ASSERT_FALSE(s.completed(c)) << "it says no only where there is no room";
                std::this_thread::yield();
            }
        }
    });
    std::size_t failed = 0;
    for (std::size_t i = 0; i < many; ++i) {
        braid::future<void> write = s.async(
            [&](task_context& task) { out.put(task.defer({.keep = std::make_unique<int>(1)})); });
        try {
            write.get();
        } catch (const completion_error& e) {
            expect_error(e, 9);
            ++failed;
        }
    }
    outside.join();
    EXPECT_EQ(failed, many / 3);
    expect_all_settled(s);
}

TEST_P(Completion, OnesThatAreOpenAreListedWithTaskNameModuleAndAge) {
    braid::scheduler s(options());
    outbox out;
    const task_id id = s.spawn({.name = "load", .module = 3}, [&](task_context& task) {
        out.put(task.defer({.name = "read"}));
        out.put(task.defer());
    });
    std::thread outside([&] {
        const completion_id first = out.take();
        const completion_id second = out.take();
        std::array<braid::completion_info, 3> rows;
        ASSERT_EQ(s.open_completions(rows.data(), rows.size()), 2U);
        const bool in_order = rows[0].id == first;
        const braid::completion_info& read = rows[in_order ? 0 : 1];
        const braid::completion_info& unnamed = rows[in_order ? 1 : 0];
        EXPECT_EQ(read.id, first);
        EXPECT_EQ(unnamed.id, second);
        EXPECT_STREQ(read.name, "read");
        EXPECT_STREQ(unnamed.name, "load");
        for (const auto* row : {&read, &unnamed}) {
            EXPECT_EQ(row->task, id);
            EXPECT_STREQ(row->task_name, "load");
            EXPECT_EQ(row->module, 3);
            EXPECT_GE(row->age.value, 0);
        }
        rows[1].name = "untouched";
        EXPECT_EQ(s.open_completions(rows.data(), 1), 2U);
        EXPECT_STREQ(rows[1].name, "untouched");
        s.complete(first);
        EXPECT_EQ(s.open_completions(rows.data(), 3), 1U);
        s.complete(second);
    });
    s.wait(id);
    outside.join();
    expect_all_settled(s);
}

TEST_P(Completion, CanBeWaitedForByItself) {
    braid::scheduler s(options());
    outbox out;
    std::atomic<bool> came_after{false};
    completion_id c;
    const task_id id = s.spawn([&](task_context& task) { out.put(task.defer()); });
    std::thread outside([&] {
        c = out.take();
        const task_id after = s.spawn({.after = {c.task()}}, [&] { came_after = true; });
        EXPECT_FALSE(came_after);
        std::thread other([&] { s.complete(c); });
        s.wait(c.task());
        s.wait(after);
        other.join();
    });
    s.wait(id);
    outside.join();
    EXPECT_TRUE(came_after);
    EXPECT_TRUE(s.done(c.task()));
    expect_all_settled(s);
}

TEST_P(Completion, HoldsNoThread) {
    // More tasks than threads are open at the same time.
    braid::scheduler s(options());
    outbox out;
    constexpr std::size_t many = 200;
    const task_id all = s.spawn([&](task_context& task) {
        for (std::size_t i = 0; i < many; ++i) {
            task.spawn_child([&](task_context& child) { out.put(child.defer()); });
        }
    });
    std::thread outside([&] {
        braid_test::until([&] { return out.count() == many; });
        for (std::size_t i = 0; i < many; ++i) EXPECT_TRUE(s.complete(out.take()));
    });
    s.wait(all);
    outside.join();
    // One when this thread is woken for a child that is gone, and sees the next one.
    EXPECT_LE(s.statistics().reserves_started, 1U);
    expect_all_settled(s);
}

TEST_P(Completion, ATaskThatIsPolledWithoutTimeIsCompletedByAnotherThatIsReady) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> open{0};
    const task_id polled = s.spawn([&](task_context& task) { open = task.defer().value; });
    while (open == 0) EXPECT_FALSE(s.wait_for(polled, braid::nanoseconds{0}));
    s.spawn([&] { EXPECT_TRUE(s.complete({open})); });
    while (!s.wait_for(polled, braid::nanoseconds{0})) {
    }
}

}  // namespace
