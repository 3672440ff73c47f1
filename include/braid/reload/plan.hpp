#pragma once
// Predicts whether state can migrate from one build of a module to the next. The command `braid
// reload plan` makes the same prediction. A program can call plan_files() before it puts a new
// build in place. This header is part of the library braid::reload.

#include "braid/base/status.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload {

struct plan_result {
    /// `readable` is false if a file cannot be read, if a file has no debug information about
    /// types, or if there is no type to compare. `readable.text` is the reason.
    status readable;
    bool refused = false;
    /// The text has one line for each field that changes and one line for each static variable that
    /// starts again with its initial value. After these lines, the text lists the reasons for a
    /// refusal, or describes in a sentence what a migration would do.
    std::string text;
};

/// Compares the types of the state in two builds of a module. `before` and `after` are the paths of
/// their files. The types of the state are the types that `before` puts into a reload::arena or
/// declares with BRAID_RELOAD_TYPE, and all types that can be reached from them. If `type` is not
/// empty, the comparison starts only from types with that name. The name may omit namespaces.
/// plan_files() reads both files but runs no code from them.
plan_result plan_files(const std::string& before, const std::string& after,
                       const std::string& type = {});

}  // namespace reload
BRAID_NAMESPACE_END
