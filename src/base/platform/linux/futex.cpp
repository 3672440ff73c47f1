#include "base/platform/platform.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <climits>
#include <ctime>

namespace braid::platform {

void futex_wait(const void* word, std::uint32_t expected, std::int64_t deadline_ns) noexcept {
    timespec until{};
    timespec* limit = nullptr;
    if (deadline_ns != INT64_MAX) {
        until.tv_sec = deadline_ns / 1'000'000'000;
        until.tv_nsec = deadline_ns % 1'000'000'000;
        limit = &until;
    }
    // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, plain FUTEX_WAIT a relative one.
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, limit, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_one(const void* word) noexcept {
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace braid::platform
