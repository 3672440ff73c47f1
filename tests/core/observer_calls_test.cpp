// An observer in a hurry: it listens only at times, and gets several events in one call.
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>
#include <braid/fork_join.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::event_kind;
using braid::task_context;
using braid::task_id;

/// Counts what it gets.
class listener final : public braid::observer {
public:
    explicit listener(bool from_the_start) { listen(from_the_start); }
    using observer::listen;
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex_);
        ++seen_[e.kind];
    }
    int seen(event_kind kind) {
        const std::lock_guard lock(mutex_);
        return seen_[kind];
    }
    /// But for threads that take their seats.
    int seen() {
        const std::lock_guard lock(mutex_);
        int all = 0;
        for (const auto& [kind, count] : seen_) all += kind != event_kind::seated ? count : 0;
        return all;
    }

private:
    std::mutex mutex_;
    std::map<event_kind, int> seen_;
};

class Listening : public braid_test::scheduler_test {
protected:
    braid::scheduler_options observed(braid::observer& by) {
        braid::scheduler_options o = options();
        o.observer = &by;
        return o;
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Listening, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

int fib(int n) {
    if (n < 2) return n;
    const auto [a, b] = braid::join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

void do_everything(braid::scheduler& s) {
    const task_id first = s.spawn([] {});
    s.wait(s.spawn({.after = {first}}, [](task_context& task) { task.spawn_child([] {}); }));
    s.wait(s.spawn_batch({}, 20, [](std::size_t) {}));
    EXPECT_EQ(braid::fork_join(s, "fib", [](braid::fork_context) { return fib(10); }), 55);
}

TEST_P(Listening, AnObserverThatDoesNotListenHearsWhoTookASeatAndNothingElse) {
    listener l(false);
    {
        braid::scheduler s(observed(l));
        do_everything(s);
    }
    EXPECT_EQ(l.seen(), 0);
    EXPECT_GE(l.seen(event_kind::seated), 1);
}

TEST_P(Listening, FromTheCallOnEverythingIsReported) {
    listener l(false);
    {
        braid::scheduler s(observed(l));
        do_everything(s);
        l.listen(true);
        do_everything(s);
    }
    // The tasks, and the one that fork_join() makes.
    EXPECT_EQ(l.seen(event_kind::started), 25);
    EXPECT_EQ(l.seen(event_kind::started), l.seen(event_kind::ended));
    EXPECT_GE(l.seen(event_kind::forked), 88) << "each join of fib(10)";
    EXPECT_EQ(l.seen(event_kind::forked), l.seen(event_kind::joined));
}

TEST_P(Listening, MayBeginAndEndWhileTasksRun) {
    listener l(false);
    {
        braid::scheduler s(observed(l));
        for (int round = 0; round < 200; ++round) {
            l.listen(round % 2 == 0);
            const task_id first = s.spawn([] {});
            s.spawn({.after = {first}}, [](task_context& task) { task.spawn_child([] {}); });
            s.post([] { EXPECT_EQ(fib(5), 5); });
        }
    }
    EXPECT_GT(l.seen(), 0);
}

/// What each call says, in the order in which one thread makes them.
class call_log final : public braid::observer {
public:
    struct end {
        task_id task;
        bool completes;
    };
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex_);
        EXPECT_NE(e.kind, event_kind::started);
        EXPECT_NE(e.kind, event_kind::ended);
        if (e.kind == event_kind::completed) ++completed_[e.task];
        if (e.kind == event_kind::ready) ++ready_[e.task];
    }
    void on_start(std::uint16_t, task_id task, const char*, unsigned facts, task_id) override {
        const std::lock_guard lock(mutex_);
        if ((facts & braid::start_ready_now) != 0) ++ready_[task];
        EXPECT_EQ(ready_[task], 1) << "before it starts";
    }
    void on_end(std::uint16_t, task_id task, const char*, bool completes) override {
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(completed_[task], 0) << "before it completes";
        if (completes) ++completed_[task];
        ended_[task] = completes;
    }
    bool has_ended(task_id task) {
        const std::lock_guard lock(mutex_);
        return ended_.contains(task);
    }
    /// With its own work, and reported so.
    bool completed_at_once(task_id task) { return ended_[task]; }
    std::size_t tasks() const { return ended_.size(); }
    bool all_ready_once() const {
        for (const auto& [task, count] : ready_) {
            if (count != 1) return false;
        }
        return true;
    }
    bool all_completed_once() const {
        for (const auto& [task, count] : completed_) {
            if (count != 1) return false;
        }
        return completed_.size() >= ended_.size();
    }

private:
    std::mutex mutex_;
    std::map<task_id, int> completed_, ready_;
    std::map<task_id, bool> ended_;
};

TEST_P(Listening, ATaskThatHasNothingLeftEndsAndCompletesInOneCall) {
    call_log log;
    task_id lonely, promised, failing;
    {
        braid::scheduler s(observed(log));
        lonely = s.spawn([] {});
        promised = s.spawn({.never_waits = true}, [] {});
        failing = s.spawn([] { throw std::runtime_error("on purpose"); });
        s.wait(s.spawn({.after_any = {lonely, promised, failing}}, [] {}));
        for (int i = 0; i < 100; ++i) s.post([] {});
        EXPECT_EQ(braid::fork_join(s, "fib", [](braid::fork_context) { return fib(5); }), 5);
    }
    EXPECT_TRUE(log.all_ready_once());
    EXPECT_TRUE(log.all_completed_once());
    EXPECT_EQ(log.tasks(), 105U);
    EXPECT_TRUE(log.completed_at_once(lonely));
    EXPECT_TRUE(log.completed_at_once(promised));
    EXPECT_FALSE(log.completed_at_once(failing)) << "the failure is reported first";
}

/// Cannot be put into its task.
struct refuses_to_be_copied {
    refuses_to_be_copied() = default;
    refuses_to_be_copied(const refuses_to_be_copied&) { throw std::runtime_error("on purpose"); }
    void operator()() const {}
};

TEST_P(Listening, ATaskWhoseCallableCannotBeCopiedIsReadyOnceAndCancelled) {
    call_log log;
    {
        braid::scheduler s(observed(log));
        const refuses_to_be_copied callable;
        EXPECT_THROW(s.spawn(callable), std::runtime_error);
        EXPECT_THROW(s.spawn({.name = "named"}, callable), std::runtime_error);
        EXPECT_THROW(s.post(callable), std::runtime_error);
        s.wait(s.spawn([] {}));
    }
    EXPECT_TRUE(log.all_ready_once());
    EXPECT_TRUE(log.all_completed_once());
}

TEST_P(Listening, AParentDoesNotCompleteBeforeItsChildren) {
    call_log log;
    task_id parent;
    {
        braid::scheduler s(observed(log));
        braid::task_builder gate = s.begin({}, braid::empty);
        braid::event over(s);
        parent = s.spawn([&](task_context& task) {
            task.spawn({.after = {gate.id()}, .parent = task.id()}, [] {});
            over.set();
        });
        s.do_work_while_waiting_for(over);
        while (!log.has_ended(parent)) std::this_thread::yield();
        gate.finish();
        s.wait(parent);
    }
    EXPECT_FALSE(log.completed_at_once(parent));
    EXPECT_TRUE(log.all_completed_once());
}

/// What becomes of joins, and what their second parts say themselves, in one order.
class join_log final : public braid::observer {
public:
    enum class what : std::uint8_t { forked, begun, done, joined };
    struct entry {
        what happened;
        const void* join;
        std::uint16_t seat_from;
    };
    void on_event(const braid::task_event& e) override {
        if (e.kind == event_kind::forked) add({what::forked, e.object, e.seat_from});
        if (e.kind == event_kind::joined) add({what::joined, e.object, e.seat_from});
        if (e.kind != event_kind::job_started) return;
        const std::lock_guard lock(mutex_);
        ++stolen;
    }
    void add(entry one) {
        const std::lock_guard lock(mutex_);
        entries.push_back(one);
    }
    std::size_t place_of(what happened) const {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].happened == happened) return i;
        }
        return entries.size();
    }
    std::vector<entry> entries;
    int stolen = 0;

private:
    std::mutex mutex_;
};

class ObserverTellsOfJoins : public Listening {
protected:
    void observe_join(const std::function<void(braid::fork_context)>& body) {
        braid::scheduler s(observed(log_));
        try {
            braid::fork_join(s, "joins", [&](braid::fork_context c) { body(c); });
        } catch (const std::runtime_error&) {
            threw_ = true;
        }
    }
    void say(join_log::what happened) { log_.add({happened, nullptr, 0}); }

    join_log log_;
    bool threw_ = false;
};
INSTANTIATE_TEST_SUITE_P(Workers, ObserverTellsOfJoins,
                         testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(ObserverTellsOfJoins, WhenTheSecondPartHasEndedAndWhoRanIt) {
    using what = join_log::what;
    observe_join([&](braid::fork_context c) {
        braid::join(
            c, [] {},
            [&] {
                say(what::begun);
                say(what::done);
            });
    });
    ASSERT_EQ(log_.entries.size(), 4U);
    EXPECT_EQ(log_.place_of(what::forked), 0U);
    EXPECT_EQ(log_.place_of(what::joined), 3U) << "both parts have ended";
    EXPECT_EQ(log_.entries[3].join, log_.entries[0].join);
    EXPECT_EQ(log_.entries[3].seat_from != UINT16_MAX, log_.stolen == 1);
}

TEST_P(ObserverTellsOfJoins, WhenTheSecondPartHasThrown) {
    using what = join_log::what;
    observe_join([&](braid::fork_context c) {
        braid::join(
            c, [] {},
            [&] {
                say(what::done);
                throw std::runtime_error("on purpose");
            });
    });
    EXPECT_TRUE(threw_);
    ASSERT_EQ(log_.entries.size(), 3U);
    EXPECT_EQ(log_.place_of(what::joined), 2U);
}

TEST_P(ObserverTellsOfJoins, WhoseSecondPartWillNotRun) {
    using what = join_log::what;
    observe_join([&](braid::fork_context c) {
        braid::join(c, [] { throw std::runtime_error("on purpose"); }, [&] { say(what::done); });
    });
    EXPECT_TRUE(threw_);
    EXPECT_EQ(log_.place_of(what::joined), log_.entries.size() - 1);
    EXPECT_EQ(log_.place_of(what::done) != log_.entries.size(), log_.stolen == 1)
        << "nobody had begun it";
}

/// Joins within second parts use the slot of the join around them; results of many sorts.
std::string numbers(braid::fork_context c, unsigned from, unsigned to) {
    if (to - from == 1) return std::to_string(from) + ",";
    const unsigned middle = from + (to - from) / 2;
    const auto [left, right] = braid::join(
        c, [=](braid::fork_context inner) { return numbers(inner, from, middle); },
        [=](braid::fork_context inner) { return numbers(inner, middle, to); });
    return left + right;
}

TEST_P(ObserverTellsOfJoins, AndChangesNoResultOfNestedOnes) {
    std::string wanted, got;
    for (unsigned i = 0; i < 200; ++i) wanted += std::to_string(i) + ",";
    std::size_t moved = 0;
    observe_join([&](braid::fork_context c) {
        got = numbers(c, 0, 200);
        // A part that cannot be copied stays in the frame of its join.
        auto owned = std::make_unique<std::size_t>(7);
        moved = braid::join(c, [] {}, [p = std::move(owned)] { return *p; }).second;
    });
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(moved, 7U);
    // What began last at a place ends first there.
    std::map<const void*, int> open;
    int joins = 0;
    for (const join_log::entry& e : log_.entries) {
        if (e.happened == join_log::what::forked) ++open[e.join];
        if (e.happened != join_log::what::joined) continue;
        EXPECT_GE(--open[e.join], 0);
        ++joins;
    }
    for (const auto& [join, count] : open) EXPECT_EQ(count, 0);
    EXPECT_EQ(joins, 200);
}

}  // namespace
