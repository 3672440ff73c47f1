// What takes its time is no hang: ten scenes in which the threads look every millisecond, and
// nobody says anything. For scripts/nightly.sh; the tests that land look by hand
// (standstill_test.cpp).
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/core/completion.hpp>
#include <braid/queue/queue.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using braid::task_id;

/// Some looks long. That is what the scenes are about; one that takes more or less is silent, too.
constexpr std::chrono::milliseconds a_while{10};
void take_a_while() { std::this_thread::sleep_for(a_while); }

class LongSilence : public braid_test::scheduler_test {
protected:
    void SetUp() override {
        if (braid_test::stress_scale() <= 1) GTEST_SKIP() << "for scripts/nightly.sh";
    }
    /// 50 runs for each 1 of the scale.
    template <class Scene>
    void play(Scene&& scene) {
        for (std::size_t n = 0; n != braid_test::stress_scaled(50); ++n) {
            braid::scheduler_options o = options();
            o.deadlock.after = braid::milliseconds(1);
            braid::scheduler s(o);
            scene(s);
        }
        EXPECT_EQ(notes_.log, std::vector<std::string>());
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, LongSilence, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(LongSilence, WhileATaskRuns) {
    play([](braid::scheduler& s) { s.wait(s.spawn([] { take_a_while(); })); });
}

TEST_P(LongSilence, WhileATaskIsInBlocking) {
    play([](braid::scheduler& s) { s.wait(s.spawn([&] { s.blocking([] { take_a_while(); }); })); });
}

TEST_P(LongSilence, WhileAWaitMayRunOutOfTime) {
    play([](braid::scheduler& s) {
        braid::event never(s);
        s.wait(s.spawn([&] { s.do_work_while_waiting_for(never, braid::milliseconds(10)); }));
    });
}

TEST_P(LongSilence, WhileTheMainThreadIsBusyOutside) {
    play([](braid::scheduler& s) {
        braid::event loaded(s);
        const task_id waits = s.spawn([&] { s.do_work_while_waiting_for(loaded); });
        take_a_while();
        loaded.set();
        s.wait(waits);
    });
}

TEST_P(LongSilence, WhileACompletionIsOpen) {
    play([](braid::scheduler& s) {
        std::atomic<std::uint64_t> open{0};
        const task_id id = s.spawn(
            [&](braid::task_context& context) { open = context.defer({.name = "reply"}).value; });
        std::thread replies([&] {
            while (open == 0) std::this_thread::yield();
            take_a_while();
            s.complete({open});
        });
        s.wait(id);
        replies.join();
    });
}

TEST_P(LongSilence, WhileTheSchedulerIsFrozen) {
    play([](braid::scheduler& s) {
        braid::event go(s);
        const task_id waits = s.spawn([&] { s.do_work_while_waiting_for(go); });
        std::thread runs([&] { s.wait(waits); });
        s.freeze();
        take_a_while();
        s.resume();
        go.set();
        runs.join();
    });
}

TEST_P(LongSilence, WhileAChainOfWaitsEndsAtATaskThatRuns) {
    play([](braid::scheduler& s) {
        const task_id last = s.spawn([] { take_a_while(); });
        const task_id middle = s.spawn([&] { s.wait(last); });
        s.wait(s.spawn([&] { s.wait(middle); }));
    });
}

TEST_P(LongSilence, WhileAResourceIsHeldForLong) {
    play([](braid::scheduler& s) {
        braid::resource file(s, "file");
        const task_id first = s.spawn({.uses = {&file}}, [] { take_a_while(); });
        const task_id second = s.spawn({.uses = {&file}}, [] {});
        s.wait(first);
        s.wait(second);
    });
}

TEST_P(LongSilence, WhileAQueueIsFull) {
    play([](braid::scheduler& s) {
        braid::queue io(s, {.name = "io", .capacity = 2, .full = braid::when_full::block});
        io.push([] { take_a_while(); });
        s.wait(s.spawn([&] {
            for (int i = 0; i < 5; ++i) io.push([] {});
        }));
    });
}

/// The clock goes on, and no thread of the process does.
TEST_P(LongSilence, WhileTheProcessIsStopped) {
    play([](braid::scheduler& s) {
        s.wait(s.spawn([] {
            const pid_t stopped = getpid();
            const pid_t helper = fork();
            if (helper == 0) {
                kill(stopped, SIGSTOP);
                usleep(10'000);
                kill(stopped, SIGCONT);
                _exit(0);
            }
            waitpid(helper, nullptr, 0);
        }));
    });
}

}  // namespace
