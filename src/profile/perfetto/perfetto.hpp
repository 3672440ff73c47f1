#pragma once
// A capture in Perfetto's own format, for ui.perfetto.dev and its trace processor.

#include "profile/export/timeline.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// False: `out` took no more. `progress`, when given, hears the share that is done, 0 to 1.
bool write_perfetto(const capture& from, const byte_sink& out,
                    const std::function<void(double)>& progress = {});

}  // namespace profile
BRAID_NAMESPACE_END
