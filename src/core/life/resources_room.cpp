#include "core/life/resources_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

/// False: the task waits in the line for it.
bool take_or_wait(const task_room& tasks, resource_state& r, std::uint32_t index) {
    const std::lock_guard lock(r.mutex);
    if (r.held != r.limit) {
        ++r.held;
        return true;
    }
    tasks.slot_at(index).next.store(no_index, relaxed);
    if (r.first == no_index) {
        r.first = index;
    } else {
        tasks.slot_at(r.last).next.store(index, relaxed);
    }
    r.last = index;
    return false;
}

/// The first in line has it now: it is passed on without becoming free in between. no_index: nobody
/// waits.
std::uint32_t hand_on(const task_room& tasks, resource_state& r) {
    const std::lock_guard lock(r.mutex);
    const std::uint32_t heir = r.first;
    if (heir == no_index) {
        --r.held;
        return heir;
    }
    r.first = tasks.slot_at(heir).next.load(relaxed);
    if (r.first == no_index) r.last = no_index;
    return heir;
}

}  // namespace

bool resources_room::acquire_resources(const life_seat& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    if (d.resources_held == 0) {
        // The order of ids: two tasks never hold what the other lacks.
        std::sort(d.resources, d.resources + d.resource_count,
                  [](const resource* a, const resource* b) { return a->id() < b->id(); });
    }
    while (d.resources_held != d.resource_count) {
        resource& r = *d.resources[d.resources_held];
        if (!take_or_wait(*this, r.internals(), index)) return false;
        ++d.resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(index), &r, r.name());
    }
    return true;
}

void resources_room::release_resources(life_seat& w, std::uint32_t index) {
    detail_block& d = *detail_of(slot_at(index));
    while (d.resources_held != 0) {
        resource& r = *d.resources[--d.resources_held];
        if (observed()) report_resource(w, event_kind::released, id_of(index), &r, r.name());
        const std::uint32_t heir = hand_on(*this, r.internals());
        if (heir == no_index) continue;
        ++detail_of(slot_at(heir))->resources_held;
        if (observed()) report_resource(w, event_kind::acquired, id_of(heir), &r, r.name());
        if (acquire_resources(w, heir)) enqueue(w, heir);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
