#pragma once
// Puts a module in place so that no host ever sees a part of it, as `braid reload publish` does. It
// is for builds that are programs themselves. Part of the library braid::reload.

#include "braid/base/status.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload {

/// Checks the file `staged`. Then it waits for the lock `live`.lock and, while it holds that lock,
/// writes copies of the file and its stamp beside `live` and renames both into place. `staged`
/// stays. If something is wrong, the status says so in a sentence, and `live` is as it was.
status publish(const std::string& staged, const std::string& live);

/// What check_file() found out about a file.
struct check_result {
    status readable;                   // false if it is no shared object for this machine
    std::vector<std::string> missing;  // sentences that say what it was built without
    std::vector<std::string> exports;  // name and signature of each
};
/// Checks a file as `braid reload check` does, without loading it.
check_result check_file(const std::string& path);

}  // namespace reload
BRAID_NAMESPACE_END
