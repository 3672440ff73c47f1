#pragma once
// Resources that tasks use: which tasks hold a resource, and which tasks wait in line for it.

#include "braid/core/resource.hpp"
#include "core/life/scopes_room.hpp"

#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

class resources_room : public scopes_room {
public:
    using scopes_room::scopes_room;

    std::uint32_t next_resource_id() { return next_resource_.fetch_add(1, relaxed); }
    /// Acquires the task's resources. Returns true if the task holds all that it needs. Otherwise
    /// the task waits in line for the resource that it lacks, and this function is called again
    /// when the task gets that resource.
    bool acquire_resources(const life_seat& w, std::uint32_t index);
    /// Releases the task's resources. The first task in each line gets the resource, and is
    /// enqueued if it lacks nothing more.
    void release_resources(life_seat& w, std::uint32_t index);
    /// Returns the resources that a task holds now. The task must use resources. Its body must be
    /// on a stack, and must stay there while the result is used.
    std::span<resource* const> held_by(const slot& s) const {
        const detail_block& d = details.at(s);
        return details.resources_of(d).first(d.resources_held);
    }
    /// Returns the resources that an open task uses. It must use at least one.
    std::span<resource* const> used_by(const slot& s) const {
        return details.resources_of(details.at(s));
    }
    /// Returns the n-th task in line for the resource, or an empty id. Some task must hold the
    /// resource, because otherwise the program might have destroyed it.
    task_id in_line(resource_state& r, std::uint32_t n) const;
    bool stands_in_line(resource_state& r, std::uint32_t index) const;

private:
    std::uint32_t hand_on(resource_state& r);
    std::uint32_t take_chosen_heir(resource_state& r) BRAID_REQUIRES(r.line);

    atomic<std::uint32_t> next_resource_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
