#pragma once
// When a lock file beside a module is honoured, and when it was left behind.

#include "reload/platform/platform.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// The rules for one module. A lock that is older than the module proves nothing: every build's is.
class lock_rules {
public:
    enum class verdict : std::uint8_t {
        open,    // there is no lock
        locked,  // somebody writes, or may write
        stale,   // nobody does: the file counts if it passes its checks
    };
    /// `now_ns` and `still_ns`: see modules_options::lock_still.
    verdict look(const std::string& module, std::int64_t now_ns, std::int64_t still_ns);
    /// Takes the lock that was found stale away; says of whom, in a part of a sentence.
    std::string remove(const std::string& module) const;

private:
    platform::lock_state found_;
    platform::file_mark module_;
    std::int64_t still_since_ns_ = 0;
    bool seen_ = false;
};

inline std::string lock_path(const std::string& module) { return module + ".lock"; }

}  // namespace reload::detail
BRAID_NAMESPACE_END
