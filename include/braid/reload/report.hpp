#pragma once
// What a module hears after it has taken over, in the child of a trial, too.
//
//   void reloaded(const braid::reload::report& went) { … }
//   BRAID_RELOAD_EXPORT(reloaded, void(const braid::reload::report&))

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Plain data; the texts are good during the call.
struct report {
    const char* module;     // its name at the host
    const char* old_build;  // build-ids, in hexadecimal
    const char* new_build;
    std::uint64_t objects;     // of the state that were migrated
    std::uint64_t bytes;       // of those
    std::int64_t boundary_ns;  // what the frame boundary took, from the first look to this call
};

}  // namespace reload
BRAID_NAMESPACE_END
