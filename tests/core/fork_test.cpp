// C29: a forked child leaves the parent's scheduler alone and may have one of its own.
#include "fork_at_rest.hpp"
#include "scheduler_test.hpp"

namespace {

using braid_test::fork_at_rest;
using braid_test::status_of;

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
