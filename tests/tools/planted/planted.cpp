// planted CAUSE FILE: a program of one frame in which something is wrong that has a name, or two
// things at one moment (CAUSE+CAUSE), recorded. For planted_test.py. Two threads do the work: with
// one worker the main thread is the other one, with two it only waits.
#include <braid/braid.hpp>
#include <braid/profile/recorder.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace {

using braid::task_context;

/// Tasks that outlast the frame.
std::vector<braid::task_id> left_over;

/// Work of that length.
void work(double ms) {
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6));
    while (std::chrono::steady_clock::now() < until) {
    }
}

void wait_for_all(braid::scheduler& s, const std::vector<braid::task_id>& all) {
    s.wait(s.spawn({.name = "end", .after_all = all}, braid::empty));
}

void healthy(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 40; ++i) all.push_back(s.spawn({.name = "even"}, [] { work(0.5); }));
    wait_for_all(s, all);
}

/// Two tasks for the same worker, while the other one has nothing to do.
void affinity(braid::scheduler& s) {
    const braid::thread_ref first = s.worker_thread(0);
    const braid::task_id a = s.spawn({.name = "stream", .on = first}, [] { work(10); });
    const braid::task_id b = s.spawn({.name = "upload", .on = first}, [] { work(10); });
    s.wait(a, braid::help::none);
    s.wait(b, braid::help::none);
}

void serial_chain(braid::scheduler& s) {
    braid::task_id last;
    for (int i = 0; i < 20; ++i) last = s.spawn({.name = "link", .after = {last}}, [] { work(1); });
    s.wait(last);
}

void too_fine(braid::scheduler& s) {
    const auto spawn_dust = [](task_context& t) {
        for (int i = 0; i < 50'000; ++i) t.spawn({.name = "dust", .parent = t.id()}, [] {});
    };
    s.wait(s.spawn({.name = "all dust"}, spawn_dust));
}

/// What takes longest begins last: the worker takes the oldest first, and who waits the newest.
void priority(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    const auto spawn_decals = [&] {
        for (int i = 0; i < 12; ++i) all.push_back(s.spawn({.name = "decal"}, [] { work(1); }));
    };
    spawn_decals();
    braid::task_id last;
    for (int i = 0; i < 12; ++i)
        last = s.spawn({.name = "light", .after = {last}}, [] { work(1); });
    all.push_back(last);
    spawn_decals();
    wait_for_all(s, all);
}

void straggler(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 16; ++i) {
        all.push_back(s.spawn({.name = "tile"}, [i] { work(i == 15 ? 20 : 0.5); }));
    }
    wait_for_all(s, all);
}

/// One of the two threads bakes for the next level, and the frame is left with the other.
void background(braid::scheduler& s) {
    left_over.push_back(s.spawn({.name = "bake", .may_be_long = true}, [] { work(60); }));
    std::vector<braid::task_id> all;
    for (int i = 0; i < 24; ++i) all.push_back(s.spawn({.name = "tile"}, [] { work(1); }));
    wait_for_all(s, all);
}

/// A thread of the program that is no part of the scheduler, on one core until it is told to end.
class rival {
public:
    void take(int core) { core_.store(core, std::memory_order_release); }
    void end() {
        core_.store(ends, std::memory_order_release);
        thread_.join();
    }

private:
    static constexpr int nowhere = -1, ends = -2;
    void run() {
        int at = nowhere;
        while (true) {
            const int core = core_.load(std::memory_order_acquire);
            if (core == ends) return;
            if (core != at) {
                cpu_set_t only;
                CPU_ZERO(&only);
                CPU_SET(static_cast<unsigned>(core), &only);
                pthread_setaffinity_np(pthread_self(), sizeof only, &only);
                at = core;
            }
            core == nowhere ? std::this_thread::yield() : work(0.1);
        }
    }
    std::atomic<int> core_{nowhere};
    std::thread thread_{[this] { run(); }};
};

/// The worker sleeps between two tasks, and its core belongs to somebody else when it is to wake.
void late_wake(braid::scheduler& s) {
    rival other;
    for (int i = 0; i < 10; ++i) {
        const auto hop = [&] {
            other.take(sched_getcpu());
            work(0.2);
        };
        s.wait(s.spawn({.name = "hop", .on = s.worker_thread(0)}, hop), braid::help::none);
        work(1);
    }
    other.end();
}

/// The core of a worker is taken while it runs.
void preemption(braid::scheduler& s) {
    rival other;
    const auto solve = [&] {
        other.take(sched_getcpu());
        work(60);
    };
    s.wait(s.spawn({.name = "solve", .on = s.worker_thread(0)}, solve), braid::help::none);
    other.end();
}

/// Halves of pairs: each holds up a chain of its own, on a worker of its own, for about 20 ms.
namespace half {

using ends = std::vector<braid::task_id>;

void affinity(braid::scheduler& s, unsigned worker, ends& to) {
    const braid::thread_ref on = s.worker_thread(worker);
    s.spawn({.name = "stream", .on = on}, [] { work(10); });
    to.push_back(s.spawn({.name = "upload", .on = on}, [] { work(10); }));
}
void serial_chain(braid::scheduler& s, unsigned worker, ends& to) {
    const braid::thread_ref on = s.worker_thread(worker);
    braid::task_id last;
    for (int i = 0; i < 20; ++i) {
        last = s.spawn({.name = "link", .after = {last}, .on = on}, [] { work(1); });
    }
    to.push_back(last);
}
void straggler(braid::scheduler& s, unsigned worker, ends& to) {
    const braid::thread_ref on = s.worker_thread(worker);
    for (int i = 0; i < 8; ++i) {
        to.push_back(s.spawn({.name = "tile", .on = on}, [i] { work(i == 7 ? 19.5 : 0.07); }));
    }
}

}  // namespace half

template <auto A, auto B>
void pair(braid::scheduler& s) {
    half::ends all;
    A(s, 0, all);
    B(s, 1, all);
    for (const braid::task_id id : all) s.wait(id, braid::help::none);
}

struct planted {
    std::function<void(braid::scheduler&)> frame;
    int workers = 1;
};

const std::map<std::string, planted> causes = {
    {"none", {&healthy}},
    {"affinity", {&affinity, 2}},
    {"serial_chain", {&serial_chain}},
    {"too_fine", {&too_fine}},
    {"priority", {&priority}},
    {"straggler", {&straggler}},
    {"background", {&background}},
    {"late_wake", {&late_wake}},
    {"preemption", {&preemption}},
    // The fourth and fifth thread of these have nothing to do.
    {"affinity+straggler", {&pair<half::affinity, half::straggler>, 4}},
    {"serial_chain+straggler", {&pair<half::serial_chain, half::straggler>, 4}},
    {"affinity+serial_chain", {&pair<half::affinity, half::serial_chain>, 4}},
};

}  // namespace

int main(int count, char** arguments) {
    const auto chosen = count == 3 ? causes.find(arguments[1]) : causes.end();
    if (chosen == causes.end()) {
        std::fprintf(stderr, "planted: give a cause and a file.\n");
        return 2;
    }
    // Emptied at the end only: with two cores the recorder's own thread would be a cause.
    braid::profile::recorder recorder(
        {.ring_records = std::size_t{1} << 19, .flush_every = braid::nanoseconds{10'000'000'000}});
    const std::string cause = chosen->first;
    braid::scheduler s({
        .workers = chosen->second.workers,
        // Else the system would find the thread another core.
        .worker_threads = {.name = "worker",
                           .nice = cause == "late_wake" ? 19 : 0,
                           .pin = cause == "preemption" || cause == "late_wake"},
        .observer = &recorder,
    });
    chosen->second.frame(s);  // once without: threads are awake, memory is there
    for (const braid::task_id id : left_over) s.wait(id);
    if (const braid::status went = recorder.start(arguments[2]); !went) {
        std::fprintf(stderr, "planted: %s.\n", went.text.c_str());
        return 1;
    }
    recorder.begin_frame(1);
    chosen->second.frame(s);
    recorder.end_frame(1);
    return recorder.stop() ? 0 : 1;
}
