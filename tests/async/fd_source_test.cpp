// Descriptors: one event, one task, never two at a time; what cannot be waited for is a sentence.
#include <braid/async/fd_source.hpp>

#include "pipe_ends.hpp"
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <memory>
#include <string>

namespace {

using braid::fd_event;
using braid::fd_source;
using braid_test::pipe_ends;
using braid_test::recorder;

BRAID_SCHEDULER_TEST(FdSource);

template <class Enough>
void work_until(braid::scheduler& s, Enough&& enough) {
    braid::event never(s);
    while (!enough()) s.do_work_while_waiting_for(never, braid::microseconds(200));
}

TEST_P(FdSource, EachEventIsATaskAndNeverTwoAtATime) {
    braid::scheduler s(options());
    const pipe_ends ends;
    std::atomic<int> inside{0}, most{0}, taken{0};
    fd_source one(s, {.name = "pipe", .descriptor = ends.both[0]}, [&](const fd_event& e) {
        most = std::max<int>(most, ++inside);
        EXPECT_EQ(e.descriptor, ends.both[0]);
        EXPECT_TRUE(e.readable);
        EXPECT_STREQ(braid::this_task::name(), "pipe");
        if (ends.take()) ++taken;
        --inside;
    });
    ASSERT_EQ(one.error(), nullptr);
    for (int i = 0; i < 100; ++i) ends.put();
    work_until(s, [&] { return taken == 100; });
    EXPECT_EQ(most, 1);
    EXPECT_EQ(one.events(), 100U);
    ends.put();
    work_until(s, [&] { return taken == 101; });
}

TEST_P(FdSource, WaitsForTheChildrenOfItsTask) {
    braid::scheduler s(options());
    const pipe_ends ends;
    std::atomic<int> children{0}, seen{0};
    fd_source one(s, {.descriptor = ends.both[0]}, [&](braid::task_context& task) {
        EXPECT_EQ(children, 0);
        ++children;
        task.spawn_child([&] {
            ends.take();
            --children;
            ++seen;
        });
    });
    for (int i = 0; i < 20; ++i) ends.put();
    work_until(s, [&] { return seen >= 20; });
}

TEST_P(FdSource, SaysThatTheOtherSideIsGoneUntilItIsStopped) {
    braid::scheduler s(options());
    pipe_ends ends;
    std::atomic<int> gone{0};
    fd_source* self = nullptr;
    fd_source one(s, {.descriptor = ends.both[0]}, [&](const fd_event& e) {
        if (e.hung_up && ++gone == 2) self->stop();
    });
    self = &one;
    close(std::exchange(ends.both[1], -1));
    work_until(s, [&] { return gone == 2; });
    s.wait(one.task());
    EXPECT_EQ(one.error(), nullptr);
}

TEST_P(FdSource, WhatCannotBeWaitedForIsOneSentence) {
    braid::scheduler s(options());
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const auto sentence = [&](int descriptor) {
        fd_source one(s, {.descriptor = descriptor}, [] {});
        return std::string(one.error() != nullptr ? one.error() : "");
    };
    EXPECT_NE(sentence(file).find("regular file"), std::string::npos);
    close(file);
    EXPECT_EQ(sentence(file), "the descriptor is closed");
    EXPECT_EQ(sentence(-1), "the descriptor is closed");
    EXPECT_EQ(notes_.count(&recorder::log, "no tasks for descriptor"), 3U);
    s.shut_down();
    const pipe_ends ends;
    EXPECT_EQ(sentence(ends.both[0]), "the scheduler is shut down");
}

TEST_P(FdSource, WhereNoDescriptorIsLeftThatIsOneSentence) {
    const pipe_ends ends;
    {
        // The check of virtual tables by UndefinedBehaviorSanitizer opens a pipe at the first
        // object of a type, and takes it for broken where that cannot be had.
        braid::scheduler other(options());
        const fd_source first(other, {.descriptor = ends.both[0]}, [] {});
    }
    braid::scheduler s(options());
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int next = dup(0);
    close(next);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + 1);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    {
        fd_source one(s, {.descriptor = ends.both[0]}, [] {});
        EXPECT_STREQ(one.error(), "there is no thread that could wait for descriptors");
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(notes_.count(&recorder::log, "limit of open files"), 1U);
    // The next one tries again.
    std::atomic<int> taken{0};
    fd_source one(s, {.descriptor = ends.both[0]}, [&] { taken += ends.take(); });
    EXPECT_EQ(one.error(), nullptr);
    ends.put();
    work_until(s, [&] { return taken == 1; });
}

TEST_P(FdSource, MakesNoTaskAfterAShutdownBegan) {
    for (const auto how : {braid::shutdown::drain, braid::shutdown::discard}) {
        braid::scheduler s(options());
        const pipe_ends ends;
        std::atomic<int> calls{0};
        {
            fd_source one(s, {.descriptor = ends.both[0]}, [&] { ++calls; });
            ends.put();
            work_until(s, [&] { return calls >= 2; });
            s.shut_down(how);
            const int then = calls;
            ends.put();
            EXPECT_EQ(calls, then);
        }
        expect_all_ended(s);
    }
}

TEST_P(FdSource, ThatOutlivesItsSchedulerIsReported) {
    const pipe_ends ends;
    auto s = std::make_unique<braid::scheduler>(options());
    fd_source left(*s, {.descriptor = ends.both[0]}, [] {});
    ends.put();
    s.reset();
    EXPECT_EQ(notes_.count(&recorder::misuse, "before their scheduler"), 1U);
    EXPECT_NE(left.error(), nullptr);
    left.stop();
}

TEST_P(FdSource, IsRefusedUnderAChooser) {
    braid_test::seeded_chooser chooser(1);
    auto o = options();
    o.chooser = &chooser;
    const pipe_ends ends;
    braid::scheduler s(o);
    fd_source one(s, {.descriptor = ends.both[0]}, [] {});
    ASSERT_NE(one.error(), nullptr);
    EXPECT_NE(std::string(one.error()).find("chooser"), std::string::npos);
}

TEST_P(FdSource, LosesNoEventWhereMemoryRunsOutAtAnyPoint) {
    for (int granted = 0; granted < 40; ++granted) {
        braid_test::refusing_memory memory(memory_.hooks());
        auto o = options();
        o.memory = memory.hooks();
        const pipe_ends ends;
        std::atomic<int> taken{0};
        braid::scheduler s(o);
        memory.refuse_after(granted);
        fd_source one(s, {.descriptor = ends.both[0]}, [&] { taken += ends.take(); });
        if (one.error() != nullptr) {
            memory.give_back();
            EXPECT_NE(memory.refused(), 0);
            continue;
        }
        for (int i = 0; i < 5; ++i) ends.put();
        if (granted % 2 == 0) memory.give_back();
        std::thread later([&] {
            while (memory.refused() == 0 && taken < 5) braid::active_policy::relax();
            memory.give_back();
        });
        work_until(s, [&] { return taken == 5; });
        later.join();
    }
}

}  // namespace
