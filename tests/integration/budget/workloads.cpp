// One operation, `count` times, on one thread: budget_tests WORKLOAD COUNT. budget_test.py runs it
// under callgrind at two counts; the difference is the price of the operation alone.
#include <braid/braid.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long ran = 0;

/// A task that others wait for: made, run inside the wait, completed, its slot used again.
void spawn_run_complete(braid::scheduler& scheduler, long count) {
    for (long i = 0; i < count; ++i) {
        const auto task = scheduler.spawn([] { ++ran; });
        scheduler.wait(task);
    }
}

/// As above with a predecessor: two tasks and an edge.
void spawn_after(braid::scheduler& scheduler, long count) {
    for (long i = 0; i < count; ++i) {
        const auto first = scheduler.spawn([] { ++ran; });
        const auto second = scheduler.spawn({.after = {first}}, [] {});
        scheduler.wait(second);
    }
}

/// A task nobody names, posted from inside a task in blocks that fit a ring.
void post_from_a_task(braid::scheduler& scheduler, long count) {
    constexpr long block = 500;
    for (long done = 0; done < count; done += block) {
        braid::scope all(scheduler);
        all.spawn({}, [&all] {
            for (long i = 0; i < block; ++i) all.post([] { ++ran; });
        });
        all.wait();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: budget_tests WORKLOAD COUNT\n", stderr);
        return 2;
    }
    const long count = std::strtol(argv[2], nullptr, 10);
    // One seat: nobody steals, nobody sleeps, and the count is the same every time.
    braid::scheduler scheduler{{.workers = 0}};
    if (std::strcmp(argv[1], "spawn") == 0) {
        spawn_run_complete(scheduler, count);
    } else if (std::strcmp(argv[1], "after") == 0) {
        spawn_after(scheduler, count);
    } else if (std::strcmp(argv[1], "post") == 0) {
        post_from_a_task(scheduler, count);
    } else {
        std::fprintf(stderr, "there is no workload '%s'\n", argv[1]);
        return 2;
    }
    return ran == count ? 0 : 1;
}
