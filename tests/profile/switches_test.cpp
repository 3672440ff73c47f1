// Switches of threads by the system: the mark is on the bar during which they came.
#include "base/platform/thread_switches.hpp"

#include "braid/braid.hpp"
#include "braid/profile/recorder.hpp"
#include "memory_sink.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <semaphore>
#include <thread>

namespace {

namespace platform = braid::platform;
namespace profile = braid::profile;
using profile::record;
using profile::record_kind;

TEST(SwitchFlag, IsClearedWhenTheThreadSleepsAndStaysThroughSystemCalls) {
    if (!platform::switch_flag::works()) GTEST_SKIP() << "this kernel does otherwise";
    const platform::switch_flag flag(platform::own_thread_area());
    std::binary_semaphore ask(0), answer(0);
    std::thread other([&] {
        ask.acquire();
        // The first one sleeps by now, or is about to: its count says so.
        answer.release();
    });
    const std::uint64_t before = platform::own_switch_counts().voluntary;
    flag.arm();
    ask.release();
    answer.acquire();
    other.join();
    if (platform::own_switch_counts().voluntary != before) {
        EXPECT_TRUE(flag.was_switched());
    }

    int stayed = 0;
    for (int i = 0; i < 100; ++i) {
        flag.arm();
        static_cast<void>(platform::own_switch_counts());
        stayed += !flag.was_switched();
    }
    EXPECT_GT(stayed, 0) << "a system call is no switch";
    flag.disarm();
}

TEST(SwitchFlag, OfAThreadWithoutAnAreaSaysNothing) {
    const platform::switch_flag flag(nullptr);
    flag.arm();
    EXPECT_FALSE(flag.was_switched());
}

/// The system, asked by the task itself: others have taken its core.
void work_until_preempted() {
    const std::uint64_t before = platform::own_switch_counts().involuntary;
    while (platform::own_switch_counts().involuntary == before) {
    }
}

class ForcedPreemption : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(ExactSwitches, ForcedPreemption, testing::Bool());

TEST_P(ForcedPreemption, IsMarkedOnTheTaskThatItHit) {
    braid_test::memory_sink sink;
    profile::recorder recorder({.exact_switches = GetParam()});
    ASSERT_TRUE(recorder.start(sink));
    {
        braid::scheduler s(
            {.workers = 1, .worker_threads = {.pin = true, .first_cpu = 0}, .observer = &recorder});
        // Wants the worker's core for itself.
        std::atomic<bool> over{false};
        std::binary_semaphore pinned(0);
        bool can_pin = false;
        std::thread thief([&] {
            platform::core_set first;
            first.words[0] = 1;
            can_pin = platform::set_cores(0, first);
            pinned.release();
            while (can_pin && !over.load(std::memory_order_relaxed)) {
            }
        });
        pinned.acquire();
        const braid::thread_ref worker = s.worker_thread(0);
        if (can_pin) s.wait(s.spawn({.name = "hit", .on = worker}, &work_until_preempted));
        over.store(true, std::memory_order_relaxed);
        thief.join();
        if (!can_pin) GTEST_SKIP() << "threads cannot be pinned here";
    }
    ASSERT_TRUE(recorder.stop());
    const profile::capture c = sink.read();
    if (c.switches == profile::switch_level::none) GTEST_SKIP() << "nothing is known of switches";
    bool inside = false, counted = false;
    int marks = 0, ends = 0;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == record_kind::started) inside = c.types[r.aux].name == "hit";
            if (inside && r.kind == record_kind::switched_out) {
                marks += (r.flags & profile::switch_preempted) != 0;
            }
            counted = counted || (r.kind == record_kind::switches && r.aux != 0);
            if (!inside || r.kind != record_kind::ended) continue;
            inside = false;
            ends += (r.flags & profile::end_switched) != 0;
        }
    }
    if (c.switches == profile::switch_level::exact) {
        EXPECT_GE(marks, 1);
    } else {
        EXPECT_TRUE(counted);
    }
    if (platform::switch_flag::works()) {
        EXPECT_EQ(ends, 1);
    }
}

/// The system gives no thread a descriptor while this lasts; a sanitizer may want one, so it is
/// short.
class without_descriptors {
public:
    without_descriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 0;
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~without_descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

TEST(SwitchLevel, IsThatOfEachThread) {
    braid_test::memory_sink sink;
    // Its thread is asleep meanwhile.
    profile::recorder recorder({.flush_every = braid::nanoseconds{INT64_MAX / 4}});
    ASSERT_TRUE(recorder.start(sink));
    std::thread([] { profile::count("usual", 1); }).join();
    std::thread([] {
        const without_descriptors while_it_begins;
        profile::count("refused", 1);
    }).join();
    ASSERT_TRUE(recorder.stop());
    const profile::capture c = sink.read();
    ASSERT_EQ(c.lanes.size(), 2U);
    const auto otherwise =
        platform::switch_flag::works() ? profile::switch_level::count : profile::switch_level::none;
    for (const profile::lane& l : c.lanes) {
        const bool refused = c.types[l.records.at(0).aux].name == "refused";
        EXPECT_EQ(switches_of(c, l), refused ? otherwise : c.switches);
    }
}

}  // namespace
