#include "braid/base/policy.hpp"

#include "base/platform/platform.hpp"

BRAID_NAMESPACE_BEGIN

void system_policy::wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::int64_t deadline_ns) noexcept {
    platform::futex_wait(&word, expected, deadline_ns);
}
void system_policy::wake_one(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_one(&word);
}
std::int64_t system_policy::now() noexcept { return platform::monotonic_ns(); }
std::int64_t system_policy::coarse_now() noexcept { return platform::coarse_monotonic_ns(); }
void system_policy::relax() noexcept { platform::cpu_relax(); }

BRAID_NAMESPACE_END
