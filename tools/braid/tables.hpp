#pragma once
// Tables that several commands print.

#include "profile/analysis/report.hpp"

#include <string>

namespace braid::tool {

/// Prints the types with the longest total, at most so many.
void print_types(const profile::history& of, std::size_t most);
/// How the lanes spent that time.
void print_lanes(const profile::history& of, profile::time_span within);
/// Throws a sentence where there are no frames.
void need_frames(const profile::history& of, const std::string& path);

inline double ms(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

}  // namespace braid::tool
