#include "core/life/resources_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool resources_room::acquire_resources(const life_seat& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    if (d.resources_held == 0) {
        // The order of ids: two tasks never hold what the other lacks.
        std::sort(d.resources, d.resources + d.resource_count,
                  [](const resource* a, const resource* b) { return a->id() < b->id(); });
    }
    while (d.resources_held != d.resource_count) {
        resource& wanted = *d.resources[d.resources_held];
        resource_state& r = wanted.internals();
        {
            const std::lock_guard lock(r.mutex);
            if (r.held == r.limit) {
                slot_at(index).next.store(no_index, relaxed);
                if (r.first == no_index) {
                    r.first = index;
                } else {
                    slot_at(r.last).next.store(index, relaxed);
                }
                r.last = index;
                return false;
            }
            ++r.held;
        }
        ++d.resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(index), &wanted, r.name);
    }
    return true;
}

void resources_room::release_resources(life_seat& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    while (d.resources_held != 0) {
        resource& held = *d.resources[--d.resources_held];
        resource_state& r = held.internals();
        if (observed()) report_resource(w, event_kind::released, id_of(index), &held, r.name);
        std::uint32_t heir = no_index;
        {
            const std::lock_guard lock(r.mutex);
            heir = r.first;
            if (heir == no_index) {
                --r.held;
            } else {
                r.first = slot_at(heir).next.load(relaxed);
                if (r.first == no_index) r.last = no_index;
            }
        }
        if (heir == no_index) continue;
        // Passed on without becoming free in between: first come, first served.
        ++detail_of(slot_at(heir))->resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(heir), &held, r.name);
        if (acquire_resources(w, heir)) enqueue(w, heir);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
