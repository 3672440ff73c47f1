// C29: a forked child leaves the parent's scheduler alone and may have one of its own.
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>

namespace {

BRAID_SCHEDULER_TEST(Fork);

/// ThreadSanitizer ends a forked child that starts threads, so there it makes do without.
int child_workers() {
#if defined(__SANITIZE_THREAD__)
    return 0;
#else
    return 2;
#endif
}

/// 0: all right. Only what is safe in the child of a program with threads.
int use_an_own_scheduler() {
    braid::scheduler own({.workers = child_workers(), .max_reserves = 0});
    int value = 0;
    const braid::task_id first = own.spawn([&] { value += 1; });
    own.wait(own.spawn({.after = {first}}, [&] { value *= 7; }));
    return value == 7 ? 0 : 1;
}

/// No other thread holds a lock of the C library or of a sanitizer's allocator meanwhile, which the
/// child would wait for in vain: all of them sleep, also those that were just being started.
pid_t fork_at_rest(braid::scheduler& s) {
    s.freeze();
    braid_test::until([] {
        const std::vector<braid_test::proc_thread> threads = braid_test::proc_threads("");
        return std::count_if(threads.begin(), threads.end(),
                             [](const auto& t) { return t.state != 'S'; }) == 1;
    });
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a child that hangs ends with the test
    } else {
        s.resume();
    }
    return child;
}

int status_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

TEST_P(Fork, TheChildMayHaveASchedulerOfItsOwnAndTheParentsGoesOn) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0};
    for (int round = 0; round < 5; ++round) {
        braid::scope all(s);
        for (int i = 0; i < 500; ++i) all.post([&] { ++ran; });
        all.wait();
        const pid_t child = fork_at_rest(s);
        if (child == 0) _exit(use_an_own_scheduler());
        EXPECT_EQ(status_of(child), 0);
        all.post([&] { ++ran; });
        all.wait();
    }
    EXPECT_EQ(ran, 5U * 501U);
    expect_all_ended(s);
}

TEST_P(Fork, DestroyingTheParentsSchedulerInTheChildTouchesNothing) {
    auto* s = new braid::scheduler(options());
    s->wait(s->spawn([] {}));
    const pid_t child = fork_at_rest(*s);
    if (child == 0) {
        delete s;
        _exit(use_an_own_scheduler());
    }
    EXPECT_EQ(status_of(child), 0);
    bool ran = false;
    s->wait(s->spawn([&] { ran = true; }));
    EXPECT_TRUE(ran);
    delete s;
}

}  // namespace
