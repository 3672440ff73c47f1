#include "braid/base/assert.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void report_misuse(const assertion_handler& handler, const char* condition,
                   const char* what_to_change, const char* file, int line) {
    if (handler.function != nullptr) {
        handler.function(handler.user, condition, what_to_change, file, line);
        return;
    }
#if defined(BRAID_CHECKED)
    std::terminate();
#endif
}

}  // namespace detail
BRAID_NAMESPACE_END
