#pragma once
// Puts a module in place so that no host ever sees a part of it: what `braid reload publish` does,
// for builds that are programs themselves. Of the library braid::reload.

#include "braid/base/status.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Checks the file `staged`, writes its stamp, and renames both to `live`, under `live`.lock, which
/// it waits for. `staged` stays. A status says in a sentence what is wrong, and then `live` is as
/// it was.
status publish(const std::string& staged, const std::string& live);

/// What keeps a file from being reloaded.
struct check_result {
    status readable;                   // false: it is no shared object of this machine
    std::vector<std::string> missing;  // sentences: what it was built without
    std::vector<std::string> exports;  // name and signature of each
};
/// What `braid reload check` shows.
check_result check_file(const std::string& path);

}  // namespace reload
BRAID_NAMESPACE_END
