#pragma once
// Predicts whether state could migrate from one build of a module to the next, as `braid reload
// plan` does. It is for programs that want to know this before a build is put in place. Part of the
// library braid::reload.

#include "braid/base/status.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload {

struct plan_result {
    /// This is false if a file cannot be read or has no debug information about types, or if there
    /// is no type to compare. Its text says why.
    status readable;
    bool refused = false;
    /// One line for each field that changes and for each static that begins anew, then the reasons
    /// of a refusal or a sentence that says what would be done.
    std::string text;
};

/// Compares the types that the module `before` puts into a reload::arena or names in a
/// BRAID_RELOAD_TYPE, and all types reached from them, with those of the module `after`. If `type`
/// is not empty, only types of that name are compared; the name may stand without its namespaces.
/// Neither file is loaded.
plan_result plan_files(const std::string& before, const std::string& after,
                       const std::string& type = {});

}  // namespace reload
BRAID_NAMESPACE_END
