#pragma once
// Switches for the policies of this library. A policy is a part of the scheduler's decisions that
// was added for one row of the benchmarks. The source of a policy that is off is not compiled
// (cmake/braid_policies.cmake), so code names its functions only behind `if constexpr`.

#include "braid/base/version.hpp"

#ifndef BRAID_POLICY_STEALS_PAY
#define BRAID_POLICY_STEALS_PAY 1
#endif
#ifndef BRAID_POLICY_UNCLAIMED
#define BRAID_POLICY_UNCLAIMED 1
#endif
#ifndef BRAID_POLICY_KEEP_APART
#define BRAID_POLICY_KEEP_APART 1
#endif
#ifndef BRAID_POLICY_EXPECT_WORK
#define BRAID_POLICY_EXPECT_WORK 1
#endif
#ifndef BRAID_POLICY_WATCH
#define BRAID_POLICY_WATCH 1
#endif
#ifndef BRAID_POLICY_SHORT_GAPS
#define BRAID_POLICY_SHORT_GAPS 1
#endif
#ifndef BRAID_POLICY_SELDOM_CLOCK
#define BRAID_POLICY_SELDOM_CLOCK 1
#endif

BRAID_NAMESPACE_BEGIN
namespace detail::policies {

inline constexpr bool steals_pay = BRAID_POLICY_STEALS_PAY != 0;
inline constexpr bool unclaimed = BRAID_POLICY_UNCLAIMED != 0;
inline constexpr bool keep_apart = BRAID_POLICY_KEEP_APART != 0;
inline constexpr bool expect_work = BRAID_POLICY_EXPECT_WORK != 0;
inline constexpr bool watch = BRAID_POLICY_WATCH != 0;
inline constexpr bool short_gaps = BRAID_POLICY_SHORT_GAPS != 0;
inline constexpr bool seldom_clock = BRAID_POLICY_SELDOM_CLOCK != 0;

}  // namespace detail::policies
BRAID_NAMESPACE_END
