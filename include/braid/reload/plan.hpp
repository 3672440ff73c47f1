#pragma once
// Whether state could go over from one build of a module to the next: what `braid reload plan`
// shows, for programs that want to know before a build is put in place. Of the library
// braid::reload.

#include "braid/base/status.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload {

struct plan_result {
    /// False: a file cannot be read, or has no debug information about types; says why.
    status readable;
    bool refused = false;
    /// A line for each field that changes, then the reasons of a refusal or a sentence that says
    /// what would be done.
    std::string text;
};

/// Compares the types that both modules put into a reload::arena or name in a BRAID_RELOAD_TYPE,
/// and what is reached from them; `type` not empty: those of that name only, which may stand
/// without its namespaces. Neither file is loaded.
plan_result plan_files(const std::string& before, const std::string& after,
                       const std::string& type = {});

}  // namespace reload
BRAID_NAMESPACE_END
