#pragma once

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstdint>
#include <mutex>

BRAID_NAMESPACE_BEGIN

class scheduler;
namespace detail {
class runtime;
}

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

    const char* name() const { return name_; }
    std::uint32_t id() const { return id_; }

private:
    friend class detail::runtime;
    detail::runtime& rt_;
    const char* name_;
    std::uint32_t limit_;
    std::uint32_t id_;
    std::mutex mutex_;
    std::uint32_t held_ = 0;                                // guarded by mutex_
    std::uint32_t first_ = UINT32_MAX, last_ = UINT32_MAX;  // slots that wait, oldest first
};

BRAID_NAMESPACE_END
