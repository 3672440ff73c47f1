#pragma once

#include "braid/base/export.hpp"
#include "braid/base/mutex.hpp"
#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class scheduler;
namespace detail {
class runtime;
}

namespace detail {
/// The internal data of a resource.
struct resource_state {
    runtime& rt;
    const char* name;
    std::uint32_t limit;
    std::uint32_t id;
    detail::mutex line = {};
    std::uint32_t held BRAID_GUARDED_BY(line) = 0;
    // The waiting tasks form a list of slots, from the oldest (`first`) to the newest (`last`).
    std::uint32_t first BRAID_GUARDED_BY(line) = UINT32_MAX;
    std::uint32_t last BRAID_GUARDED_BY(line) = UINT32_MAX;
};
}  // namespace detail

/// A resource is something that at most `limit` tasks may use at the same time. A task lists its
/// resources in task_options::uses. If a resource is not free, the task waits without holding a
/// thread. Waiting tasks get the resource in the order in which they arrived (FIFO), or in the
/// order that a chooser decides. A task that needs several resources acquires them in the order of
/// their ids, so that no two tasks block each other.
///
/// A task holds a resource from the start to the end of its own work. It does not hold the resource
/// until its children are complete. A resource must outlive the tasks that use it.
class resource {
public:
    /// `name` appears in messages, and must outlive the resource. `limit` may be any number; 0
    /// means 1.
    BRAID_API explicit resource(scheduler& s, const char* name = "resource",
                                std::uint32_t limit = 1);
    BRAID_API ~resource();
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;

    const char* name() const { return state_.name; }
    std::uint32_t id() const { return state_.id; }

    /// Internal access for the core; programs do not need it.
    detail::resource_state& internals() { return state_; }

private:
    detail::resource_state state_;
};

BRAID_NAMESPACE_END
