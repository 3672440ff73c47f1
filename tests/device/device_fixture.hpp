#pragma once
// What tests of processors share: kernels, and a program whose account must come out.

#include <braid/device.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"
#include "work_until.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace braid_test {

namespace device = braid::device;

/// Eight numbers a group: out = in * factor.
inline void scale_group(const device::group& g) {
    const auto factor = g.constants<std::uint32_t>();
    const std::span<const std::uint32_t> in = g.read<std::uint32_t>(0);
    const std::span<std::uint32_t> out = g.write<std::uint32_t>(0);
    for (std::size_t i = std::size_t{g.x()} * 8; i < std::size_t{g.x()} * 8 + 8; ++i) {
        out[i] = in[i] * factor;
    }
}
inline constexpr device::kernel scale_kernel{"scale", &scale_group};

/// Adds one to each number of its output, whatever the count of groups.
inline void increment_group(const device::group& g) {
    const std::span<std::uint32_t> out = g.write<std::uint32_t>(0);
    for (std::size_t i = g.x(); i < out.size(); i += g.groups().x) ++out[i];
}
inline constexpr device::kernel increment{"increment", &increment_group};

inline void nothing_group(const device::group&) {}
inline constexpr device::kernel nothing{"nothing", &nothing_group};

/// The two kernels below end when the test lets them. The task that submits them may do so, or a
/// thread outside, but no thread that waits before: it may be the one that runs them.
inline std::atomic<bool> may_end{false};
inline void late_group(const device::group&) {
    until([] { return may_end.load(); });
}
inline void late_increment_group(const device::group& g) {
    late_group(g);
    increment_group(g);
}
inline constexpr device::kernel ends_late{"ends late", &late_group};
inline constexpr device::kernel increments_late{"increments late", &late_increment_group};

#if BRAID_HAS_EXCEPTIONS
inline void throwing_group(const device::group&) { throw std::runtime_error("the kernel threw"); }
inline constexpr device::kernel throwing{"throwing", &throwing_group};
#endif

/// Every submission has ended in one way, every start has led to an end or to another start, and
/// nothing is left there.
inline void expect_account(const device::processor_report& r) {
    EXPECT_EQ(r.submitted, r.completed + r.moved_to_cores + r.failed + r.timed_out + r.cancelled);
    EXPECT_EQ(r.started + r.unstarted, r.submitted + r.rerun + r.retried);
    EXPECT_LE(r.retried, r.refused);
    EXPECT_LE(r.late_ends, r.timed_out);
    EXPECT_EQ(r.queued, 0U);
    EXPECT_EQ(r.in_flight, 0U);
}

/// However its tasks have ended.
inline void wait_for_all(braid::scope& all) {
#if BRAID_HAS_EXCEPTIONS
    try {
        all.wait();
    } catch (const std::exception&) {
    }
#else
    all.wait();
#endif
}

/// How the task went. 0: well; a completion_error's code; -1: cancelled; -2: another exception.
/// libstdc++ counts the owners of an exception where ThreadSanitizer does not see it, so that its
/// contents are read without that only; otherwise the code is `usual`.
inline int code_of(braid::future<void>&& task, [[maybe_unused]] int usual = 1) {
#if BRAID_HAS_EXCEPTIONS
    try {
        task.get();
        return 0;
    } catch (const braid::task_cancelled&) {
        return -1;
    } catch (const braid::broken_promise&) {
        return -1;
    } catch (const braid::completion_error& e) {
        return sanitized ? usual : e.code();
    } catch (const std::exception&) {
        return -2;
    }
#else
    task.get();
    return 0;
#endif
}

}  // namespace braid_test
