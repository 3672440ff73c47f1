// Descriptors: one event, one task, never two at a time; what cannot be waited for is a sentence.
#include <braid/async/fd_source.hpp>

#include "base/platform/platform.hpp"
#include "pipe_ends.hpp"
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

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
    // An event is counted when its task is made, which may be while the task runs.
    work_until(s, [&] { return taken == 100 && one.events() >= 100; });
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
    std::atomic<fd_source*> self{nullptr};  // a descriptor that is closed publishes nothing
    fd_source one(s, {.descriptor = ends.both[0]}, [&](const fd_event& e) {
        if (e.hung_up && ++gone == 2) self.load()->stop();
    });
    self = &one;
    ends.close_end(1);
    work_until(s, [&] { return gone == 2; });
    s.wait(one.task());
    EXPECT_EQ(one.error(), nullptr);
}

#if !defined(_WIN32)  // platform_windows_test.cpp

TEST_P(FdSource, WhatCannotBeWaitedForIsOneSentence) {
    braid::scheduler s(options());
    const int low = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int file = fcntl(low, F_DUPFD_CLOEXEC, 900);  // nobody else gets it when it is closed
    close(low);
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

#endif

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

TEST_P(FdSource, WithoutMemoryForATaskItRestsAndReportsThatOnce) {
    using clock = std::chrono::steady_clock;
    braid_test::refusing_memory memory(memory_.hooks());
    auto o = options();
    o.memory = memory.hooks();
    braid::scheduler s(o);
    const pipe_ends ends;
    std::atomic<int> taken{0};
    fd_source one(s, {.descriptor = ends.both[0]}, [&] { taken += ends.take(); });
    ASSERT_EQ(one.error(), nullptr);
    // Until there are no slots left, so that a task would need memory.
    std::vector<braid::task_builder> held;
    held.reserve(1 << 16);
    memory.refuse_after(0);
    do {
        held.push_back(s.begin({}, braid::empty));
    } while (held.back().id());
    const int before = memory.refused();
    const auto begin = clock::now();
    ends.put();
    while (memory.refused() - before < 5) std::this_thread::yield();
    const std::chrono::duration<double, std::milli> took = clock::now() - begin;
    // Each look asks for memory twice at most; the first comes at once.
    EXPECT_GE(took.count(), 10);
    EXPECT_EQ(notes_.count(&recorder::log, "no task could be made for descriptor"), 1U);
    EXPECT_EQ(taken, 0);
    memory.give_back();
    for (braid::task_builder& b : held) b.finish();
    work_until(s, [&] { return taken == 1; });
}

TEST_P(FdSource, WithoutMemoryForOneMoreDescriptorThatIsOneSentence) {
    braid_test::refusing_memory memory(memory_.hooks());
    auto o = options();
    o.memory = memory.hooks();
    braid::scheduler s(o);
    std::vector<pipe_ends> pipes(40);
    std::vector<std::unique_ptr<fd_source>> all;
    std::atomic<int> taken{0};
    int refused = 0;
    for (const pipe_ends& ends : pipes) {
        const auto add = [&] {
            all.push_back(std::make_unique<fd_source>(
                s, braid::fd_options{.descriptor = ends.both[0]}, [&] { taken += ends.take(); }));
            return std::string(all.back()->error() != nullptr ? all.back()->error() : "");
        };
        // The first one grants what the source itself takes.
        for (int granted = 1; granted < 8; ++granted) {
            memory.refuse_after(granted);
            const std::string error = add();
            memory.give_back();
            if (error.empty()) break;
            refused += error == "there is no memory to wait for one more descriptor";
            all.pop_back();
        }
        ASSERT_FALSE(all.empty());
        EXPECT_EQ(all.back()->error(), nullptr);
    }
    EXPECT_GT(refused, 1);
    for (const pipe_ends& ends : pipes) ends.put();
    work_until(s, [&] { return taken == static_cast<int>(pipes.size()); });
}

#if !defined(_WIN32)  // at most 4096 there, and each sleep looks at all

/// A source that has events, and others, which were watched after it and have none.
class watching_scheduler {
public:
    explicit watching_scheduler(std::size_t others) : descriptors_(others) {
        for (int& descriptor : descriptors_) {
            descriptor = dup(idle_.both[0]);
            all_.push_back(std::make_unique<fd_source>(
                s_, braid::fd_options{.descriptor = descriptor}, [] {}));
            EXPECT_EQ(all_.back()->error(), nullptr);
        }
        pass_events(1);  // after it the source thread has begun
    }
    ~watching_scheduler() {
        all_.clear();
        for (const int descriptor : descriptors_) close(descriptor);
    }
    watching_scheduler(const watching_scheduler&) = delete;
    watching_scheduler& operator=(const watching_scheduler&) = delete;

    /// Processor time of the source thread for each event; the least of several measurements.
    double us_per_event() {
        constexpr int events = 20;
        const std::int64_t before = braid::platform::thread_time(clock_);
        pass_events(events);
        const auto took = static_cast<double>(braid::platform::thread_time(clock_) - before);
        return least_ = std::min(least_, took / 1e3 / events);
    }

private:
    void pass_events(int count) {
        for (int i = 0; i < count; ++i) {
            const int wanted = taken_ + 1;
            busy_.put();
            work_until(s_, [&] { return taken_ == wanted; });
        }
    }
    static void note_thread(void* self, const char* thread) {
        if (!std::string_view(thread).starts_with("source")) return;
        static_cast<watching_scheduler*>(self)->clock_ = braid::platform::this_thread_time_clock();
    }

    const pipe_ends busy_, idle_;
    std::atomic<int> clock_{0}, taken_{0};
    braid::scheduler s_{{.workers = 0, .threads = {.started = &note_thread, .user = this}}};
    fd_source one_{s_, {.descriptor = busy_.both[0]}, [this] { taken_ += busy_.take(); }};
    std::vector<int> descriptors_;
    std::vector<std::unique_ptr<fd_source>> all_;
    double least_ = 1e9;
};

TEST(FdSources, TenThousandThatAreWatchedMakeAnEventNoMoreThanThreeTimesAsDearAsTen) {
    const braid_test::deadline limit;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_max < 10'200) GTEST_SKIP() << "the system grants too few descriptors";
    rlimit most = before;
    most.rlim_cur = most.rlim_max;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &most), 0);
    {
        watching_scheduler few(10), many(10'000);
        double us_few = 0, us_many = 0;
        // In turns, so that what else the machine does concerns both.
        for (int round = 0; round < 50; ++round) {
            us_few = few.us_per_event();
            us_many = many.us_per_event();
        }
        EXPECT_LT(us_many, 3 * us_few);
        RecordProperty("us_with_10", std::to_string(us_few));
        RecordProperty("us_with_10000", std::to_string(us_many));
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

#endif

}  // namespace
