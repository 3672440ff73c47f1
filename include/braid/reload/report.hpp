#pragma once
// What a module receives after its code has replaced other code. This includes the child of a trial
// and the way back.
//
//   void reloaded(const braid::reload::report& went) { … }
//   BRAID_RELOAD_EXPORT(reloaded, void(const braid::reload::report&))

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Plain data. The texts are valid during the call.
struct report {
    const char* module;     // the name that the host gave it
    const char* old_build;  // build-ids, in hexadecimal
    const char* new_build;
    std::uint64_t objects;     // migrated objects of the state
    std::uint64_t bytes;       // size of these objects
    std::int64_t boundary_ns;  // duration of the frame boundary up to this call
};

}  // namespace reload
BRAID_NAMESPACE_END
