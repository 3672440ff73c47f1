// Pages that a thread may not touch, and did.
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <atomic>
#include <cstring>

namespace braid::platform {
namespace {

std::atomic<access_fn> watcher{nullptr};
std::atomic<bool> installed{false};

LONG CALLBACK on_exception(EXCEPTION_POINTERS* what) {
    const EXCEPTION_RECORD& record = *what->ExceptionRecord;
    if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION) return EXCEPTION_CONTINUE_SEARCH;
    // acquire: pairs with watch_access().
    const access_fn asked = watcher.load(std::memory_order_acquire);
    access_fault fault;
    fault.address = record.ExceptionInformation[1];
    fault.writes = record.ExceptionInformation[0] == 1;
    MEMORY_BASIC_INFORMATION page{};
    fault.is_closed =
        VirtualQuery(reinterpret_cast<const void*>(fault.address), &page, sizeof page) != 0 &&
        page.State == MEM_COMMIT;
    const bool again = asked != nullptr && asked(fault);
    return again ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void watch_access(access_fn asked) noexcept {
    // release: pairs with the handler.
    watcher.store(asked, std::memory_order_release);
    // relaxed: one of two that come here at once installs it.
    if (installed.exchange(true, std::memory_order_relaxed)) return;
    AddVectoredExceptionHandler(1, &on_exception);
}

void write_error(const char* text) noexcept {
    DWORD sent = 0;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(std::strlen(text)), &sent,
              nullptr);
}

}  // namespace braid::platform
