#pragma once
// The library uses atomics, parking and the clock only through a policy. Lock-free parts are
// templates over the policy. The policy is `system_policy` in production. In tests/model it is the
// policy of a model checker. A policy has these members:
//   template <class T> atomic<T>   with the interface of std::atomic
//   void wait(const atomic<uint32_t>&, uint32_t expected, int64_t deadline_ns)
//   void wake_one(const atomic<uint32_t>&)
//   int64_t now(), coarse_now()    monotonic, ns
//   void relax()                   one round of a spin loop

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <atomic>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct system_policy {
    template <class T>
    using atomic = std::atomic<T>;

    BRAID_API static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::int64_t deadline_ns) noexcept;
    BRAID_API static void wake_one(const atomic<std::uint32_t>& word) noexcept;
    BRAID_API static std::int64_t now() noexcept;
    BRAID_API static std::int64_t coarse_now() noexcept;
    BRAID_API static void relax() noexcept;
};

using active_policy = system_policy;

template <class T>
using atomic = active_policy::atomic<T>;

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

BRAID_NAMESPACE_END
