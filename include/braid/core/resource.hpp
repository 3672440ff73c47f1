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
    // Slots that wait, oldest first.
    std::uint32_t first BRAID_GUARDED_BY(line) = UINT32_MAX;
    std::uint32_t last BRAID_GUARDED_BY(line) = UINT32_MAX;
};
}  // namespace detail

/// Something that at most `limit` tasks may use at once. Named in task_options::uses: a task that
/// cannot have it waits without holding a thread and gets it in arrival order (FIFO), or as a
/// chooser says. A task that needs several acquires them in the order of their ids, so that no two
/// tasks hold each other up.
/// Held from the start to the end of the task's own work, not of its children.
/// Must outlive the tasks that use it.
class resource {
public:
    /// `name` for messages; outlives the resource. `limit`: any number; 0 counts
    /// as 1.
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
