#pragma once
// A caller's mistake gets one sentence that says what to change.

#include "braid/base/export.hpp"
#include "braid/base/handlers.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Calls the handler. The operation that found the mistake then refuses to go on.
BRAID_API void report_misuse(const assertion_handler& handler, const char* condition,
                             const char* what_to_change, const char* file, int line);

/// What a scheduler's assertion_handler is by default. `log`: a log_handler, or null.
BRAID_API void log_misuse(void* log, const char* condition, const char* what_to_change,
                          const char* file, int line);

}  // namespace detail
BRAID_NAMESPACE_END

/// True when `condition` holds; otherwise reports and is false, so that callers can refuse:
///   if (!BRAID_EXPECT(handler, count > 0, "give at least one")) return {};
#define BRAID_EXPECT(handler, condition, what_to_change)                                          \
    ((condition) ? true                                                                           \
                 : (::braid::detail::report_misuse(handler, #condition, what_to_change, __FILE__, \
                                                   __LINE__),                                     \
                    false))
