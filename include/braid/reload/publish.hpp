#pragma once
// Puts a module's file in place so that no host ever sees an incomplete file. The command `braid
// reload publish` does the same. Use this header if your own program builds the modules. This
// header is part of the library braid::reload.

#include "braid/base/status.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Checks the file `staged` and then waits for the lock file `live`.lock. While publish() holds the
/// lock, it writes copies of the file and of its stamp beside `live` and renames both copies into
/// place. The file `staged` is not changed. If a step fails, the status describes the failure, and
/// the file `live` is unchanged.
status publish(const std::string& staged, const std::string& live);

/// The result of check_file().
struct check_result {
    status readable;                   // false if the file is no valid module
    std::vector<std::string> missing;  // one sentence for each problem with the build
    std::vector<std::string> exports;  // "name: signature" of each export
};
/// Checks the module file `path` like the command `braid reload check`, without loading the file.
/// `readable` is false if the file cannot be read, is no shared object for this machine, or has
/// export records that are damaged or have another format.
check_result check_file(const std::string& path);

}  // namespace reload
BRAID_NAMESPACE_END
