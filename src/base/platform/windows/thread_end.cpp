// The loader calls on_loader() as a thread ends. This is no destructor of a thread_local object,
// because MinGW's g++ 12 frees such objects before it calls their destructors (its bug 83562), and
// not FlsAlloc(), because the system calls that for each fiber that is deleted, while its thread
// goes on.
#include "base/platform/thread_end.hpp"
#include "base/platform/windows/system.hpp"

#include <utility>

namespace braid::platform {
namespace {

/// Keeps a thread's steps. Written before any other code of the program runs.
constinit DWORD steps_slot = TLS_OUT_OF_INDEXES;

/// Stands in the slot of a thread whose end has begun.
constinit thread_end_step end_has_begun;

void run_steps() noexcept {
    auto* first = static_cast<thread_end_step*>(TlsGetValue(steps_slot));
    TlsSetValue(steps_slot, &end_has_begun);
    while (first != nullptr && first != &end_has_begun) {
        const thread_end_step& step = *std::exchange(first, first->next);
        step.run(step.data);
    }
}

void NTAPI on_loader(void* /*module*/, DWORD reason, void* /*unused*/) {
    if (reason == DLL_PROCESS_ATTACH) steps_slot = TlsAlloc();
    if (steps_slot == TLS_OUT_OF_INDEXES) return;
    if (reason == DLL_THREAD_DETACH) run_steps();
    if (reason == DLL_PROCESS_DETACH) TlsFree(std::exchange(steps_slot, TLS_OUT_OF_INDEXES));
}

}  // namespace

bool at_thread_end(thread_end_step& step) noexcept {
    if (steps_slot == TLS_OUT_OF_INDEXES) return false;
    auto* const first = static_cast<thread_end_step*>(TlsGetValue(steps_slot));
    if (first == &end_has_begun) return false;
    step.next = first;
    return TlsSetValue(steps_slot, &step) != 0;
}

std::uint32_t make_thread_slot() noexcept { return TlsAlloc(); }
void* read_thread_slot(std::uint32_t slot) noexcept { return TlsGetValue(slot); }
bool write_thread_slot(std::uint32_t slot, void* value) noexcept {
    return TlsSetValue(slot, value) != 0;
}

}  // namespace braid::platform

// The loader calls functions of such sections in the order of the sections' names. B comes before
// those of the C libraries, which free what is thread_local.
#if defined(_MSC_VER)
#pragma comment(linker, "/INCLUDE:_tls_used")
#pragma comment(linker, "/INCLUDE:braid_called_by_loader")
#pragma section(".CRT$XLB", read)
extern "C" __declspec(allocate(".CRT$XLB")) const PIMAGE_TLS_CALLBACK braid_called_by_loader =
    &braid::platform::on_loader;
#else
[[gnu::section(".CRT$XLB"), gnu::used]] static PIMAGE_TLS_CALLBACK called_by_loader =
    &braid::platform::on_loader;
#endif
