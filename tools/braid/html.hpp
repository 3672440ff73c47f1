#pragma once

#include "profile/export/timeline.hpp"

namespace braid::tool {

/// The viewer with that capture in it. False: the sink takes no more.
bool write_html(const profile::capture& from, const profile::byte_sink& to,
                const std::function<void(double)>& progress);

}  // namespace braid::tool
