// C9: a task for one thread runs there and nowhere else, and who waits for it is not stuck.
#include "core/control/runtime.hpp"
#include "deadlocks.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <array>

namespace {

using braid_test::door;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(Affinity);

TEST_P(Affinity, ATaskForOneThreadNeverRunsElsewhere) {
    braid::scheduler s(options());
    std::vector<braid::thread_ref> threads{s.this_thread()};
    for (unsigned i = 0; i < s.worker_count(); ++i) threads.push_back(s.worker_thread(i));
    std::atomic<std::size_t> right{0}, wrong{0};
    braid::scope all(s);
    const std::size_t tasks = scaled(4000);
    for (std::size_t i = 0; i < tasks; ++i) {
        const braid::thread_ref where = threads[i % threads.size()];
        all.spawn({.on = where}, [&, where] { ++(s.this_thread() == where ? right : wrong); });
        all.post([] {});
    }
    all.wait();
    EXPECT_EQ(right, tasks);
    EXPECT_EQ(wrong, 0U);
}

TEST_P(Affinity, AMaskOfWorkersIsHonoured) {
    braid::scheduler s(options());
    if (s.worker_count() < 2) GTEST_SKIP() << "needs two workers";
    const std::uint64_t mask = s.worker_count() >= 4 ? 0b1010 : 0b10;
    std::vector<braid::thread_ref> allowed;
    for (unsigned i = 0; i < s.worker_count(); ++i) {
        if ((mask >> i & 1) != 0 && i < 64) allowed.push_back(s.worker_thread(i));
    }
    std::atomic<std::size_t> right{0}, wrong{0};
    braid::scope all(s);
    const std::size_t tasks = scaled(3000);
    for (std::size_t i = 0; i < tasks; ++i) {
        all.spawn({.workers = mask}, [&] {
            const braid::thread_ref here = s.this_thread();
            ++(std::find(allowed.begin(), allowed.end(), here) != allowed.end() ? right : wrong);
        });
    }
    all.wait();
    EXPECT_EQ(right, tasks);
    EXPECT_EQ(wrong, 0U);
}

TEST_P(Affinity, AMaskMemberTakesWhatLiesWithAnotherThatIsBusy) {
    braid::scheduler s(options());
    if (s.worker_count() < 2) GTEST_SKIP() << "needs two workers";
    door go;
    std::atomic<int> ran{0};
    braid::scope held(s);
    door busy;
    held.spawn({.on = s.worker_thread(0)}, [&] {
        busy.open();
        go.pass();
    });
    busy.pass();
    braid::scope all(s);
    for (int i = 0; i < 100; ++i) all.spawn({.workers = 0b11}, [&] { ++ran; });
    all.wait();  // without worker 0
    EXPECT_EQ(ran, 100);
    go.open();
    held.wait();
}

TEST_P(Affinity, AMaskMemberThatFallsAsleepMeanwhileTakesTheTask) {
    // Worker 0 is busy throughout; worker 1 is on its way to sleep after each round.
    braid::scheduler_options no_spinning = options();
    no_spinning.idle = braid::parking::power;
    braid::scheduler s(no_spinning);
    if (s.worker_count() < 2) GTEST_SKIP() << "needs two workers";
    door go, busy;
    braid::scope held(s);
    held.spawn({.on = s.worker_thread(0)}, [&] {
        busy.open();
        go.pass();
    });
    busy.pass();
    std::atomic<std::size_t> ran{0};
    const std::size_t rounds = scaled(3000);
    for (std::size_t i = 0; i < rounds; ++i) {
        s.spawn({.workers = 0b11}, [&] { ++ran; });
        while (ran.load() != i + 1) std::this_thread::yield();
        for (std::size_t spins = 0; spins < i % 64 * 16; ++spins) braid::active_policy::relax();
    }
    go.open();
    held.wait();
    EXPECT_EQ(ran, rounds);
}

TEST_P(Affinity, OneIdleMemberOfAMaskIsWokenAndTheOthersSleepOn) {
    braid::scheduler_options no_spinning = options();
    no_spinning.idle = braid::parking::power;
    braid::scheduler s(no_spinning);
    if (s.worker_count() < 2) GTEST_SKIP() << "needs two workers";
    const braid::detail::runtime& rt = s.internals();
    // How often the workers have fallen asleep, once all of them are.
    const auto sleeps = [&] {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < s.worker_count(); ++i) {
            const unsigned seat = s.worker_thread(i).seat;
            const braid::detail::whole_seat& w = rt.seat_at(seat);
            braid_test::until([&] {
                return rt.asleep().asleep(seat, braid::detail::searcher::idle) && w.at_rest.load();
            });
            sum += w.report.counters.parks.load();
        }
        return sum;
    };
    const std::uint64_t before = sleeps();
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        std::atomic<bool> ran{false};
        s.spawn({.workers = ~std::uint64_t{0}}, [&] { ran = true; });
        braid_test::until([&] { return ran.load(); });
        sleeps();
    }
    // Once more each: the wake of a scheduler's making may come late.
    EXPECT_LE(sleeps(), before + rounds + s.worker_count());
}

TEST_P(Affinity, WaitingForWorkOfTheWaitersOwnThreadMakesProgress) {
    braid::scheduler s(options());
    std::vector<braid::thread_ref> threads{s.this_thread()};
    for (unsigned i = 0; i < std::min(s.worker_count(), 3U); ++i) {
        threads.push_back(s.worker_thread(i));
    }
    std::atomic<int> ran{0};
    for (const braid::thread_ref where : threads) {
        s.wait(s.spawn({.on = where}, [&](braid::task_context& task) {
            // Needed by the wait: directly, as a predecessor, and as a child of another task.
            task.wait(task.spawn({.on = where}, [&] { ++ran; }));
            const braid::task_id pinned = task.spawn({.on = where}, [&] { ++ran; });
            task.wait(task.spawn({.after = {pinned}}, [&] { ++ran; }));
            task.wait(task.spawn([&, where](braid::task_context& inner) {
                inner.spawn({.parent = inner.id(), .on = where}, [&] { ++ran; });
            }));
        }));
    }
    EXPECT_EQ(ran, 4 * static_cast<int>(threads.size()));
}

TEST_P(Affinity, TwoThreadsThatWaitForEachOthersPinnedWorkBothGoOn) {
    braid::scheduler s(options());
    if (s.worker_count() < 2) GTEST_SKIP() << "needs two workers";
    const std::array<braid::thread_ref, 2> threads{s.worker_thread(0), s.worker_thread(1)};
    std::atomic<int> ran{0};
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> inside{0};
        std::array<braid::task_id, 2> ids;
        for (std::size_t i = 0; i < 2; ++i) {
            ids[i] = s.spawn({.on = threads[i]}, [&, i](braid::task_context& task) {
                ++inside;
                braid_test::until([&] { return inside == 2; });
                task.wait(task.spawn({.on = threads[1 - i]}, [&] { ++ran; }));
            });
        }
        s.wait(s.spawn({.after_all = ids}, braid::empty));
    }
    EXPECT_EQ(ran, 400);
}

TEST_P(Affinity, AWaitForWorkOfItsOwnThreadDoesNotRunWhatThatThreadWaitsForFurtherDown) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    std::atomic<std::uint64_t> waits{0}, pinned{0};
    door begun;
    const braid::task_id first = s.spawn([&] {
        begun.open();
        braid_test::until([&] { return pinned != 0; });
        braid_test::until_wait_counts(s, {pinned});
    });
    std::thread runs_first([&] { s.wait(first); });
    begun.pass();
    braid::task_builder all = s.begin({}, braid::empty);
    const braid::task_id id = all.id();
    waits = all.add_child({.on = here},
                          [&] {
                              const braid::task_id x =
                                  s.spawn({.after = {first}, .on = here}, [] {});
                              pinned = x.value;
                              s.wait(x);  // must not run the other child on top
                          })
                .value;
    all.add_child({.on = here}, [&] { s.wait({waits}); });
    all.finish();
    s.wait(s.spawn({.on = here}, [&] { s.wait(id); }));
    runs_first.join();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(Affinity, AWaitForAnotherThreadsWorkLeavesToOthersWhatThatThreadWaitsFor) {
    braid::scheduler_options o = options();
    o.main_threads = 2;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    braid::task_builder gate = s.begin({}, braid::empty);
    std::atomic<std::uint64_t> waits{0};
    const braid::task_id later = s.spawn({.after = {gate.id()}}, [&] {
        braid_test::until([&] { return waits != 0; });
        s.wait({waits});
    });
    std::thread other([&] {
        const braid::main_thread part(s, "other");
        waits = s.spawn({.on = part.ref()}, [&] {
                     braid_test::until_wait_counts(s, later);
                     const braid::task_id x = s.spawn({.on = here}, [] {});
                     gate.finish();
                     s.wait(x);  // must not run `later` on top
                 }).value;
        s.wait({waits});
    });
    s.wait(s.spawn({.on = here}, [&] { s.wait(later); }));
    other.join();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

/// A task lies in the inbox of this thread, which sleeps in a wait that does not need it yet.
TEST_P(Affinity, AThreadThatSleepsLooksAgainWhenItsWorkBecomesNeeded) {
    for (const int by : {0, 1, 2}) {
        braid::scheduler s(options());
        const braid::thread_ref here = s.this_thread();
        const braid::task_id pinned = s.spawn({.on = here}, [] {});
        braid::task_builder all = s.begin({}, braid::empty);
        const braid::task_id id = all.id();
        std::thread other([&] {
            braid_test::until([&] {
                return s.internals().lot().look_at(id.value,
                                                   [](const braid::detail::wait_record& r) {
                                                       return r.stays.load(braid::relaxed);
                                                   });
            });
            // So that it has begun to sleep.
            braid_test::until([&] { return s.internals().seat_at(here.seat).at_rest.load(); });
            if (by == 0) {
                all.add_child({.after = {pinned}}, [] {});
            } else if (by == 1) {
                s.begin({.after = {pinned}, .parent = id}, braid::empty).finish();
            } else {
                EXPECT_TRUE(all.add_dependency(pinned));
            }
            all.finish();
        });
        s.wait(id);
        other.join();
    }
}

TEST_P(Affinity, AThreadThatHasLeftIsAReportedErrorNotAHang) {
    braid::scheduler s(options());
    braid::thread_ref gone;
    braid::future<void> late;
    door go;
    const braid::task_id first =
        s.spawn({.runs_as = braid::task_class::background}, [&] { go.pass(); });
    bool ran = false;
    std::thread([&] {
        const braid::main_thread me(s, "visitor");
        gone = me.ref();
        // Ready only after the thread has left.
        late = s.async({.name = "late", .after = {first}, .on = gone}, [&] { ran = true; });
    }).join();
    EXPECT_FALSE(s.spawn({.on = gone}, [] {}));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "left"), 1U);
    go.open();
    EXPECT_THROW(late.get(), braid::broken_promise);
    EXPECT_FALSE(ran);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "left"), 2U);
}

TEST_P(Affinity, AThreadRunsWhatIsLeftForItBeforeItLeaves) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    std::thread([&] {
        const braid::main_thread me(s, "visitor");
        for (int i = 0; i < 10; ++i) s.post({.on = me.ref()}, [&] { ++ran; });
    }).join();
    EXPECT_EQ(ran, 10);
}

TEST_P(Affinity, AMaskWithoutAnyWorkerIsAReportedErrorNotAHang) {
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 4);
    braid::scheduler s(o);
    const braid::task_id id =
        s.spawn({.workers = std::uint64_t{1} << 63}, [] { ADD_FAILURE() << "ran elsewhere"; });
    s.wait(id);
    EXPECT_EQ(s.statistics().cancelled, 1U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "mask"), 1U);
}

TEST_P(Affinity, AWorkerThatWasSwitchedOffStillRunsWhatIsMeantForItAlone) {
    braid::scheduler s(options());
    if (s.worker_count() == 0) GTEST_SKIP() << "needs a worker";
    const braid::thread_ref where = s.worker_thread(s.worker_count() - 1);
    s.set_worker_count(0);
    braid::thread_ref ran_on;
    s.wait(s.spawn({.on = where}, [&] { ran_on = s.this_thread(); }));
    EXPECT_EQ(ran_on, where);
    if (s.worker_count() == 0) {
        std::atomic<bool> ran{false};
        s.wait(s.spawn({.workers = 1}, [&] { ran = true; }));
        EXPECT_TRUE(ran);
    }
}

TEST_P(Affinity, AnUnknownThreadIsRefused) {
    braid::scheduler s(options());
    EXPECT_FALSE(s.spawn({.on = braid::thread_ref{.seat = 255}}, [] {}));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

}  // namespace
