#pragma once
// Sentences with numbers in them.

#include "base/printf_format.hpp"
#include "braid/base/version.hpp"

#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// As printf() would print it.
BRAID_PRINTF(1, 2) std::string text_of(const char* format, ...);

inline double ms(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

/// "3.1 ms", or with more digits where it is less.
std::string in_ms(std::uint64_t ns);

}  // namespace profile
BRAID_NAMESPACE_END
