// C23, C32: what a thread looks like to the operating system, and its floating-point control.
#include "base/platform/platform.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cfenv>
#include <cstdint>
#include <string>

namespace {

namespace platform = braid::platform;

struct seen {
    std::string name;
    int policy = -1, nice = 0, cpus = 0;
    std::uintptr_t stack_bytes = 0;
};

seen start_and_look(platform::thread_request request) {
    seen result;
    request.entry = [](void* p) {
        auto& r = *static_cast<seen*>(p);
        char name[16];
        pthread_getname_np(pthread_self(), name, sizeof name);
        r.name = name;
        r.policy = sched_getscheduler(0);
        r.nice = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        r.cpus = CPU_COUNT(&set);
        const platform::stack_bounds bounds = platform::current_stack();
        r.stack_bytes = bounds.high - bounds.low;
    };
    request.argument = &result;
    const platform::thread_handle t = platform::start_thread(request);
    EXPECT_NE(t, 0U);
    EXPECT_FALSE(platform::is_current(t));
    platform::join_thread(t);
    return result;
}

TEST(PlatformThread, HasTheNameCutTo15Characters) {
    EXPECT_EQ(start_and_look({.name = "a name that is long"}).name, "a name that is ");
}
TEST(PlatformThread, HasTheStackAskedFor) {
    // More than the usual 8 MiB, so that the default would not do.
    EXPECT_GE(start_and_look({.stack_bytes = 24 << 20}).stack_bytes, 24U << 20);
}
TEST(PlatformThread, OfTheIdleClassIsIdleForTheSystem) {
    const seen r = start_and_look({.scheduling = platform::thread_class::idle});
    EXPECT_TRUE(r.policy == SCHED_IDLE || r.nice == 19);
}
TEST(PlatformThread, HasTheNiceValue) { EXPECT_EQ(start_and_look({.nice = 7}).nice, 7); }

TEST(PlatformThread, IsPinnedAndLeavesItsCreatorAlone) {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    int cpu = 0;
    while (!CPU_ISSET(static_cast<unsigned>(cpu), &before)) ++cpu;
    EXPECT_EQ(start_and_look({.pin_to_cpu = cpu}).cpus, 1);
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(PlatformThread, AnImpossibleStackIsRefusedNotFatal) {
    EXPECT_EQ(platform::start_thread({.stack_bytes = std::size_t{1} << 60, .entry = [](void*) {}}),
              0U);
}

/// Divided while the program runs, where the control bits have their say.
long double a_third() {
    long double one = 1;
    asm volatile("" : "+m"(one));
    long double third = one / 3;
    asm volatile("" : "+m"(third));
    return third;
}

TEST(FloatControl, CarriesTheRoundingModeOfBothUnits) {
    const std::uint64_t nearest = platform::float_control();
    std::fesetround(FE_DOWNWARD);
    const std::uint64_t downward = platform::float_control();
    std::fesetround(FE_UPWARD);
    const std::uint64_t upward = platform::float_control();
    platform::set_float_control(nearest);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    platform::set_float_control(downward);
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    const long double lower = a_third();
    platform::set_float_control(upward);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    const long double upper = a_third();
    platform::set_float_control(nearest);
    // Not against the nearest one, which is one of the two: which, depends on the digits.
    EXPECT_LT(lower, upper);
}

TEST(FloatControl, DoesNotCarryExceptionFlags) {
    const std::uint64_t clean = platform::float_control();
    std::feraiseexcept(FE_DIVBYZERO);
    EXPECT_EQ(platform::float_control(), clean);
    std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
