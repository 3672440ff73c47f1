#pragma once
// A module that exports `reloaded` receives a report after its code has replaced other code. This
// happens after a reload, after a boundary has gone back to the module's previous code, and in the
// child process of a trial.
//
//   void reloaded(const braid::reload::report& went) { … }
//   BRAID_RELOAD_EXPORT(reloaded, void(const braid::reload::report&))

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Describes one reload of a module. The texts are valid during the call of `reloaded`.
struct report {
    const char* module;        // module_options::name
    const char* old_build;     // build-id of the replaced code, in hexadecimal
    const char* new_build;     // build-id of the new code, in hexadecimal
    std::uint64_t objects;     // number of objects that the boundary migrated
    std::uint64_t bytes;       // size of these objects, in bytes
    std::int64_t boundary_ns;  // duration of the boundary until `reloaded` is called, in ns
};

}  // namespace reload
BRAID_NAMESPACE_END
