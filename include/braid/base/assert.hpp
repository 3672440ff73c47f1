#pragma once
// BRAID_EXPECT reports a caller's mistake in one sentence that says what to change.

#include "braid/base/export.hpp"
#include "braid/base/handlers.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Calls the function of the handler, or log_misuse() if the handler has no function. The caller
/// must then refuse the operation that contains the mistake.
BRAID_API void report_misuse(const assertion_handler& handler, const char* condition,
                             const char* what_to_change, const char* file, int line);

/// The default assertion_handler of a scheduler. `log` points to a log_handler. If `log` is null,
/// or the log_handler has no function, the mistake is printed to standard error. In a library
/// configured with -DBRAID_CHECKED=ON, log_misuse() then calls std::terminate.
BRAID_API void log_misuse(void* log, const char* condition, const char* what_to_change,
                          const char* file, int line);

}  // namespace detail
BRAID_NAMESPACE_END

/// Evaluates to true if `condition` holds. Otherwise BRAID_EXPECT calls report_misuse() and
/// evaluates to false, so that the caller can refuse the operation:
///   if (!BRAID_EXPECT(handler, count > 0, "give at least one")) return {};
#define BRAID_EXPECT(handler, condition, what_to_change)                                          \
    ((condition) ? true                                                                           \
                 : (::braid::detail::report_misuse(handler, #condition, what_to_change, __FILE__, \
                                                   __LINE__),                                     \
                    false))
