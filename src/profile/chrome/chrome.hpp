#pragma once
// A capture as trace events in JSON, for chrome://tracing and what else reads them.

#include "profile/export/timeline.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// False: `out` took no more. `progress`, when given, hears the share that is done, 0 to 1.
bool write_chrome(const capture& from, const byte_sink& out,
                  const std::function<void(double)>& progress = {});

}  // namespace profile
BRAID_NAMESPACE_END
