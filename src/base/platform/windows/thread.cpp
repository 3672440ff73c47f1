#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <process.h>
#include <climits>

namespace braid::platform {
namespace {

/// Of the system's library, from Windows 10, version 1607. Null: an older one.
template <class Function>
Function* find_function(const char* name) noexcept {
    const HMODULE library = GetModuleHandleW(L"kernel32.dll");
    return reinterpret_cast<Function*>(reinterpret_cast<void*>(GetProcAddress(library, name)));
}

using set_name_fn = HRESULT WINAPI(HANDLE, PCWSTR);
using get_name_fn = HRESULT WINAPI(HANDLE, PWSTR*);

int priority_of(const thread_request& request) noexcept {
    if (request.scheduling == thread_class::idle) return THREAD_PRIORITY_IDLE;
    if (request.nice <= -10) return THREAD_PRIORITY_HIGHEST;
    if (request.nice < 0) return THREAD_PRIORITY_ABOVE_NORMAL;
    if (request.nice == 0) return THREAD_PRIORITY_NORMAL;
    return request.nice < 10 ? THREAD_PRIORITY_BELOW_NORMAL : THREAD_PRIORITY_LOWEST;
}

void apply(const thread_request& request) noexcept {
    if (request.name != nullptr) {
        wchar_t name[64];
        static auto* const set_name = find_function<set_name_fn>("SetThreadDescription");
        if (set_name != nullptr && widen(request.name, name, std::size(name))) {
            set_name(GetCurrentThread(), name);
        }
    }
    const int priority = priority_of(request);
    if (priority != THREAD_PRIORITY_NORMAL) SetThreadPriority(GetCurrentThread(), priority);
    if (request.pin_to_cpu >= 0 && request.pin_to_cpu < 1024) {
        core_set one;
        const auto cpu = static_cast<unsigned>(request.pin_to_cpu);
        one.words[cpu / 64] = std::uint64_t{1} << cpu % 64;
        set_cores(0, one);
    }
}

unsigned __stdcall enter(void* argument) {
    const thread_request& request = *static_cast<const thread_request*>(argument);
    apply(request);
    request.entry(request.argument);
    return 0;
}

HANDLE handle_of(thread_handle thread) noexcept { return reinterpret_cast<HANDLE>(thread); }

}  // namespace

thread_handle start_thread(const thread_request& request) noexcept {
    if (request.stack_bytes > UINT_MAX) return 0;  // more than the system can be asked for
    // Not CreateThread(): the C library keeps what is a thread's own.
    return static_cast<thread_handle>(_beginthreadex(
        nullptr, static_cast<unsigned>(request.stack_bytes), enter,
        const_cast<thread_request*>(&request), STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
}

void join_thread(thread_handle thread) noexcept {
    WaitForSingleObject(handle_of(thread), INFINITE);
    CloseHandle(handle_of(thread));
}

void detach_thread(thread_handle thread) noexcept { CloseHandle(handle_of(thread)); }

bool is_current(thread_handle thread) noexcept {
    return thread != 0 && GetThreadId(handle_of(thread)) == GetCurrentThreadId();
}

std::uint32_t current_thread_number() noexcept { return GetCurrentThreadId(); }

void thread_name(char* to, std::size_t room) noexcept {
    to[0] = '\0';
    PWSTR name = nullptr;
    static auto* const get_name = find_function<get_name_fn>("GetThreadDescription");
    if (get_name == nullptr || FAILED(get_name(GetCurrentThread(), &name))) return;
    narrow(name, to, room);
    LocalFree(name);
}

stack_bounds current_stack() noexcept {
    ULONG_PTR low = 0;
    ULONG_PTR high = 0;
    GetCurrentThreadStackLimits(&low, &high);
    return {low, high};
}

void walk_stack(bool (*frame)(void* user, std::uintptr_t address), void* user) noexcept {
    constexpr DWORD most = 128;
    void* frames[most];
    // Return addresses, each behind its call.
    const unsigned count = CaptureStackBackTrace(0, most, frames, nullptr);
    for (unsigned i = 0; i < count; ++i) {
        if (!frame(user, reinterpret_cast<std::uintptr_t>(frames[i]) - 1)) return;
    }
}

int this_thread_time_clock() noexcept { return static_cast<int>(GetCurrentThreadId()); }

std::int64_t thread_time(int clock) noexcept {
    const HANDLE thread =
        OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(clock));
    if (thread == nullptr) return -1;
    FILETIME made{}, ended{}, kernel{}, user{};
    DWORD exit_code = 0;
    const bool good = GetThreadTimes(thread, &made, &ended, &kernel, &user) != 0 &&
                      GetExitCodeThread(thread, &exit_code) != 0 && exit_code == STILL_ACTIVE;
    CloseHandle(thread);
    if (!good) return -1;
    const auto in_100ns = [](const FILETIME& t) {
        return static_cast<std::int64_t>(std::uint64_t{t.dwHighDateTime} << 32 | t.dwLowDateTime);
    };
    return (in_100ns(kernel) + in_100ns(user)) * 100;
}

}  // namespace braid::platform
