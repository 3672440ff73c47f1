// Tasks that await each other: what is a deadlock, and what may still end.
#include "co_fixture.hpp"
#include "deadlocks.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using braid::task_id;
using braid_test::door;
using braid_test::look_for_deadlocks;
using braid_test::until;

bool explains(const braid::scheduler& s, task_id id, const char* text) {
    return std::string(s.explain(id).text).find(text) != std::string::npos;
}

/// Blocks the thread that destroys it, once.
class slow_to_destroy {
public:
    slow_to_destroy(door& reached, door& leaves) : reached_(&reached), leaves_(&leaves) {}
    slow_to_destroy(slow_to_destroy&& from) noexcept
        : reached_(std::exchange(from.reached_, nullptr)), leaves_(from.leaves_) {}
    slow_to_destroy& operator=(slow_to_destroy&&) = delete;
    ~slow_to_destroy() {
        if (reached_ == nullptr) return;
        reached_->open();
        leaves_->pass();
    }

private:
    door* reached_;
    door* leaves_;
};

class DeadlockOfAwaits : public braid_test::scheduler_test {
protected:
    braid::scheduler_options options() {
        braid::scheduler_options o = scheduler_test::options();
        o.name = "scene";
        o.deadlock = {.after = braid::no_limit,
                      .handler = {[](void* user, const char* message) {
                                      auto& self = *static_cast<DeadlockOfAwaits*>(user);
                                      self.said_.emplace_back(message);
                                  },
                                  this}};
        return o;
    }
    /// Task 'y' holds the resource and waits for 'a', which awaits 'w', which stands in line for
    /// the resource, and what `more` says. Returns once all of them do that.
    template <class Body>
    void begin(braid::scheduler& s, braid::scope* in, Body&& body_of_a) {
        const task_id y = s.spawn({.name = "y", .uses = {&*file_}}, [this, &s] {
            until([this] { return a_ != 0; });
            try {
                s.wait(task_id{a_.load()});
            } catch (const std::exception&) {  // of 'a'
            }
        });
        threads_.emplace_back([&s, y] { s.wait(y); });
        until([&] { return explains(s, y, "runs on"); });
        w_ = s.spawn({.name = "w", .uses = {&*file_}}, [] {});
        auto a = braid::co_spawn(s, {.name = "a", .within = in}, body_of_a(w_));
        a_ = a.id().value;
        until([&] { return explains(s, a.id(), "awaits") && explains(s, w_, "in line"); });
        braid_test::until_wait_counts(s, a.id());
    }
    void end(braid::scheduler& s) {
        for (std::thread& t : threads_) t.join();
        s.wait(w_);
    }

    std::optional<braid::resource> file_;
    std::atomic<std::uint64_t> a_{0};
    task_id w_;
    std::vector<std::thread> threads_;
    std::vector<std::string> said_;
};
INSTANTIATE_TEST_SUITE_P(Workers, DeadlockOfAwaits, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

braid::co<> awaits(task_id id) { co_await id; }

TEST_P(DeadlockOfAwaits, IsReportedWhereNothingElseCanEndTheAwait) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto play = [this] {
        const braid_test::deadline guard;
        auto* const s = new braid::scheduler(options());
        file_.emplace(*s, "file");
        begin(*s, nullptr, awaits);
        look_for_deadlocks(*s);
        look_for_deadlocks(*s);
        const std::string text = said_.size() == 1 ? said_[0] : "not one report";
        std::fprintf(stderr, "%s\n", text.c_str());
        std::_Exit(0);
    };
    EXPECT_EXIT(play(), testing::ExitedWithCode(0),
                "scene: a deadlock of 3 tasks: .* awaits 'w'.*. No thread can go on with any");
}

TEST_P(DeadlockOfAwaits, IsNoneWhereACancellationMayEndTheAwait) {
    braid::scheduler s(options());
    file_.emplace(s, "file");
    braid::scope may_end(s);
    begin(s, &may_end, awaits);
    look_for_deadlocks(s);
    EXPECT_EQ(said_, std::vector<std::string>());
    may_end.cancel();
    end(s);
    may_end.wait();
    file_.reset();
}

TEST_P(DeadlockOfAwaits, IsNoneWhereAnotherOneIsEnough) {
    braid::scheduler s(options());
    file_.emplace(s, "file");
    braid::task_builder other = s.begin({}, braid::empty);
    begin(s, nullptr, [&other](task_id w) -> braid::co<> {
        return [](task_id first, task_id second) -> braid::co<> {
            co_await braid::when_any({first, second});
        }(w, other.id());
    });
    look_for_deadlocks(s);
    EXPECT_EQ(said_, std::vector<std::string>());
    other.finish();
    end(s);
    file_.reset();
}

/// The other one is complete, and its dependents do not know it yet.
TEST_P(DeadlockOfAwaits, IsNoneWhereAnotherOneThatIsEnoughHasJustEnded) {
    braid::scheduler s(options());
    file_.emplace(s, "file");
    door entered, fails, reached, leaves;
    const task_id other = s.spawn({.name = "other"}, [&] {
        entered.open();
        fails.pass();
        throw std::runtime_error("it ends the await");
    });
    std::thread runs([&] {
        try {
            s.wait(other);
        } catch (const std::runtime_error&) {  // where it began to wait before that
        }
    });
    entered.pass();  // or the wait of 'y' would run it
    begin(s, nullptr, [other](task_id w) -> braid::co<> {
        return [](task_id first, task_id second) -> braid::co<> {
            co_await braid::when_any({first, second});
        }(w, other);
    });
    // It hears first of the failure, and what it would have run is destroyed there and then.
    const task_id follows =
        s.spawn({.after = {other}}, [held = slow_to_destroy(reached, leaves)] {});
    fails.open();
    reached.pass();
    look_for_deadlocks(s);
    EXPECT_EQ(said_, std::vector<std::string>());
    leaves.open();
    runs.join();
    end(s);
    until([&] { return s.done(follows); });
    file_.reset();
}

class StandstillOfAwaits : public DeadlockOfAwaits {
protected:
    std::size_t warnings() { return notes_.count(&braid_test::recorder::log, "nothing goes on"); }
};
INSTANTIATE_TEST_SUITE_P(Workers, StandstillOfAwaits,
                         testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

braid::co<> awaits_event(braid::event& e) { co_await e; }

TEST_P(StandstillOfAwaits, OverAnEventThatNobodySetsIsReported) {
    braid::scheduler s(options());
    braid::event loaded(s, "loaded");
    auto waits = braid::co_spawn(s, {.name = "waits"}, awaits_event(loaded));
    std::thread runs([&] { waits.wait(); });
    until([&] { return explains(s, waits.id(), "comes with"); });
    until([&] {
        look_for_deadlocks(s);
        return warnings() != 0;
    });
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "'waits' waits for the event 'loaded'."),
              1U);
    loaded.set();
    runs.join();
}

TEST_P(StandstillOfAwaits, OverTheHolderOfAResourceDoesNotNameWhoStandsInLine) {
    braid::scheduler s(options());
    braid::event loaded(s, "loaded");
    braid::resource file(s, "file");
    auto holds = braid::co_spawn(s, {.name = "holds", .uses = {&file}}, awaits_event(loaded));
    std::thread runs([&] { holds.wait(); });
    until([&] { return explains(s, holds.id(), "comes with"); });
    const task_id waits = s.spawn({.name = "in line", .uses = {&file}}, [] {});
    until([&] {
        look_for_deadlocks(s);
        return warnings() != 0;
    });
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "'holds' waits for the event 'loaded'."),
              1U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "in line"), 0U);
    loaded.set();
    runs.join();
    s.wait(waits);
}

braid::co<> pops(braid::channel<int>& from) { co_await from.pop(); }

TEST_P(StandstillOfAwaits, AtAChannelThatNobodyServesNamesTheTask) {
    braid::scheduler s(options());
    braid::channel<int> wanted(s, {.name = "wanted", .capacity = 2});
    auto load = braid::co_spawn(s, {.name = "load"}, pops(wanted));
    std::thread runs([&] { load.wait(); });
    const char* const serves =
        "'load' awaits 'wanted', which is a channel or the like: another task or thread has to "
        "serve it.";
    until([&] { return explains(s, load.id(), serves); });
    until([&] {
        look_for_deadlocks(s);
        return warnings() != 0;
    });
    const char* const waits =
        "'load' waits at 'wanted', a channel or the like, for another task or thread.";
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, waits), 1U);
    wanted.try_push(1);
    runs.join();
}

/// The owner's threads and tasks are outside, and may act at any time.
TEST_P(StandstillOfAwaits, IsNoneAtWhatBelongsToAnotherScheduler) {
    braid::scheduler owner(options()), s(options());
    braid::channel<int> wanted(owner, {.name = "wanted", .capacity = 2});
    braid::event loaded(owner, "loaded");
    auto pops_one = braid::co_spawn(s, {.name = "pops"}, pops(wanted));
    auto awaits_one = braid::co_spawn(s, {.name = "awaits"}, awaits_event(loaded));
    std::thread first([&] { pops_one.wait(); }), second([&] { awaits_one.wait(); });
    for (const task_id id : {pops_one.id(), awaits_one.id()}) {
        until([&] { return explains(s, id, "is a completion that nobody has settled yet"); });
    }
    for (int i = 0; i < 50; ++i) {
        look_for_deadlocks(s);
        std::this_thread::yield();
    }
    EXPECT_EQ(warnings(), 0U);
    wanted.try_push(1);
    loaded.set();
    first.join();
    second.join();
}

TEST_P(StandstillOfAwaits, IsNoneWhileATimerRuns) {
    braid::scheduler s(options());
    braid::event loaded(s, "loaded");
    {
        const braid::timer runs_on(s, {.in = braid::seconds(3600)},
                                   [](const braid::timer_tick&) {});
        auto waits = braid::co_spawn(s, {.name = "waits"}, awaits_event(loaded));
        std::thread runs([&] { waits.wait(); });
        until([&] { return explains(s, waits.id(), "comes with"); });
        for (int i = 0; i < 50; ++i) {
            look_for_deadlocks(s);
            std::this_thread::yield();
        }
        EXPECT_EQ(warnings(), 0U);
        loaded.set();
        runs.join();
    }
}

TEST(ExplainOfAwaits, SaysThatASleepEndsAtItsTime) {
    braid::scheduler s({.workers = 1});
    braid::scope may_end(s);
    const auto body = []() -> braid::co<> { co_await braid::sleep_for(braid::seconds(3600)); };
    auto sleeps = braid::co_spawn(s, {.name = "sleeps", .within = &may_end}, body());
    until([&] { return std::string(s.explain(sleeps.id()).text).ends_with(" ends at its time."); });
    may_end.cancel();
    may_end.wait();
}

TEST(ExplainOfAwaits, NamesTheEventThatATaskAwaits) {
    braid::scheduler s({.workers = 1});
    braid::event loaded(s, "loaded");
    const auto body = [](braid::event& e) -> braid::co<> { co_await e; };
    auto waits = braid::co_spawn(s, {.name = "waits"}, body(loaded));
    const std::string end = ", which comes with the event 'loaded'.";
    until([&] { return std::string(s.explain(waits.id()).text).ends_with(end); });
    EXPECT_TRUE(explains(s, waits.id(), "'waits' awaits "));
    loaded.set();
    waits.get();
}

}  // namespace
