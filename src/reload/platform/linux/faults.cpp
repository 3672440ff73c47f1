// Signals that end a process: a call into pages that may be read, but not run, is a SIGSEGV whose
// address is where the thread stands.
#include "reload/platform/linux/stack_places.hpp"
#include "reload/platform/platform.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {
namespace {

constexpr int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::atomic<stale_call_fn> stale_calls{nullptr};
std::atomic<crash_fn> crashes{nullptr};
std::atomic<bool> installed{false};
struct sigaction before[NSIG];
thread_local bool in_crash = false;

void say_crash(int number, const siginfo_t* info, stack_places& at) {
    // acquire: pairs with watch_faults().
    const crash_fn report = crashes.load(std::memory_order_acquire);
    // A signal that another process sent is about no code, and a second one about the first.
    const bool is_sent = info->si_code <= 0 && info->si_pid != getpid();
    if (report == nullptr || in_crash || is_sent) return;
    in_crash = true;
    at.add_callers();
    report({number, 0, reinterpret_cast<std::uintptr_t>(info->si_addr), at.all()});
    in_crash = false;
}

void on_fault(int number, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    stack_places at(context);
    const stale_call_fn stale = stale_calls.load(std::memory_order_acquire);
    const bool no_right = number == SIGSEGV && info->si_code == SEGV_ACCERR && at.at() == address;
    if (no_right && stale != nullptr && stale(address, at.from())) return;
    say_crash(number, info, at);
    const struct sigaction& next = before[number];
    if ((next.sa_flags & SA_SIGINFO) != 0) return next.sa_sigaction(number, info, context);
    if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) return next.sa_handler(number);
    // The thread faults once more, and the process ends as it would have; a signal that was sent is
    // sent again.
    std::signal(number, SIG_DFL);
    if (info->si_code <= 0) std::raise(number);
}

}  // namespace

void watch_faults(stale_call_fn stale, crash_fn report) {
    // release: pairs with the handler.
    if (stale != nullptr) stale_calls.store(stale, std::memory_order_release);
    if (report != nullptr) crashes.store(report, std::memory_order_release);
    // relaxed: of two that come here at once one installs it.
    if (installed.exchange(true, std::memory_order_relaxed)) return;
    // This thread's; those of the scheduler have one.
    static std::byte room[256 * 1024];
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
        stack = {.ss_sp = room, .ss_flags = 0, .ss_size = sizeof room};
        sigaltstack(&stack, nullptr);
    }
    struct sigaction own{};
    own.sa_sigaction = &on_fault;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int number : watched) sigaction(number, &own, &before[number]);
}

bool has_room_for_reading() {
    constexpr std::size_t needed = 200 * 1024;  // libdw has lists of 100 KiB on its stack
    stack_t own{};
    if (sigaltstack(nullptr, &own) != 0) return false;
    return (own.ss_flags & SS_ONSTACK) == 0 || own.ss_size >= needed;
}

bool is_system_code(std::uintptr_t address) {
    Dl_info found;
    if (dladdr(reinterpret_cast<const void*>(address), &found) == 0) return false;
    const char* const slash = std::strrchr(found.dli_fname, '/');
    const char* const name = slash != nullptr ? slash + 1 : found.dli_fname;
    return std::strncmp(name, "libc.so", 7) == 0 || std::strncmp(name, "ld-linux", 8) == 0;
}

void write_error(const char* text) {
    [[maybe_unused]] const ssize_t sent = write(STDERR_FILENO, text, std::strlen(text));
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
