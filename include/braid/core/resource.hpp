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
/// What the core keeps of a resource.
struct resource_state {
    runtime& rt;
    const char* name;
    std::uint32_t limit;
    std::uint32_t id;
    detail::mutex line = {};
    std::uint32_t held BRAID_GUARDED_BY(line) = 0;
    // The slots of the tasks that wait, from the oldest to the newest.
    std::uint32_t first BRAID_GUARDED_BY(line) = UINT32_MAX;
    std::uint32_t last BRAID_GUARDED_BY(line) = UINT32_MAX;
};
}  // namespace detail

/// Something that at most `limit` tasks may use at once. A task names its resources in
/// task_options::uses. A task that cannot have a resource waits without holding a thread, and gets
/// it in arrival order (FIFO), or when a chooser says so. A task that needs several resources
/// acquires them in the order of their ids, so that no two tasks hold each other up.
///
/// A task holds a resource from the start to the end of its own work, not of its children. A
/// resource must outlive the tasks that use it.
class resource {
public:
    /// `name` is for messages, and must outlive the resource. `limit` may be any number. A limit of
    /// 0 counts as 1.
    BRAID_API explicit resource(scheduler& s, const char* name = "resource",
                                std::uint32_t limit = 1);
    BRAID_API ~resource();
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;

    const char* name() const { return state_.name; }
    std::uint32_t id() const { return state_.id; }

    /// For the core.
    detail::resource_state& internals() { return state_; }

private:
    detail::resource_state state_;
};

BRAID_NAMESPACE_END
