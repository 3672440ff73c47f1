#include "reload/watch/lock_rules.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

lock_rules::verdict lock_rules::look(const std::string& module, std::int64_t now_ns,
                                     std::int64_t still_ns) {
    const platform::lock_state lock = platform::look_at_lock(lock_path(module));
    platform::file_mark file;
    platform::look_at(module, file);
    const bool same = seen_ && lock.mark == found_.mark && file == module_;
    if (!same) still_since_ns_ = now_ns;
    seen_ = lock.owner == platform::lock_owner::unknown;
    found_ = lock;
    module_ = file;
    switch (lock.owner) {
        case platform::lock_owner::none:
            return verdict::open;
        case platform::lock_owner::dead:
            return verdict::stale;
        case platform::lock_owner::unknown:
            return now_ns - still_since_ns_ >= still_ns ? verdict::stale : verdict::locked;
        case platform::lock_owner::holds:
        case platform::lock_owner::alive:
            break;
    }
    return verdict::locked;
}

std::string lock_rules::remove(const std::string& module) const {
    platform::remove_lock(lock_path(module), found_.mark);
    const std::string whose =
        found_.owner == platform::lock_owner::dead
            ? " of process " + std::to_string(found_.process) + ", which has ended"
            : ", which nobody owns";
    return "the lock '" + lock_path(module) + "'" + whose + ", was removed";
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
