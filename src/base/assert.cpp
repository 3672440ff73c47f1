#include "braid/base/assert.hpp"

#include "base/standard_error.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void report_misuse(const assertion_handler& handler, const char* condition,
                   const char* what_to_change, const char* file, int line) {
    if (handler.function != nullptr) {
        handler.function(handler.user, condition, what_to_change, file, line);
    } else {
        log_misuse(nullptr, condition, what_to_change, file, line);
    }
}

void log_misuse(void* log, const char* condition, const char* what_to_change, const char* file,
                int line) {
    char text[512];
    std::snprintf(text, sizeof text, "%s (%s:%d: %s)", what_to_change, file, line, condition);
    const auto* const to = static_cast<const log_handler*>(log);
    if (to != nullptr && to->function != nullptr) {
        to->function(to->user, log_level::error, text);
    } else {
        standard_error::say(nullptr, log_level::error, text);
    }
#if defined(BRAID_CHECKED)
    std::terminate();
#endif
}

}  // namespace detail
BRAID_NAMESPACE_END
