#pragma once
// Resources that tasks use: who has one, who waits in line.

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
    /// True when the task holds all it needs. Otherwise it lies in the line of the one that it
    /// lacks and comes back here when that one is granted.
    bool acquire_resources(const life_seat& w, std::uint32_t index);
    /// The first in each line gets what is released, and is enqueued if it lacks nothing more.
    void release_resources(life_seat& w, std::uint32_t index);
    /// What such a task holds, while its body is on a stack and stays there.
    std::span<resource* const> held_by(const slot& s) const {
        const detail_block& d = its_detail(s);
        return resources_in(d).first(d.resources_held);
    }
    /// What an open task uses that uses some.
    std::span<resource* const> used_by(const slot& s) const { return resources_in(its_detail(s)); }
    /// The n-th that waits for it, or an empty id. The resource is held, or it might be gone.
    task_id in_line(resource_state& r, std::uint32_t n) const;
    bool stands_in_line(resource_state& r, std::uint32_t index) const;

private:
    std::uint32_t hand_on(resource_state& r);
    std::uint32_t take_chosen_heir(resource_state& r) BRAID_REQUIRES(r.line);

    atomic<std::uint32_t> next_resource_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
