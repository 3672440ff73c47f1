#include "profile/analysis/text.hpp"

#include <cstdarg>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace profile {

std::string text_of(const char* format, ...) {
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    const int length = std::vsnprintf(nullptr, 0, format, values);
    std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, ' ');
    // The string has room for the 0 at its end.
    if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    va_end(values);
    return text;
}

std::string in_ms(std::uint64_t ns) {
    return text_of(ns < 100'000 ? "%.3f ms" : ns < 1'000'000 ? "%.2f ms" : "%.1f ms", ms(ns));
}

}  // namespace profile
BRAID_NAMESPACE_END
