// A warning that nothing goes on: what it says, and where it would be wrong.
#include "deadlocks.hpp"
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"

#include <braid/core/completion.hpp>
#include <braid/queue/queue.hpp>

#include <atomic>
#include <string>
#include <thread>

namespace {

using braid::task_id;
using braid_test::door;
using braid_test::look_for_deadlocks;
using braid_test::until;

class Standstill : public braid_test::scheduler_test {
protected:
    /// Nobody looks but the test.
    braid::scheduler_options options() {
        braid::scheduler_options o = scheduler_test::options();
        o.name = "scene";
        o.deadlock.after = braid::no_limit;
        return o;
    }
    std::size_t warnings() { return notes_.count(&braid_test::recorder::log, "nothing goes on"); }
    bool was_said(const std::string& line) {
        const std::lock_guard lock(notes_.mutex);
        return std::find(notes_.log.begin(), notes_.log.end(), line) != notes_.log.end();
    }
    /// All threads but this one sleep in the end, if they have nothing to do.
    static void look_until(braid::scheduler& s, auto&& condition) {
        until([&] {
            look_for_deadlocks(s);
            return condition();
        });
    }
    /// Long after everything that can come to rest has.
    static void look_often(braid::scheduler& s) {
        for (int i = 0; i < 50; ++i) {
            look_for_deadlocks(s);
            std::this_thread::yield();
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Standstill, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Standstill, OverAnEventThatNobodySetsNamesTheTaskAndTheEventOnce) {
    braid::scheduler s(options());
    braid::event loaded(s, "loaded");
    const task_id show = s.spawn({.name = "show"}, [&] { s.do_work_while_waiting_for(loaded); });
    std::thread runs([&] { s.wait(show); });
    until([&] { return std::string(s.explain(show).text).find("waits for") != std::string::npos; });
    look_until(s, [&] { return warnings() != 0; });
    look_often(s);
    EXPECT_EQ(warnings(), 1U);
    EXPECT_TRUE(
        was_said("scene: nothing goes on: every thread sleeps, and 1 task has not ended: 'show' "
                 "waits for the event 'loaded'. Unless a thread outside the scheduler ends that, "
                 "nothing will."));
    loaded.set();
    runs.join();
    look_for_deadlocks(s);
    EXPECT_TRUE(was_said("scene: it goes on again"));
}

TEST_P(Standstill, OverABuilderThatWasForgottenNamesItAlsoWhereNoMemoryIsLeft) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    braid::task_builder forgotten = s.begin({.name = "forgotten"}, braid::empty);
    const task_id follows = s.spawn({.after = {forgotten.id()}}, [] {});
    std::thread waits([&] { s.wait(follows); });
    until([&] {
        return s.internals().lot().look_at(follows.value, [](const braid::detail::wait_record& r) {
            return r.stays.load(braid::relaxed);
        });
    });
    memory.refuse_after(0);
    look_until(s, [&] { return warnings() != 0; });
    memory.give_back();
    EXPECT_TRUE(
        was_said("scene: nothing goes on: every thread sleeps, and 2 tasks have not ended: "
                 "'forgotten' is being built: finish() was not called yet. Unless a "
                 "thread outside the scheduler ends that, nothing will."));
    forgotten.finish();
    waits.join();
}

/// A sleeper looks by itself, and looks twice.
TEST_P(Standstill, IsReportedByAThreadThatSleeps) {
    braid::scheduler_options o = options();
    o.deadlock.after = braid::milliseconds(1);
    braid::scheduler s(o);
    braid::event loaded(s, "loaded");
    std::thread outside([&] {
        until([&] { return warnings() != 0; });
        loaded.set();
    });
    s.wait(s.spawn([&] { s.do_work_while_waiting_for(loaded); }));
    outside.join();
}

/// A thread outside that acts again and again does not fill the log.
TEST_P(Standstill, HasToLastEightTimesAsLongAfterOneThatHasEnded) {
    constexpr std::int64_t after = 1'000'000;
    braid::scheduler_options o = options();
    o.deadlock.after = braid::nanoseconds(after);
    braid::scheduler s(o);
    for (const std::int64_t times : {1, 8}) {
        braid::event loaded(s, "loaded");
        const std::size_t before = warnings();
        const std::int64_t began = braid::active_policy::now();
        std::int64_t reported = 0;
        std::thread outside([&] {
            until([&] { return warnings() != before; });
            reported = braid::active_policy::now();
            loaded.set();
        });
        s.wait(s.spawn([&] { s.do_work_while_waiting_for(loaded); }));
        outside.join();
        EXPECT_GE(reported - began, times * after);
    }
}

/// deadlock_options::outside.
TEST_P(Standstill, ThatSomebodyOutsideCanEndIsReportedOnceAtItsAge) {
    braid::scheduler_options o = options();
    o.deadlock.outside = braid::milliseconds(1);
    braid::scheduler s(o);
    std::atomic<std::uint64_t> open{0};
    const task_id id = s.spawn({.name = "ask"}, [&](braid::task_context& context) {
        open = context.defer({.name = "reply"}).value;
    });
    std::thread waits([&] { s.wait(id); });
    until(
        [&] { return s.statistics().ended() == 1; });  // its body; nothing is counted from then on
    const std::string line =
        "scene: nothing has gone on for 0.001 s, and 1 task has not ended: 'reply' is a completion "
        "that "
        "nobody has settled yet. Only somebody outside can end that.";
    look_until(s, [&] { return was_said(line); });
    look_often(s);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "nothing has gone on"), 1U);
    EXPECT_EQ(warnings(), 0U);
    EXPECT_TRUE(s.complete({open}));
    waits.join();
}

// ---- none ---------------------------------------------------------------------------------------

TEST_P(Standstill, IsNoneWhileATaskRuns) {
    braid::scheduler s(options());
    door entered, leaves;
    const task_id id = s.spawn([&] {
        entered.open();
        leaves.pass();
    });
    std::thread runs([&] { s.wait(id); });
    entered.pass();
    look_often(s);
    leaves.open();
    runs.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhileAQueueThatIsFullHoldsATaskUp) {
    braid::scheduler s(options());
    door entered, leaves;
    braid::queue io(s, {.name = "io", .capacity = 2, .full = braid::when_full::block});
    io.push([&] {
        entered.open();
        leaves.pass();
    });
    entered.pass();
    const task_id pusher = s.spawn({.name = "pusher"}, [&] {
        for (int i = 0; i < 5; ++i) io.push([] {});
    });
    std::thread runs([&] { s.wait(pusher); });
    until([&] {
        return std::string(s.explain(pusher).text).find("waits for room") != std::string::npos;
    });
    look_often(s);
    leaves.open();
    runs.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhileSomebodyIsInBlocking) {
    braid::scheduler s(options());
    door entered, leaves;
    const task_id id = s.spawn([&] {
        s.blocking([&] {
            entered.open();
            leaves.pass();
        });
    });
    std::thread runs([&] { s.wait(id); });
    entered.pass();
    look_often(s);
    leaves.open();
    runs.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhileACompletionIsOpen) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> open{0};
    const task_id id = s.spawn(
        [&](braid::task_context& context) { open = context.defer({.name = "reply"}).value; });
    const task_id follows = s.spawn({.after = {id}}, [] {});
    std::thread waits([&] { s.wait(follows); });
    until([&] { return open != 0; });
    look_often(s);
    EXPECT_TRUE(s.complete({open}));
    waits.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhileAWaitCanRunOutOfTime) {
    braid::scheduler s(options());
    braid::event loaded(s);
    std::atomic<bool> entered{false};
    const task_id id = s.spawn([&] {
        entered = true;
        s.do_work_while_waiting_for(loaded, braid::seconds(3600));
    });
    std::thread runs([&] { s.wait(id); });
    until([&] { return entered.load(); });
    look_often(s);
    loaded.set();
    runs.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhileAThreadThatTakesPartIsOutsideItsWaits) {
    braid::scheduler s(options());
    braid::event loaded(s);
    door here, leaves;
    std::thread other([&] {
        const braid::main_thread part(s, "other");
        here.open();
        leaves.pass();
        loaded.set();
    });
    here.pass();
    const task_id id = s.spawn([&] { s.do_work_while_waiting_for(loaded); });
    std::thread runs([&] { s.wait(id); });
    look_often(s);
    leaves.open();
    other.join();
    runs.join();
    EXPECT_EQ(warnings(), 0U);
}

TEST_P(Standstill, IsNoneWhereNoTaskIsOpen) {
    braid::scheduler s(options());
    braid::event loaded(s);
    std::thread waits([&] { s.do_work_while_waiting_for(loaded); });
    look_often(s);
    loaded.set();
    waits.join();
    EXPECT_EQ(warnings(), 0U);
}

}  // namespace
