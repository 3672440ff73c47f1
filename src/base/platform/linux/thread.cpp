#include "base/platform/platform.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <initializer_list>

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

/// For a handler of the program's, when the stack was used up; at the upper end of that stack, and
/// enough for one that reads debug information.
constexpr std::size_t signal_stack_bytes = 256 * 1024;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define BRAID_SANITIZED_THREADS
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    defined(BRAID_SANITIZED_THREADS)
// What the sanitizer knows of a thread lies on its stack, too.
constexpr std::size_t sanitizer_bytes = 1024 * 1024;
#else
constexpr std::size_t sanitizer_bytes = 0;
#endif

void set_signal_stack(std::byte* room) noexcept {
    stack_t stack{};
    // A sanitizer has set one of its own.
    if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
    stack = {.ss_sp = room, .ss_flags = 0, .ss_size = signal_stack_bytes};
    sigaltstack(&stack, nullptr);
}

void* enter(void* argument) {
    const thread_request& request = *static_cast<const thread_request*>(argument);
    alignas(64) std::byte room[signal_stack_bytes];
    set_signal_stack(room);
    apply(request);
    request.entry(request.argument);
    return nullptr;
}

}  // namespace

thread_handle start_thread(const thread_request& request) noexcept {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (request.stack_bytes != 0) {
        pthread_attr_setstacksize(&attributes,
                                  request.stack_bytes + signal_stack_bytes + sanitizer_bytes);
    }

    // Threads of the library take no signals, which belong to the program, but those that are about
    // what the thread itself does: blocked, they would end the process without its handler.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
        sigdelset(&all, own);
    }
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

void walk_stack(bool (*frame)(void* user, std::uintptr_t address), void* user) noexcept {
    struct walk {
        bool (*frame)(void* user, std::uintptr_t address);
        void* user;
    } all{frame, user};
    _Unwind_Backtrace(
        [](_Unwind_Context* at, void* data) {
            const auto& to = *static_cast<const walk*>(data);
            int before = 0;  // of a frame that a signal interrupted: it stands where it says
            const auto address = static_cast<std::uintptr_t>(_Unwind_GetIPInfo(at, &before));
            if (address == 0) return _URC_END_OF_STACK;
            const bool goes_on = to.frame(to.user, before != 0 ? address : address - 1);
            return goes_on ? _URC_NO_REASON : _URC_END_OF_STACK;
        },
        &all);
}

std::uint32_t process_id() noexcept { return static_cast<std::uint32_t>(getpid()); }

std::uint32_t fork_mark() noexcept {
    // relaxed: written by the only thread that a child has, before it goes on.
    static constinit std::atomic<std::uint32_t> forks{0};
    static const bool counted = pthread_atfork(nullptr, nullptr, [] {
                                    forks.fetch_add(1, std::memory_order_relaxed);
                                }) == 0;
    return counted ? forks.load(std::memory_order_relaxed) : process_id();
}

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
