#pragma once
// What host and module of the bench of hitches share.

#include <braid/reload/arena.hpp>

#include <cstdint>

namespace hitch {

/// One frame; returns the sum of what it has read.
using frame = std::uint64_t(braid::reload::arena&, std::uint64_t bytes);

}  // namespace hitch
