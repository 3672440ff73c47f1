#pragma once
// Further operations of the attack: loops, queues, resources, events that tasks wait for, and
// threads that run everything until they are stopped. And who watches and who decides.

#include "attack_program.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/observer.hpp>
#include <braid/core/resource.hpp>
#include <braid/fork_join.hpp>
#include <braid/queue/queue.hpp>

#include <memory>
#include <optional>

namespace attack {

// ---- loops and joins ---------------------------------------------------------------------------

inline int fib(braid::fork_context c, int n) {
    if (n < 2) return n;
    const auto [a, b] = braid::join(
        c, [n](braid::fork_context in) { return fib(in, n - 1); },
        [n](braid::fork_context in) { return fib(in, n - 2); });
    return a + b;
}

/// The caller runs its share, so a loop needs no thread and no memory to get done.
inline void loops(const arena& a, draw d) {
    const auto count = static_cast<std::size_t>(d.between(1, d.chance(30) ? 5'000 : 100));
    const auto grain = static_cast<std::size_t>(d.below(9));
    const bool fails = d.chance(15);
    const std::size_t at = static_cast<std::size_t>(d.below(static_cast<int>(count)));
    const pinch short_of_memory(a, d);
    std::vector<std::atomic<std::uint8_t>> ran(count);
    bool failed = false, cancelled = false;
    try {
        braid::parallel_for(a.s, count,
                            [&](std::size_t i) {
                                ++ran[i];
                                if (fails && i == at) throw planned();
                            },
                            {.grain = grain, .name = "loop"});
    } catch (const planned&) {
        failed = true;
    } catch (const braid::task_cancelled&) {
        cancelled = true;
        a.expect(a.may_cancel(), "a loop was cancelled and nobody had cancelled it");
    }
    a.expect(failed == fails || cancelled, "a loop's failure was lost, or came from nowhere");
    for (const auto& n : ran) {
        a.expect(n < 2, "a loop ran a body twice");
        a.expect(failed || cancelled || n == 1, "a loop lost a body");
    }
    const int n = d.between(0, 14);
    const int value =
        braid::fork_join(a.s, "fib", [n](braid::fork_context c) { return fib(c, n); });
    int before = 0;
    int expected = 1;
    for (int i = 0; i < n; ++i) before = std::exchange(expected, expected + before);
    a.expect(value == before, "a join gave another value");
}

// ---- resources ---------------------------------------------------------------------------------

inline void resources(const arena& a, draw d) {
    const int limit = d.between(1, 3);
    braid::resource some(a.s, "some", static_cast<std::uint32_t>(limit));
    braid::resource one(a.s, "one");
    std::atomic<int> with_some{0}, with_one{0};
    tally t;
    braid::scope all(a.s);
    const int count = d.between(1, 60);
    {
        const pinch short_of_memory(a, d);
        for (int i = 0; i < count; ++i) {
            const auto body = [&, inner = d.own()] {
                a.expect(++with_some <= limit, "more tasks had a resource than may");
                work(inner, 5);
                --with_some;
            };
            const auto body_of_both = [&, body] {
                a.expect(++with_one == 1, "two tasks had a resource for one");
                body();
                --with_one;
            };
            if (d.chance(70)) {
                all.spawn({.uses = {&some}}, counted(t, body));
            } else {
                all.spawn({.priority = braid::priority_level::high, .uses = {&one, &some}},
                          counted(t, body_of_both));
            }
        }
    }
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
        a.expect(a.may_refuse(), "a task with a resource was cancelled and nobody had done it");
    }
    a.expect(t.adds_up(), "bodies with resources ran more or less than once");
    a.expect(a.may_refuse() || t.ran == count, "bodies with resources were lost");
}

// ---- queues ------------------------------------------------------------------------------------

inline void queues(const arena& a, draw d) {
    tally t;
    int refused = 0;
    std::size_t dropped = 0;
    const int count = d.between(1, 80);
    {
        braid::queue_options o;
        o.threads = static_cast<unsigned>(d.below(3));
        o.capacity = d.one_of<std::uint32_t>({2, 4, 64});
        o.full = d.one_of({braid::when_full::help, braid::when_full::block, braid::when_full::grow,
                           braid::when_full::fail});
        const pinch short_of_memory(a, d);
        braid::queue q(a.s, o);
        const bool may_fail = o.full == braid::when_full::fail || a.how.lacks == shortage::memory;
        for (int i = 0; i < count; ++i) {
            const bool more = d.chance(10);
            const auto piece = [&, inner = d.own(), more] {
                work(inner, 5);
                if (more) q.push(counted(t, [] {}));
            };
            const bool pushed = q.push(counted(t, piece));
            refused += pushed ? 0 : 1;
            a.expect(pushed || may_fail, "a queue refused a piece without need");
        }
        if (d.chance(20)) dropped = q.discard();
        if (d.chance(50)) {
            q.drain();
            a.expect(t.over + t.dropped >= count, "a queue was drained before its pieces were");
            const braid::queue_statistics sum = q.statistics();
            a.expect(sum.executed == static_cast<std::uint64_t>(t.over),
                     "a queue counted other pieces than ran");
        }
    }
    a.expect(t.adds_up(), "a queue's pieces ran more or less than once");
    a.expect(t.ran + refused + static_cast<int>(dropped) >= count, "a queue lost pieces");
}

// ---- events ------------------------------------------------------------------------------------

/// Waits for an event that a task of its own sets, or another thread.
inline void own_event(const arena& a, draw d, place where) {
    braid::event go(a.s, d.one_of({braid::reset::automatic, braid::reset::manual}));
    std::atomic<bool> set{false};
    tally t;
    const auto set_it = [&set, &go, inner = d.own()] {
        work(inner, 60);
        set = true;
        go.set();
    };
    const bool by_task = a.passes_gate() || (!a.may_refuse() && d.chance(60));
    std::thread setter;
    braid::task_id id;
    if (by_task) {
        id = a.s.spawn(counted(t, set_it));
    } else {
        setter = std::thread(set_it);
    }
    {
        const pinch short_of_memory(a, d);
        if (d.chance(50)) {
            a.expect(a.s.do_work_while_waiting_for(go), "a wait without a limit ran out of time");
        } else {
            // On top of a task it needs the time to have somebody stand in for it.
            const auto pause =
                braid::microseconds(d.below(200) + (where == place::task ? 1'000 : 0));
            while (!a.s.do_work_while_waiting_for(go, pause)) {
            }
        }
        a.expect(set, "a wait for an event ended before the event was set");
    }
    if (setter.joinable()) setter.join();
    if (by_task) a.settle(d, id);
    a.expect(t.adds_up(), "a task that sets an event ran more or less than once");
}

/// At the bottom of its stack a thread runs whatever there is until somebody stops it.
inline void until_stopped(const arena& a, draw d) {
    braid::event stop(a.s, braid::reset::manual);
    std::atomic<bool> stopped{false};
    tally t;
    braid::scope all(a.s);
    const int count = d.below(20);
    for (int i = 0; i < count; ++i) {
        all.post(counted(t, [inner = d.own()] { work(inner, 20); }));
    }
    std::thread stopper([&, inner = d.own()] {
        work(inner, 200);
        stopped = true;
        stop.set();
    });
    a.s.work_until(stop);
    a.expect(stopped, "work_until() ended before it was stopped");
    stopper.join();
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
    }
    a.expect(t.adds_up(), "a body beside work_until() ran more or less than once");
    a.expect(a.may_refuse() || t.ran == count, "bodies beside work_until() were lost");
}

// ---- who watches -------------------------------------------------------------------------------

/// Every begin has its end, whatever goes wrong between them.
class watcher final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        using enum braid::event_kind;
        if (e.kind == started) ++bodies_;
        if (e.kind == ended) --bodies_;
        if (e.kind == job_started) ++jobs_;
        if (e.kind == job_ended) --jobs_;
        if (e.kind == wait_begin) ++waits_;
        if (e.kind == wait_end) --waits_;
        if (e.kind == forked) ++joins_;
        if (e.kind == joined) --joins_;
    }
    /// Once the scheduler has ended.
    void settle(findings& found) const {
        found.expect(bodies_ == 0, "the observer heard of other ends than begins of bodies");
        found.expect(jobs_ == 0, "the observer heard of other ends than begins of branches");
        found.expect(waits_ == 0, "the observer heard of other ends than begins of waits");
        found.expect(joins_ == 0, "the observer heard of other ends than begins of joins");
    }

private:
    std::atomic<int> bodies_{0}, jobs_{0}, waits_{0}, joins_{0};
};

}  // namespace attack
