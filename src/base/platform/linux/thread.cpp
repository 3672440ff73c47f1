#include "base/platform/platform.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace braid::platform {
namespace {

void apply(const thread_request& request) noexcept {
    if (request.name != nullptr) {
        char name[16] = {};
        std::strncpy(name, request.name, sizeof name - 1);
        pthread_setname_np(pthread_self(), name);
    }
    if (request.scheduling == thread_class::idle) {
        sched_param parameter{};
        if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameter) != 0) {
            setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19);
        }
    } else if (request.nice != 0) {
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), request.nice);
    }
    prctl(PR_SET_TIMERSLACK, 1'000UL);  // sleeps until a time end when they should
    if (request.pin_to_cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<unsigned>(request.pin_to_cpu), &set);
        pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
}

void* enter(void* argument) {
    const thread_request& request = *static_cast<const thread_request*>(argument);
    apply(request);
    request.entry(request.argument);
    return nullptr;
}

}  // namespace

thread_handle start_thread(const thread_request& request) noexcept {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (request.stack_bytes != 0) pthread_attr_setstacksize(&attributes, request.stack_bytes);

    // Threads of the library take no signals: those belong to the program.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const int error =
        pthread_create(&thread, &attributes, enter, const_cast<thread_request*>(&request));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return error == 0 ? static_cast<thread_handle>(thread) : 0;
}

void join_thread(thread_handle thread) noexcept {
    pthread_join(static_cast<pthread_t>(thread), nullptr);
}

void detach_thread(thread_handle thread) noexcept {
    pthread_detach(static_cast<pthread_t>(thread));
}

bool is_current(thread_handle thread) noexcept {
    return thread != 0 && pthread_equal(static_cast<pthread_t>(thread), pthread_self()) != 0;
}

static_assert(sizeof(core_set) == sizeof(cpu_set_t));

std::uint32_t current_core() noexcept {
    const int core = sched_getcpu();
    return core < 0 ? UINT32_MAX : static_cast<std::uint32_t>(core);
}

core_set own_cores() noexcept {
    core_set cores;
    if (sched_getaffinity(0, sizeof cores, reinterpret_cast<cpu_set_t*>(&cores)) != 0) return {};
    return cores;
}

bool set_cores(std::uint32_t thread_number, const core_set& cores) noexcept {
    return sched_setaffinity(static_cast<pid_t>(thread_number), sizeof cores,
                             reinterpret_cast<const cpu_set_t*>(&cores)) == 0;
}

std::uint32_t current_thread_number() noexcept { return static_cast<std::uint32_t>(gettid()); }

void thread_name(char* to, std::size_t room) noexcept {
    if (pthread_getname_np(pthread_self(), to, room) != 0) to[0] = '\0';
}

stack_bounds current_stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    const auto bottom = reinterpret_cast<std::uintptr_t>(low);
    return {bottom, bottom + bytes};
}

std::uint64_t float_control() noexcept {
#if defined(__x86_64__)
    // MXCSR without the sticky exception flags; above it the control word of the x87 unit, which
    // computes `long double`.
    std::uint16_t x87 = 0;
    asm volatile("fnstcw %0" : "=m"(x87));
    return std::uint64_t{x87} << 32 | (_mm_getcsr() & ~0x3fU);
#elif defined(__aarch64__)
    std::uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
#else
    return 0;
#endif
}

void set_float_control([[maybe_unused]] std::uint64_t bits) noexcept {
#if defined(__x86_64__)
    const auto x87 = static_cast<std::uint16_t>(bits >> 32);
    asm volatile("fldcw %0" : : "m"(x87));
    _mm_setcsr(static_cast<unsigned>(bits));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(bits));
#endif
}

std::uint32_t process_id() noexcept { return static_cast<std::uint32_t>(getpid()); }

int this_thread_time_clock() noexcept {
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    pthread_getcpuclockid(pthread_self(), &clock);
    return clock;
}

std::int64_t thread_time(int clock) noexcept {
    timespec t{};
    if (clock_gettime(clock, &t) != 0) return -1;
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace braid::platform
