#include "base/platform/poller.hpp"
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

namespace braid::platform {
namespace {

constexpr const char* no_descriptors =
    "sockets and handles cannot be waited for on Windows yet: wait for them in a thread of your "
    "own, and complete an external task there";

}  // namespace

const char* poller::open() noexcept {
    wakes_ = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    clock_ = create_timer();
    if (wakes_ != nullptr && clock_ != nullptr) return nullptr;
    close();
    return "the system has no handle left to wait with";
}

void poller::close() noexcept {
    for (void** const one : {&wakes_, &clock_}) {
        if (*one != nullptr) CloseHandle(*one);
        *one = nullptr;
    }
}

const char* poller::add(int, descriptor_events, std::uint64_t) noexcept { return no_descriptors; }
const char* poller::arm_again(int, descriptor_events, std::uint64_t) noexcept {
    return no_descriptors;
}
void poller::remove(int) noexcept {}

unsigned poller::wait(std::int64_t deadline_ns, arrival*, unsigned) noexcept {
    const HANDLE either[] = {wakes_, clock_};
    const std::int64_t left = deadline_ns == INT64_MAX ? 0 : deadline_ns - monotonic_ns();
    const bool for_ever = deadline_ns == INT64_MAX;
    DWORD limit_ms = for_ever || left > 0 ? INFINITE : 0;
    if (!for_ever && left > 0 && !set_timer(clock_, left)) limit_ms = 1;  // the caller looks again
    WaitForMultipleObjects(for_ever ? 1 : 2, either, FALSE, limit_ms);
    return 0;
}

void poller::wake() noexcept { SetEvent(wakes_); }

}  // namespace braid::platform
