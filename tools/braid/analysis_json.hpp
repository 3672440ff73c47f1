#pragma once
// What an analysis says to the viewer; docs/design/profile.md has the fields.

#include "profile/analysis/report.hpp"

#include <optional>
#include <string>

namespace braid::tool {

/// All frames, or that one only.
std::string analysis_json(const profile::history& of, std::optional<std::size_t> frame = {});

/// The numbers of cores that reports ask about.
inline constexpr unsigned asked_cores[] = {1, 2, 4, 8, 16};

}  // namespace braid::tool
