#pragma once
// Halves of pairs: each holds up a chain of its own, on a worker and a core of its own, for about
// 20 ms. Without its cause the chain would take half of that.

#include "machine.hpp"

#include <braid/braid.hpp>

#include <atomic>
#include <memory>
#include <vector>

namespace planted {

/// A thread of the program that does what tasks ask it for. When it is done somebody else has the
/// core of the task that waits.
class device {
public:
    device(braid::scheduler& s, int core)
        : s_(s), asked_(s), done_(s), rival_({core, 3}), thread_([this] { serve(); }) {}
    ~device() {
        ends_.store(true, std::memory_order_relaxed);  // set() makes it visible
        asked_.set();
        thread_.join();
    }
    device(const device&) = delete;
    device& operator=(const device&) = delete;

    void ask_and_wait() {
        asked_.set();
        s_.do_work_while_waiting_for(done_);
    }

private:
    void serve() {
        pthread_setname_np(pthread_self(), "device");
        become(urgency::device);
        while (true) {
            s_.do_work_while_waiting_for(asked_);
            if (ends_.load(std::memory_order_relaxed)) return;  // after the event
            pass(0.3);                                          // the worker sleeps by then
            rival_.ask();
            done_.set();
        }
    }

    braid::scheduler& s_;
    braid::event asked_, done_;
    std::atomic<bool> ends_{false};
    rival rival_;
    std::thread thread_;
};

/// Where a half takes place.
struct side {
    side(braid::scheduler& scheduler, unsigned worker)
        : s(scheduler),
          on(s.worker_thread(worker)),
          core(core_number(static_cast<int>(worker))),
          other({core, 10}) {
        s.wait(s.spawn({.on = on}, [this] { stay_on(core); }), braid::help::none);
    }

    braid::scheduler& s;
    const braid::thread_ref on;
    const int core;
    std::vector<braid::task_id> ends;  // the frame waits for them
    std::vector<braid::task_id> left_over;

    rival other;
    std::atomic<bool> begun{false};  // of background
    // Of late_wake, and there for no other: while a thread waits another one may do its work.
    std::unique_ptr<device> slow;
};

/// Two tasks for the same worker, while others have nothing to do.
inline void affinity(side& at) {
    at.s.spawn({.name = "stream", .on = at.on}, [] { work(10); });
    at.ends.push_back(at.s.spawn({.name = "upload", .on = at.on}, [] { work(10); }));
}

inline void serial_chain(side& at) {
    braid::task_id last;
    for (int i = 0; i < 20; ++i) {
        last = at.s.spawn({.name = "link", .after = {last}, .on = at.on}, [] { work(1); });
    }
    at.ends.push_back(last);
}

inline void straggler(side& at) {
    for (int i = 0; i < 8; ++i) {
        const double ms = i == 7 ? 19.5 : 0.07;
        at.ends.push_back(at.s.spawn({.name = "tile", .on = at.on}, [ms] { work(ms); }));
    }
}

/// A thread that is no part of the scheduler has the core for half of the time.
inline void preemption(side& at) {
    const auto solve = [&at] {
        at.other.ask();
        work(10);
    };
    at.ends.push_back(at.s.spawn({.name = "solve", .on = at.on}, solve));
}

/// Background work has the core for half of the time.
inline void background(side& at) {
    // relaxed: no task of this frame is there yet.
    at.begun.store(false, std::memory_order_relaxed);
    const auto bake = [&at] {
        // acquire: pairs with the release in `light`.
        at.begun.wait(false, std::memory_order_acquire);
        become(urgency::rival);
        stay_on(at.core);
        work(10);
    };
    const auto light = [&at] {
        // release: pairs with the acquire in `bake`.
        at.begun.store(true, std::memory_order_release);
        at.begun.notify_one();
        work(10);
    };
    at.left_over.push_back(
        at.s.spawn({.name = "bake", .runs_as = braid::task_class::background}, bake));
    at.ends.push_back(at.s.spawn({.name = "lit tile", .on = at.on}, light));
}

/// The worker sleeps until a device is done, and its core belongs to somebody else by then.
inline void late_wake(side& at) {
    if (at.slow == nullptr) at.slow = std::make_unique<device>(at.s, at.core);
    const auto hop = [&at] {
        yield_to_others();
        for (int i = 0; i < 5; ++i) {
            work(0.7);
            at.slow->ask_and_wait();
        }
    };
    at.ends.push_back(at.s.spawn({.name = "hop", .on = at.on}, hop));
}

constexpr int dust = 100'000;

/// Memory for that many tasks at once. What takes its pages in the recorded frame only may wait for
/// the system longer than for anything that is planted.
inline void touch_memory_of(int tasks, braid::scheduler& s) {
    std::atomic<bool> opens{false};
    const auto gate = [&] { opens.wait(false, std::memory_order_relaxed); };  // nothing to see
    const braid::task_id closed = s.spawn({.name = "gate"}, gate);
    braid::scope all(s);
    for (int i = 0; i < tasks; ++i) {
        s.spawn({.name = "memory", .after = {closed}, .within = &all}, braid::empty);
    }
    opens.store(true, std::memory_order_relaxed);
    opens.notify_one();
    all.wait();
}

/// Any thread may run it, so only the side's worker has time for it.
inline void too_fine(side& at) {
    const auto spawn_dust = [](braid::task_context& t) {
        for (int i = 0; i < dust; ++i) t.spawn({.name = "dust", .parent = t.id()}, [] {});
    };
    at.ends.push_back(at.s.spawn({.name = "all dust", .on = at.on}, spawn_dust));
}

/// What takes longest begins last. Any thread may run all of it, as for too_fine.
inline void priority(side& at) {
    for (int i = 0; i < 10; ++i) {
        at.ends.push_back(at.s.spawn({.name = "decal"}, [] { work(1); }));
    }
    braid::task_id last;
    for (int i = 0; i < 10; ++i) {
        last = at.s.spawn({.name = "light", .after = {last}}, [] { work(1); });
    }
    at.ends.push_back(last);
}

}  // namespace planted
