// What an observer hears, and in which order: each task's life, its releaser, waits and sleep.
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

namespace {

using braid::event_kind;
using braid::task_context;
using braid::task_id;

/// Writes down every event, in one order that agrees with each thread's own and with what the
/// scheduler promises between threads: an observer is called where the thing happens.
class event_log final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex_);
        events_.push_back(e);
    }
    /// At rest.
    const std::vector<braid::task_event>& events() const { return events_; }
    /// Any time.
    bool has_seen(event_kind kind) {
        const std::lock_guard lock(mutex_);
        return std::any_of(events_.begin(), events_.end(),
                           [&](const braid::task_event& e) { return e.kind == kind; });
    }

    static constexpr std::size_t never = SIZE_MAX;
    std::size_t at(event_kind kind, task_id task) const {
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].kind == kind && events_[i].task == task) return i;
        }
        return never;
    }
    std::size_t count(event_kind kind, task_id task) const {
        std::size_t n = 0;
        for (const auto& e : events_) n += e.kind == kind && e.task == task;
        return n;
    }

private:
    std::mutex mutex_;
    std::vector<braid::task_event> events_;
};

class Observer : public braid_test::scheduler_test {
protected:
    /// Runs the program to the end of its scheduler; the log is at rest afterwards.
    template <class Program>
    void observe(Program&& program) {
        braid::scheduler_options o = options();
        o.observer = &log_;
        braid::scheduler s(o);
        program(s);
    }
    /// What holds for every task of every program.
    void expect_whole_lives() const;

    event_log log_;
};

INSTANTIATE_TEST_SUITE_P(Workers, Observer, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

void Observer::expect_whole_lives() const {
    struct life {
        std::size_t spawned = event_log::never, ready = event_log::never;
        std::size_t started = event_log::never, ended = event_log::never;
        std::size_t completed = event_log::never, cancelled = event_log::never;
        task_id parent, releaser;
        std::vector<task_id> waits_for;
    };
    std::map<task_id, life> lives;
    const auto once = [](std::size_t& field, std::size_t at, const char* what) {
        ASSERT_EQ(field, event_log::never) << what << " twice";
        field = at;
    };
    for (std::size_t i = 0; i < log_.events().size(); ++i) {
        const braid::task_event& e = log_.events()[i];
        life& l = lives[e.task];
        switch (e.kind) {
            case event_kind::spawned:
                once(l.spawned, i, "spawned");
                l.parent = e.other;
                break;
            case event_kind::edge:
                l.waits_for.push_back(e.other);
                break;
            case event_kind::ready:
                once(l.ready, i, "ready");
                l.releaser = e.other;
                break;
            case event_kind::started:
                once(l.started, i, "started");
                break;
            case event_kind::ended:
                once(l.ended, i, "ended");
                break;
            case event_kind::completed:
                once(l.completed, i, "completed");
                break;
            case event_kind::cancelled:
                once(l.cancelled, i, "cancelled");
                break;
            default:
                break;
        }
    }
    lives.erase(task_id{});
    for (const auto& [id, l] : lives) {
        ASSERT_NE(l.spawned, event_log::never);
        ASSERT_NE(l.ready, event_log::never);
        ASSERT_NE(l.completed, event_log::never);
        EXPECT_LT(l.spawned, l.ready);
        EXPECT_LT(l.ready, l.completed);
        EXPECT_EQ(l.started == event_log::never, l.ended == event_log::never);
        if (l.started != event_log::never) {
            EXPECT_LT(l.ready, l.started);
            EXPECT_LT(l.started, l.ended);
            EXPECT_LT(l.ended, l.completed);
            EXPECT_EQ(l.cancelled, event_log::never) << "ran, or was cancelled";
        }
        for (const task_id before : l.waits_for) {
            EXPECT_LT(lives.at(before).completed, l.ready) << "ready after all it waits for";
        }
        if (l.releaser) {
            EXPECT_LT(lives.at(l.releaser).completed, l.ready);
            EXPECT_NE(std::find(l.waits_for.begin(), l.waits_for.end(), l.releaser),
                      l.waits_for.end())
                << "the releaser is one that it waited for";
        }
        if (l.parent) {
            EXPECT_LT(l.completed, lives.at(l.parent).completed) << "children first";
        }
    }
}

TEST_P(Observer, EveryTaskLivesInOrder) {
    observe([](braid::scheduler& s) {
        std::vector<task_id> last;
        for (int layer = 0; layer < 10; ++layer) {
            std::vector<task_id> next;
            for (int i = 0; i < 10; ++i) {
                next.push_back(s.spawn({.after_all = last}, [](task_context& task) {
                    task.spawn_child([] {});
                    task.spawn_child([](task_context& inner) { inner.spawn_child([] {}); });
                }));
            }
            last = next;
        }
        s.wait(s.spawn({.after_all = last}, braid::empty));
    });
    expect_whole_lives();
}

TEST_P(Observer, ATaskIsReadyAfterItsReleaserCompleted) {
    task_id first, second;
    observe([&](braid::scheduler& s) {
        braid::task_builder gate = s.begin({}, braid::empty);
        first = s.spawn({.after = {gate.id()}}, [] {});
        second = s.spawn({.after = {first}}, [] {});
        gate.finish();
        s.wait(second);
    });
    expect_whole_lives();
    const std::size_t ready = log_.at(event_kind::ready, second);
    ASSERT_NE(ready, event_log::never);
    EXPECT_EQ(log_.events()[ready].other, first);
    EXPECT_EQ(log_.count(event_kind::edge, second), 1U);
}

TEST_P(Observer, ATaskThatNothingHeldBackHasNoReleaser) {
    task_id id;
    observe([&](braid::scheduler& s) { s.wait(id = s.spawn([] {})); });
    EXPECT_FALSE(log_.events()[log_.at(event_kind::ready, id)].other);
}

TEST_P(Observer, NamesAndParentsArriveWithTheBirth) {
    task_id parent, child;
    observe([&](braid::scheduler& s) {
        parent = s.spawn({.name = "parent"}, [&](task_context& task) {
            child = task.spawn({.name = "child", .parent = task.id()}, [] {});
        });
        s.wait(parent);
    });
    const auto& born = log_.events()[log_.at(event_kind::spawned, child)];
    EXPECT_STREQ(born.name, "child");
    EXPECT_EQ(born.other, parent);
    EXPECT_STREQ(log_.events()[log_.at(event_kind::started, parent)].name, "parent");
}

TEST_P(Observer, AWaitInsideATaskIsSeenFromBothEnds) {
    task_id outer, inner;
    observe([&](braid::scheduler& s) {
        outer = s.spawn([&](task_context& task) {
            inner = task.spawn([] {});
            task.wait(inner);
        });
        s.wait(outer);
    });
    expect_whole_lives();
    const std::size_t begin = log_.at(event_kind::wait_begin, outer);
    // None at all when the other one ended before the wait began.
    if (begin == event_log::never) return;
    const std::size_t end = log_.at(event_kind::wait_end, outer);
    EXPECT_EQ(log_.events()[begin].other, inner);
    ASSERT_NE(end, event_log::never);
    EXPECT_LT(log_.at(event_kind::completed, inner), end) << "over before the wait ends";
    EXPECT_LT(begin, end);
}

TEST_P(Observer, HelpedWorkRunsInsideTheWait) {
    observe([](braid::scheduler& s) {
        for (int round = 0; round < 50; ++round) {
            s.wait(s.spawn_batch({}, 20, [](std::size_t) {}));
        }
    });
    expect_whole_lives();
    // On each thread: what is helped is started next, and between the ends of a wait.
    std::map<std::uint16_t, int> waits;
    std::map<std::uint16_t, task_id> helped;
    for (const braid::task_event& e : log_.events()) {
        if (e.kind == event_kind::wait_begin) ++waits[e.seat];
        if (e.kind == event_kind::wait_end) {
            EXPECT_GE(--waits[e.seat], 0);
        }
        if (e.kind == event_kind::helped) {
            EXPECT_GT(waits[e.seat], 0) << "helps only in a wait";
            helped[e.seat] = e.other;
        }
        if (e.kind == event_kind::started && helped[e.seat]) {
            EXPECT_EQ(helped[e.seat], e.task);
            helped[e.seat] = {};
        }
    }
    for (const auto& [seat, open] : waits) EXPECT_EQ(open, 0) << "every wait ends";
}

TEST_P(Observer, ThreadsParkAndUnparkInTurns) {
    observe([](braid::scheduler& s) {
        for (int i = 0; i < 20; ++i) {
            braid::event done(s);
            std::thread([&] { done.set(); }).join();
            s.do_work_while_waiting_for(done);
            s.wait(s.spawn([] {}));
        }
    });
    std::map<std::uint16_t, bool> parked;
    for (const braid::task_event& e : log_.events()) {
        if (e.kind == event_kind::parked) {
            EXPECT_FALSE(parked[e.seat]);
            parked[e.seat] = true;
        } else if (e.kind == event_kind::unparked) {
            EXPECT_TRUE(parked[e.seat]);
            parked[e.seat] = false;
        } else {
            EXPECT_FALSE(parked[e.seat]) << "a thread that sleeps does nothing";
        }
    }
    for (const auto& [seat, asleep] : parked) EXPECT_FALSE(asleep) << "everybody is up at the end";
}

TEST_P(Observer, FailureAndCancellationAreReported) {
    task_id failed, cancelled, always;
    observe([&](braid::scheduler& s) {
        braid::task_builder gate = s.begin({}, braid::empty);
        failed = s.spawn({.after = {gate.id()}}, [] { throw std::runtime_error("on purpose"); });
        cancelled = s.spawn({.after = {failed}}, [] {});
        always = s.spawn({.after_any = {failed}}, [] {});
        gate.finish();
        s.wait(always);
    });
    expect_whole_lives();
    EXPECT_LT(log_.at(event_kind::started, failed), log_.at(event_kind::failed, failed));
    EXPECT_LT(log_.at(event_kind::failed, failed), log_.at(event_kind::ended, failed));
    EXPECT_LT(log_.at(event_kind::cancelled, cancelled), log_.at(event_kind::completed, cancelled));
    EXPECT_EQ(log_.count(event_kind::started, cancelled), 0U);
    EXPECT_EQ(log_.count(event_kind::started, always), 1U);
}

TEST_P(Observer, ResourcesAreHeldFromStartToEnd) {
    observe([](braid::scheduler& s) {
        braid::resource one(s, "one", 1);
        braid::scope all(s);
        for (int i = 0; i < 50; ++i) all.spawn({.uses = {&one}}, [] {});
        all.wait();
    });
    expect_whole_lives();
    int held = 0;
    task_id holder;
    for (const braid::task_event& e : log_.events()) {
        if (e.kind == event_kind::released) {
            EXPECT_EQ(e.task, holder);
            --held;
        }
        if (e.kind == event_kind::acquired) {
            EXPECT_EQ(++held, 1) << "one at a time";
            holder = e.task;
        }
        if (e.kind == event_kind::started || e.kind == event_kind::ended) {
            EXPECT_EQ(e.task, holder);
        }
    }
    EXPECT_EQ(held, 0);
}

TEST_P(Observer, PostedTasksAreSeenToo) {
    constexpr int posts = 200;
    observe([](braid::scheduler& s) {
        for (int i = 0; i < posts; ++i) s.post([] {});
    });
    expect_whole_lives();
    int started = 0;
    for (const braid::task_event& e : log_.events()) started += e.kind == event_kind::started;
    EXPECT_EQ(started, posts);
}

// ---- what happens beside tasks -----------------------------------------------------------------

class ObserverTells : public Observer {
protected:
    std::vector<const braid::task_event*> of_object(const void* object) const {
        std::vector<const braid::task_event*> all;
        for (const braid::task_event& e : log_.events()) {
            if (e.object == object) all.push_back(&e);
        }
        return all;
    }
    std::size_t place_of(event_kind kind) const {
        const auto& all = log_.events();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const braid::task_event& e) { return e.kind == kind; });
        return found != all.end() ? static_cast<std::size_t>(found - all.begin())
                                  : event_log::never;
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, ObserverTells, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(ObserverTells, AnEventThatAForeignThreadSetsBeforeTheWaitThatTakesItEnds) {
    const void* address = nullptr;
    observe([&](braid::scheduler& s) {
        braid::event done(s);
        address = &done;
        std::thread setter([&] {
            while (!log_.has_seen(event_kind::wait_begin)) std::this_thread::yield();
            done.set();
        });
        EXPECT_TRUE(s.do_work_while_waiting_for(done));
        setter.join();
    });
    const auto seen = of_object(address);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0]->kind, event_kind::event_set);
    EXPECT_EQ(seen[0]->seat, UINT16_MAX) << "no part of the scheduler";
    EXPECT_FALSE(seen[0]->task);
    EXPECT_EQ(seen[1]->kind, event_kind::event_taken);
    EXPECT_LT(place_of(event_kind::wait_begin), place_of(event_kind::event_set));
    EXPECT_LT(place_of(event_kind::event_set), place_of(event_kind::event_taken));
    EXPECT_LT(place_of(event_kind::event_taken), place_of(event_kind::wait_end));
}

TEST_P(ObserverTells, AnEventThatAWaitFindsSetAndTheTaskThatSetIt) {
    const void* address = nullptr;
    task_id setter;
    observe([&](braid::scheduler& s) {
        braid::event done(s);
        address = &done;
        setter = s.spawn([&] { done.set(); });
        s.wait(setter);
        EXPECT_TRUE(s.do_work_while_waiting_for(done));
        EXPECT_FALSE(s.do_work_while_waiting_for(done, braid::nanoseconds{1000})) << "taken";
    });
    const auto seen = of_object(address);
    ASSERT_EQ(seen.size(), 2U) << "a wait that runs out of time takes nothing";
    EXPECT_EQ(seen[0]->kind, event_kind::event_set);
    EXPECT_EQ(seen[0]->task, setter);
    EXPECT_EQ(seen[1]->kind, event_kind::event_taken);
    EXPECT_FALSE(seen[1]->task);
}

TEST_P(ObserverTells, EachWaitThatAManualEventLetsThrough) {
    const void* address = nullptr;
    observe([&](braid::scheduler& s) {
        braid::event open(s, braid::reset::manual);
        address = &open;
        open.set();
        for (int i = 0; i < 3; ++i) s.work_until(open);
    });
    const auto seen = of_object(address);
    ASSERT_EQ(seen.size(), 4U);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(seen[i]->kind, event_kind::event_taken);
}

TEST_P(ObserverTells, AnEdgeToATaskThatIsCompleteBeforeTheSuccessorIsReady) {
    task_id over, spawned, built;
    observe([&](braid::scheduler& s) {
        over = s.spawn([] {});
        s.wait(over);
        spawned = s.spawn({.after = {over}}, [] {});
        braid::task_builder join = s.begin({}, braid::empty);
        built = join.id();
        EXPECT_TRUE(join.add_dependency(over));
        join.finish();
        s.wait(spawned);
        s.wait(built);
    });
    expect_whole_lives();
    for (const task_id successor : {spawned, built}) {
        ASSERT_EQ(log_.count(event_kind::edge, successor), 1U);
        const std::size_t edge = log_.at(event_kind::edge, successor);
        EXPECT_EQ(log_.events()[edge].other, over);
        EXPECT_LT(log_.at(event_kind::completed, over), edge);
        EXPECT_LT(log_.at(event_kind::spawned, successor), edge);
        EXPECT_LT(edge, log_.at(event_kind::ready, successor));
    }
}

}  // namespace
