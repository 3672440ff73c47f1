// Timers as an observer gets them: each time that one is armed is work outside, until it ends.
#include <braid/async/timer.hpp>
#include <braid/core/observer.hpp>

#include "scheduler_test.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

using braid::event_kind;
using braid::milliseconds;
using braid::task_event;
using braid::timer;
using braid::timer_tick;

/// What came of waits for timers and of the tasks of their ticks, in order.
class wait_watcher final : public braid::observer {
public:
    struct seen {
        event_kind kind;
        std::uint64_t task, other;
        std::string name;
        unsigned line;
    };
    void on_event(const task_event& e) override {
        const bool about_life = e.kind == event_kind::deferred || e.kind == event_kind::settled ||
                                e.kind == event_kind::edge || e.kind == event_kind::started ||
                                e.kind == event_kind::spawned;
        if (!about_life) return;
        const std::lock_guard lock(mutex_);
        all_.push_back({e.kind, e.task.value, e.other.value, e.name != nullptr ? e.name : "",
                        e.facts != nullptr ? e.facts->where.line() : 0});
    }
    std::vector<seen> all() {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    std::vector<seen> waits_for(const std::string& name, event_kind kind) {
        std::vector<seen> found = all();
        std::erase_if(found, [&](const seen& s) { return s.kind != kind || s.name != name; });
        return found;
    }

private:
    std::mutex mutex_;
    std::vector<seen> all_;
};

class TimerReports : public braid_test::scheduler_test {
protected:
    braid::scheduler_options watched() {
        braid::scheduler_options o = options();
        o.observer = &watcher_;
        return o;
    }
    template <class Enough>
    static void work_until(braid::scheduler& s, Enough&& enough) {
        braid::event never(s);
        while (!enough()) s.do_work_while_waiting_for(never, braid::microseconds(200));
    }
    /// The wait of that name was reported `times` times, each with its end after it.
    void expect_ended_waits(const std::string& name, std::size_t times) {
        std::map<std::uint64_t, int> open;
        std::size_t ended = 0;
        for (const wait_watcher::seen& s : watcher_.all()) {
            if (s.name != name) continue;
            const bool ends = s.kind == event_kind::settled;
            if (s.kind != event_kind::deferred && !ends) continue;
            EXPECT_EQ(open[s.other]++, ends ? 1 : 0);
            EXPECT_EQ(s.task, 0U);
            ended += ends ? 1 : 0;
        }
        EXPECT_EQ(open.size(), times) << name;
        EXPECT_EQ(ended, times) << name;
    }

    wait_watcher watcher_;
};
INSTANTIATE_TEST_SUITE_P(Workers, TimerReports, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(TimerReports, EachTimeItIsArmedWithNamePlaceAndEnd) {
    unsigned line = 0;
    {
        braid::scheduler s(watched());
        std::atomic<int> ticks{0};
        line = __LINE__ + 1;
        timer one(s, {.name = "one"}, [&] { ++ticks; });
        // A tick that finds the task of the one before open waits once more.
        work_until(s, [&] { return one.task() && s.done(one.task()); });
        EXPECT_EQ(ticks, 1);
        EXPECT_TRUE(one.restart({}));
        work_until(s, [&] { return ticks == 2; });
    }
    expect_ended_waits("one", 2);
    for (const auto& s : watcher_.waits_for("one", event_kind::deferred)) EXPECT_EQ(s.line, line);
}

TEST_P(TimerReports, TheEndWhenItIsCancelledRestartedDestroyedOrLeftToAShutdown) {
    {
        braid::scheduler s(watched());
        timer cancelled(s, {.name = "cancelled", .in = braid::seconds(1000)}, [] {});
        timer restarted(s, {.name = "restarted", .in = braid::seconds(1000)}, [] {});
        EXPECT_TRUE(cancelled.cancel());
        EXPECT_FALSE(cancelled.cancel());
        EXPECT_TRUE(restarted.restart(braid::seconds(2000)));
        {
            const timer destroyed(s, {.name = "destroyed", .in = braid::seconds(1000)}, [] {});
        }
        const timer left(s, {.name = "left", .in = braid::seconds(1000)}, [] {});
        EXPECT_EQ(watcher_.waits_for("left", event_kind::settled).size(), 0U);
        s.shut_down();
        EXPECT_EQ(watcher_.waits_for("left", event_kind::settled).size(), 1U);
    }
    expect_ended_waits("cancelled", 1);
    expect_ended_waits("restarted", 2);
    expect_ended_waits("destroyed", 1);
    expect_ended_waits("left", 1);
}

TEST_P(TimerReports, ThatATickFollowsItsWaitAndTheWaitForTheNextOneThatBefore) {
    {
        braid::scheduler s(watched());
        std::atomic<int> ticks{0};
        timer beat(s, {.name = "beat", .every = milliseconds(1)}, [&] { ++ticks; });
        work_until(s, [&] { return ticks >= 3; });
        beat.cancel();
        s.wait(beat.task());
    }
    const auto waits = watcher_.waits_for("beat", event_kind::deferred);
    const auto tasks = watcher_.waits_for("beat", event_kind::spawned);
    ASSERT_GE(waits.size(), 4U);
    expect_ended_waits("beat", waits.size());
    const std::vector<wait_watcher::seen> all = watcher_.all();
    const auto follows = [&](std::uint64_t task, std::uint64_t other) {
        for (const auto& s : all) {
            if (s.kind == event_kind::started && s.task == task) return false;
            if (s.kind == event_kind::edge && s.task == task && s.other == other) return true;
        }
        return false;
    };
    for (std::size_t i = 1; i < waits.size(); ++i) {
        EXPECT_TRUE(follows(waits[i].other, waits[i - 1].other)) << i;
    }
    for (const auto& task : tasks) {
        const bool after_a_wait = std::any_of(waits.begin(), waits.end(), [&](const auto& wait) {
            return follows(task.task, wait.other);
        });
        EXPECT_TRUE(after_a_wait);
    }
}

}  // namespace
