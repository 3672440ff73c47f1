// C23: names, stacks, niceness and pinning, as the operating system shows them.
#include "base/topology.hpp"

#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <csignal>

namespace {

using braid_test::proc_thread;
using braid_test::proc_threads;
using braid_test::this_proc_thread;

BRAID_SCHEDULER_TEST(Threads);

/// What one task sees on each worker.
template <class Look>
void on_each_worker(braid::scheduler& s, Look look) {
    for (unsigned i = 0; i < s.worker_count(); ++i) {
        s.wait(s.spawn({.on = s.worker_thread(i)}, [&look, i] { look(i); }));
    }
}

TEST_P(Threads, AreNamedAndNumbered) {
    braid::scheduler_options o = options();
    o.worker_threads.name = "job";
    braid::scheduler s(o);
    on_each_worker(s, [&](unsigned i) {
        EXPECT_EQ(this_proc_thread().name, "job " + std::to_string(i));
        EXPECT_EQ(s.statistics(s.this_thread().seat).name, "job " + std::to_string(i));
    });
    EXPECT_EQ(proc_threads("job ").size(), static_cast<std::size_t>(GetParam()));
    s.wait(s.spawn({.runs_as = braid::task_class::background},
                   [] { EXPECT_EQ(this_proc_thread().name, "background 0"); }));
}

TEST_P(Threads, HaveANameAlsoWhenOnlyOtherOptionsAreGiven) {
    braid::scheduler_options o = options();
    o.worker_threads = {.nice = 1};
    braid::scheduler s(o);
    on_each_worker(
        s, [](unsigned i) { EXPECT_EQ(this_proc_thread().name, "worker " + std::to_string(i)); });
}

TEST_P(Threads, HaveTheNicenessAskedForAndTheCallerKeepsItsOwn) {
    const int before = this_proc_thread().nice;
    braid::scheduler_options o = options();
    o.worker_threads.nice = 5;
    braid::scheduler s(o);
    on_each_worker(s, [](unsigned) { EXPECT_EQ(this_proc_thread().nice, 5); });
    EXPECT_EQ(this_proc_thread().nice, before);
}

TEST_P(Threads, HandFaultsOfTheirOwnToTheProgramsHandlerWithRoomForIt) {
    static std::atomic<int> handled{0};
    handled = 0;
    const auto before = std::signal(SIGTRAP, [](int) { ++handled; });
    {
        braid::scheduler s(options());
        on_each_worker(s, [](unsigned) {
            std::raise(SIGTRAP);
            stack_t room{};
            EXPECT_EQ(sigaltstack(nullptr, &room), 0);
            EXPECT_EQ(room.ss_flags & SS_DISABLE, 0);
            EXPECT_GE(room.ss_size, 16'384U);
        });
    }
    std::signal(SIGTRAP, before);
    EXPECT_EQ(handled, GetParam());
}

TEST_P(Threads, ArePinnedFromTheFirstCoreAskedForAndTheCallerIsNot) {
    const std::string before = this_proc_thread().cpus;
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 2);
    o.worker_threads.pin = true;
    o.worker_threads.first_cpu = 0;
    braid::scheduler s(o);
    on_each_worker(s, [](unsigned i) { EXPECT_EQ(this_proc_thread().cpus, std::to_string(i)); });
    EXPECT_EQ(this_proc_thread().cpus, before);
}

TEST_P(Threads, ArePinnedByTheMachinesTopologyBehindTheMainThread) {
    std::uint16_t order[braid::topology::capacity];
    static const braid::topology unknown{};
    const braid::topology* machine = braid::machine_topology();
    const std::size_t count =
        (machine != nullptr ? *machine : unknown).pin_order(braid::platform::own_cores(), order);
    const std::string before = this_proc_thread().cpus;
    braid::scheduler_options o = options();
    o.worker_threads.pin = true;
    braid::scheduler s(o);
    on_each_worker(s, [&](unsigned i) {
        EXPECT_EQ(this_proc_thread().cpus, std::to_string(order[(1 + i) % count]));
    });
    EXPECT_EQ(this_proc_thread().cpus, before);
}

TEST_P(Threads, HaveTheStackAskedFor) {
    braid::scheduler_options o = options();
    o.worker_threads.stack_bytes = 24 << 20;
    braid::scheduler s(o);
    on_each_worker(s, [](unsigned) {
        // Deeper than the usual 8 MiB; touched page by page.
        char block[12 << 20];
        for (std::size_t i = 0; i < sizeof block; i += 4096) block[i] = 1;
        asm volatile("" : : "r"(block) : "memory");  // really written
        EXPECT_EQ(block[4096], 1);
    });
}

TEST_P(Threads, ThatCannotBeHadAreLoggedAndTheRestGoesOn) {
    if (GetParam() == 0) GTEST_SKIP() << "asks for no thread";
    braid::scheduler_options o = options();
    o.worker_threads.stack_bytes = std::size_t{1} << 60;
    braid::scheduler s(o);
    EXPECT_EQ(s.worker_count(), 0U);
    EXPECT_GE(notes_.count(&braid_test::recorder::log, "worker 0"), 1U);
    bool ran = false;
    s.wait(s.spawn([&] { ran = true; }));
    EXPECT_TRUE(ran);
}

TEST_P(Threads, TakeNoSignals) {
    braid::scheduler s(options());
    on_each_worker(s, [](unsigned) {
        sigset_t blocked;
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
        EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    });
}

}  // namespace
