#pragma once
// What Windows offers, without what else its header defines.

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#include <winsock2.h>  // before windows.h, which else brings the older one

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace braid::platform {

/// A timer that rings once, at most 1 ms late: the system's other sleeps end with a tick of its
/// clock, up to 15.6 ms late.
inline HANDLE create_timer() noexcept {
    constexpr DWORD high_resolution = 2;  // from Windows 10, version 1803
    const HANDLE timer =
        CreateWaitableTimerExW(nullptr, nullptr, high_resolution, TIMER_MODIFY_STATE | SYNCHRONIZE);
    if (timer != nullptr) return timer;
    return CreateWaitableTimerExW(nullptr, nullptr, 0, TIMER_MODIFY_STATE | SYNCHRONIZE);
}

/// In so many ns from now. Returns false if the system refuses.
inline bool set_timer(HANDLE timer, std::int64_t ns) noexcept {
    LARGE_INTEGER due{};
    due.QuadPart = -std::max<std::int64_t>(1, (ns + 99) / 100);  // below 0: from now, in 100 ns
    return SetWaitableTimer(timer, &due, 0, nullptr, nullptr, FALSE) != 0;
}

/// Text between the system's UTF-16 and our UTF-8. What does not fit is cut.
inline void narrow(const wchar_t* from, char* to, std::size_t room) noexcept {
    to[0] = '\0';
    if (WideCharToMultiByte(CP_UTF8, 0, from, -1, to, static_cast<int>(room), nullptr, nullptr) ==
        0) {
        to[room - 1] = '\0';
    }
}
/// Returns false if it does not fit or is no UTF-8.
inline bool widen(const char* from, wchar_t* to, std::size_t room) noexcept {
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, from, -1, to,
                               static_cast<int>(room)) != 0;
}

}  // namespace braid::platform
