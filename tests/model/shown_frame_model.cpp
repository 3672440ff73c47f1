// A look at another thread's stack sees what a task on it waits for, and never takes for that what
// another task waits for that came into the same frame, before it, after it, or in between; and it
// knows of each wait whether it may run out of time.
#include "core/task/shown_frame.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using frame = braid::detail::basic_shown_frame<policy>;

constexpr unsigned depth = 2;
/// What each task waits for, and whether for a limited time.
constexpr std::uint64_t awaited_by(std::uint64_t task) { return task + 100; }
constexpr bool is_limited(std::uint64_t task) { return task % 2 == 0; }

struct thread_with_frames {
    frame frames[depth];
    atomic<std::uint32_t> shown;

    // ---- its thread, as run_room and wait_loop do
    void begin(unsigned at, std::uint64_t task) {
        if (at != 0) frames[at - 1].cover();
        frames[at].show(task);
        shown.store(at + 1, std::memory_order::release);
    }
    void end(unsigned at) { shown.store(at, std::memory_order::release); }
    void begin_wait(unsigned at, std::uint64_t task) {
        frames[at].begin_wait(awaited_by(task), is_limited(task), false);
    }
    void end_wait(unsigned at) { frames[at].end_wait(); }

    // ---- another one
    template <class Found>
    void look(std::uint64_t for_task, Found&& found) {
        const std::uint32_t count = shown.load(std::memory_order::acquire);
        braid::detail::look_at_stack(
            frames, count, false, [&](std::uint64_t task) { return task == for_task; },
            [&](unsigned, std::uint64_t wait, std::uint64_t awaited) {
                require(frame::is_limited(wait) == is_limited(awaited - 100),
                        "that wait, or not, has an end");
                found(awaited);
            });
    }
};

/// A coroutine comes back into the frame in which another task has waited meanwhile.
struct comes_back : rl::test_suite<comes_back, 2> {
    thread_with_frames it;

    void before() { it.shown.store(0, std::memory_order::relaxed); }
    void thread(unsigned index) {
        if (index == 0) {
            it.begin(0, 1);
            it.frames[0].show(2);
            it.begin_wait(0, 2);
            it.end_wait(0);
            it.frames[0].show(1);
            it.begin_wait(0, 1);
            it.end_wait(0);
            it.end(0);
        } else {
            it.look(1, [](std::uint64_t awaited) {
                require(awaited == awaited_by(1), "it is what the coroutine waits for");
            });
        }
    }
};

/// The task that is looked for ends, and another one waits in its frame, with a task on top of it
/// that waits, too. Below it a task may wait for the end of a join, which it does not show.
template <bool BothWait>
struct on_top_of_another : rl::test_suite<on_top_of_another<BothWait>, 2> {
    thread_with_frames it;

    void before() { it.shown.store(0, std::memory_order::relaxed); }
    void wait_with_one_on_top(std::uint64_t task, std::uint64_t on_top) {
        it.begin(0, task);
        if (BothWait) it.begin_wait(0, task);
        it.begin(1, on_top);
        it.begin_wait(1, on_top);
        it.end_wait(1);
        it.end(1);
        if (BothWait) it.end_wait(0);
        it.end(0);
    }
    void thread(unsigned index) {
        if (index == 0) {
            wait_with_one_on_top(1, 3);
            wait_with_one_on_top(2, 4);
        } else {
            it.look(1, [](std::uint64_t awaited) {
                require(awaited == awaited_by(1) || awaited == awaited_by(3),
                        "it is what the task waits for, or what lies on top of it");
            });
        }
    }
};

/// While a task waits, one on top of it waits for a limited time, and the next one does not.
struct one_after_the_other : rl::test_suite<one_after_the_other, 2> {
    thread_with_frames it;

    void before() {
        it.shown.store(0, std::memory_order::relaxed);
        it.begin(0, 1);
        it.begin_wait(0, 1);
    }
    void thread(unsigned index) {
        if (index == 0) {
            for (const std::uint64_t on_top : {2, 3}) {
                it.begin(1, on_top);
                it.begin_wait(1, on_top);
                it.end_wait(1);
                it.end(1);
            }
        } else {
            it.look(1, [](std::uint64_t) {});
        }
    }
};

/// What a task waits for while it is looked at is found, also while others come and go on top of
/// it.
struct found : rl::test_suite<found, 2> {
    thread_with_frames it;
    unsigned times = 0;

    void before() {
        times = 0;
        it.shown.store(0, std::memory_order::relaxed);
        it.begin(0, 2);
        it.begin_wait(0, 2);
        it.end_wait(0);
        it.frames[0].show(1);
        it.begin_wait(0, 1);
        it.begin(1, 3);
    }
    void after() { require(times >= 1, "the wait below is found"); }
    void thread(unsigned index) {
        if (index == 0) {
            it.begin_wait(1, 3);
            it.end_wait(1);
            it.end(1);
            it.begin(1, 5);
            it.begin_wait(1, 5);
        } else {
            it.look(1, [&](std::uint64_t awaited) { times += awaited == awaited_by(1); });
        }
    }
};

}  // namespace

int main() {
    bool good = explore_all<comes_back>("shown_frame: a coroutine comes back");
    good = good && explore_bounded<on_top_of_another<true>>("shown_frame: another task", 3);
    good = good && explore_bounded<on_top_of_another<false>>("shown_frame: another branch", 3);
    good = good && explore_randomly<on_top_of_another<true>>("shown_frame: another task", 500'000);
    good = good && explore_bounded<one_after_the_other>("shown_frame: one after the other", 3);
    good = good && explore_bounded<found>("shown_frame: a wait in progress", 3);
    return good ? 0 : 1;
}
