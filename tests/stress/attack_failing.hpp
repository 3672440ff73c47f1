#pragma once
// Further operations of the attack: what fails, is cancelled, or is another scheduler's; and
// coroutines that give way, and that clean up after they were cancelled.

#include "attack_program.hpp"

#include <braid/async/co.hpp>
#include <braid/async/timer.hpp>
#include <braid/core/event.hpp>
#include <braid/core/resource.hpp>

#include <optional>
#include <vector>

namespace attack {

// ---- failures ----------------------------------------------------------------------------------

/// An exception leaves a scope that has tasks, or its wait() was forgotten.
inline void scope_that_is_left(const arena& a, draw d) {
    tally t;
    const int count = d.between(1, d.chance(20) ? 300 : 30);
    const bool forgets = d.chance(10);
    std::optional<pinch> outer;
    if (d.chance(50)) outer.emplace(a, d);
    try {
        braid::scope all(a.s, d.chance(20) ? braid::on_failure::cancel : braid::on_failure::go_on);
        std::optional<pinch> inner;
        if (!outer) inner.emplace(a, d);
        for (int i = 0; i < count; ++i) {
            const auto body = [own = d.own()] { work(own, 5); };
            if (d.chance(50)) {
                all.post(counted(t, body));
            } else {
                all.spawn({}, counted(t, body));
            }
        }
        if (!forgets) throw planned();
    } catch (const planned&) {
    }
    a.expect(t.adds_up(), "a scope was left, and its bodies ran more or less than once");
    a.expect(!forgets || a.may_refuse() || t.ran == count, "a scope without wait() lost tasks");
}

/// No successor of a failure runs, be it made before, while, or after that is one.
inline void after_a_failure(const arena& a, draw d) {
    tally t, next;
    std::vector<braid::task_id> later;
    auto gate = a.s.begin({}, braid::empty);
    if (!gate.id()) return a.expect(a.may_refuse(), "a gate was refused without need");
    const auto body = [own = d.own()] {
        work(own, 10);
        throw planned();
    };
    const braid::task_id failing = a.s.spawn({.after = {gate.id()}}, counted(t, body));
    const pinch short_of_memory(a, d);
    const auto make_later = [&](int count) {
        while (failing && count-- != 0) {
            later.push_back(a.s.spawn({.after = {failing}}, counted(next, [] {})));
        }
    };
    const auto ends = [&a](braid::task_id id) {
        try {
            a.s.wait(id);
        } catch (const planned&) {
        } catch (const braid::task_cancelled&) {
        } catch (const braid::task_failed&) {  // it came after the failure
        }
        return a.s.done(id);
    };
    make_later(d.below(10));
    gate.finish();
    make_later(d.below(30));
    if (failing) a.expect(ends(failing), "a wait ended before the task that fails");
    make_later(d.below(10));
    // Without memory for more slots, those of failed tasks are used again at once.
    const bool forgets = a.how.lacks == shortage::memory;
    for (const braid::task_id id : later) {
        if (!id) {
            a.expect(a.may_refuse(), "a successor was refused without need");
            continue;
        }
        a.expect(ends(id), "a wait ended before a successor of a failure");
        const braid::task_state how = a.s.state(id);
        a.expect(how == braid::task_state::failed || how == braid::task_state::cancelled || forgets,
                 "a successor of a failure is none itself");
    }
    a.expect(t.adds_up(), "a body that fails ran more or less than once");
    a.expect(next.ran == 0 || forgets, "a successor of a failure ran");
    a.expect(next.adds_up(), "a successor's body ran more or less than once");
}

// ---- another scheduler's -----------------------------------------------------------------------

/// Refused, with a sentence that the round counts; nothing waits.
inline void foreign_objects(const arena& a, draw d) {
    braid::scheduler_options none;
    none.workers = 0;
    braid::scheduler other(none);
    braid::scope within(other);
    braid::resource uses(other, "other's");
    braid::event go(other);
    tally t;
    const pinch short_of_memory(a, d);
    for (int i = d.between(1, 4); i-- != 0;) {
        a.found.foresee_misuse();
        switch (d.below(4)) {
            case 0:
                a.expect(!a.s.spawn({.within = &within}, counted(t, [] {})),
                         "a task is within a scope of another scheduler");
                break;
            case 1:
                a.expect(!a.s.post({.within = &within}, counted(t, [] {})),
                         "a posted task is within a scope of another scheduler");
                break;
            case 2:
                a.expect(!a.s.spawn({.uses = {&uses}}, counted(t, [] {})),
                         "a task uses a resource of another scheduler");
                break;
            default:
                a.expect(!a.s.do_work_while_waiting_for(go),
                         "an event of another scheduler was waited for");
        }
    }
    a.expect(t.ran == 0 && t.adds_up(), "a task with another scheduler's objects ran");
    within.wait();
}

// ---- coroutines --------------------------------------------------------------------------------

/// Counts the coroutines that have begun, and those that have ended in whatever way.
struct frames_alive {
    std::atomic<int> begun{0}, ended{0}, heard_twice{0};

    struct one {
        frames_alive& in;
        explicit one(frames_alive& all) : in(all) { ++in.begun; }
        ~one() { ++in.ended; }
        one(const one&) = delete;
        one& operator=(const one&) = delete;
    };
};

inline braid::co<> gives_way_until(const std::atomic<bool>& stop, frames_alive& all) {
    const frames_alive::one alive(all);
    while (!stop) co_await braid::yield();
}

/// What was posted runs, although the coroutines are always ready.
inline void yields(const arena& a, draw d) {
    std::atomic<bool> stop{false};
    frames_alive frames;
    tally t;
    braid::scope all(a.s), beside(a.s);
    {
        const pinch short_of_memory(a, d);
        for (int i = d.between(1, 8); i-- != 0;) {
            const bool made =
                braid::co_spawn(a.s, {.within = &all}, gives_way_until(stop, frames)).valid();
            a.expect(made || a.may_refuse(), "a coroutine was refused without need");
        }
        if (!beside.post(counted(t, [&stop] { stop = true; }))) stop = true;
        try {
            all.wait();
        } catch (const std::exception&) {
            a.expect(a.may_refuse(),
                     "a coroutine that gives way was ended, and nobody had done it");
        }
    }
    a.expect(frames.begun == frames.ended, "a coroutine that gives way did not end");
    try {
        beside.wait();
    } catch (const braid::task_cancelled&) {
    }
    a.expect(t.adds_up(), "a body beside coroutines that give way ran more or less than once");
}

/// One await says that nobody wants it any more; from then on each of them works.
inline braid::co<> cleans_up(const arena& a, braid::task_id gate, frames_alive& all, draw d) {
    const frames_alive::one alive(all);
    int heard = 0;
    try {
        if (d.chance(50)) co_await braid::yield();
        co_await gate;
    } catch (const braid::task_cancelled&) {
        ++heard;
    }
    for (int i = d.between(1, 3); i-- != 0;) {
        try {
            switch (d.below(3)) {
                case 0:
                    co_await braid::yield();
                    break;
                case 1:
                    co_await braid::sleep_for(braid::microseconds(d.below(50)));
                    break;
                default:
                    // It is in the same scope, and may be cancelled itself.
                    if (const braid::task_id id = a.s.spawn([] {})) {
                        (void)co_await braid::as_result(id);
                    }
            }
        } catch (const braid::task_cancelled&) {
            ++heard;
        }
    }
    if (heard > 1) ++all.heard_twice;
}

inline void clean_up(const arena& a, draw d) {
    frames_alive frames;
    auto gate = a.s.begin({}, braid::empty);
    if (!gate.id()) return a.expect(a.may_refuse(), "a gate was refused without need");
    braid::scope all(a.s);
    const int count = d.between(1, 20);
    const bool cancels = d.chance(70);
    const bool cancels_late = d.chance(50);
    {
        const pinch short_of_memory(a, d);
        for (int i = 0; i < count; ++i) {
            const bool made =
                braid::co_spawn(a.s, {.within = &all}, cleans_up(a, gate.id(), frames, d.own()))
                    .valid();
            a.expect(made || a.may_refuse(), "a coroutine was refused without need");
        }
        if (cancels && !cancels_late) all.cancel();
        gate.finish();
        if (cancels && cancels_late) all.cancel();
        try {
            all.wait();
        } catch (const std::exception&) {
            a.expect(cancels || a.may_refuse(), "a coroutine failed, and nobody had cancelled it");
        }
    }
    a.expect(frames.begun == frames.ended, "a coroutine that was cancelled did not end");
    a.expect(frames.heard_twice == 0, "a coroutine heard twice that it was cancelled");
    a.expect(cancels || a.may_refuse() || frames.ended == count, "coroutines were lost");
}

}  // namespace attack
