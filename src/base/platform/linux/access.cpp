// Pages that a thread may not touch, and did.
#include "base/platform/platform.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace braid::platform {
namespace {

std::atomic<access_fn> watcher{nullptr};
std::atomic<bool> installed{false};
struct sigaction before[2];

/// What the processor says about the access: Intel 64 and IA-32 Architectures Software Developer's
/// Manual, volume 3, 4.7; Arm Architecture Reference Manual, ESR_ELx, ISS of a data abort.
bool was_write(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return (machine.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
    const auto* at = reinterpret_cast<const _aarch64_ctx*>(machine.__reserved);
    while (at->magic != 0 && at->magic != ESR_MAGIC) {
        at = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const char*>(at) + at->size);
    }
    return at->magic == ESR_MAGIC &&
           (reinterpret_cast<const esr_context*>(at)->esr & (1U << 6)) != 0;
#else
    static_cast<void>(machine);
    return false;
#endif
}

void on_fault(int number, siginfo_t* info, void* context) {
    // acquire: pairs with watch_access().
    const access_fn asked = watcher.load(std::memory_order_acquire);
    const access_fault what{reinterpret_cast<std::uintptr_t>(info->si_addr), was_write(context),
                            number == SIGSEGV && info->si_code == SEGV_ACCERR};
    if (info->si_code > 0 && asked != nullptr && asked(what)) return;
    const struct sigaction& next = before[number == SIGBUS];
    if ((next.sa_flags & SA_SIGINFO) != 0) return next.sa_sigaction(number, info, context);
    if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) return next.sa_handler(number);
    // The thread faults once more, and the process ends; a signal that was sent is sent again.
    std::signal(number, SIG_DFL);
    if (info->si_code <= 0) std::raise(number);
}

}  // namespace

void watch_access(access_fn asked) noexcept {
    // release: pairs with the handler.
    watcher.store(asked, std::memory_order_release);
    // relaxed: one of two that come here at once installs it.
    if (installed.exchange(true, std::memory_order_relaxed)) return;
    struct sigaction own{};
    own.sa_sigaction = &on_fault;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &own, &before[0]);
    sigaction(SIGBUS, &own, &before[1]);
}

void write_error(const char* text) noexcept {
    [[maybe_unused]] const ssize_t sent = write(STDERR_FILENO, text, std::strlen(text));
}

}  // namespace braid::platform
