#pragma once
// Debug information of several files is read by two threads: one file takes 100 ms and more, and
// the readers share nothing.

#include "braid/base/version.hpp"

#include <cstddef>
#include <functional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Calls f(i) once for each i below `count`, on this thread and on one beside it, which is of the
/// same class as this one; on this one alone where the system refuses another. Returns when both
/// have ended. What f throws is thrown here, and the calls that have not begun are left out.
void on_two_threads(std::size_t count, const std::function<void(std::size_t)>& f);

/// From here on on_two_threads() makes all calls on its caller, for the rest of this process: for
/// the child of a program with several threads, which should start none of its own.
void stay_on_one_thread() noexcept;

}  // namespace reload::detail
BRAID_NAMESPACE_END
