#pragma once
// Which function and line an address of a file is in.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// For example "arena::load at level.cpp:12"; "" where the debug information does not say.
std::string place_of(std::span<const std::byte> file, std::uint64_t address);

}  // namespace reload::detail
BRAID_NAMESPACE_END
