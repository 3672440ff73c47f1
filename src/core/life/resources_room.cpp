#include "core/life/resources_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

/// Takes the resource for the task. Returns false if the task now waits in line for it.
bool take_or_wait(const slot_table& slots, resource_state& r, std::uint32_t index) {
    const locked lock(r.line);
    if (r.held != r.limit) {
        ++r.held;
        return true;
    }
    slots.at(index).next.store(no_index, relaxed);
    if (r.first == no_index) {
        r.first = index;
    } else {
        slots.at(r.last).next.store(index, relaxed);
    }
    r.last = index;
    return false;
}

}  // namespace

/// Removes and returns the task that the chooser picks from the resource's line. Called under the
/// line's lock. The line must not be empty.
std::uint32_t resources_room::take_chosen_heir(resource_state& r) {
    ready_choices& choices = serial->ready();
    choices.begin_offer();
    for (std::uint32_t i = r.first; i != no_index; i = slots.at(i).next.load(relaxed)) {
        choices.offer_other(i, identity(slots.id_of(i)));
    }
    const std::size_t n =
        serial->choose(decision_kind::resource, choices.names(), choices.offered());
    const auto heir = static_cast<std::uint32_t>(choices.id_at(n));
    const std::uint32_t next = slots.at(heir).next.load(relaxed);
    std::uint32_t before = no_index;
    for (std::uint32_t i = r.first; i != heir; i = slots.at(i).next.load(relaxed)) before = i;
    if (before == no_index) {
        r.first = next;
    } else {
        slots.at(before).next.store(next, relaxed);
    }
    if (next == no_index) r.last = before;
    return heir;
}

/// Passes the resource to the first task in line, and returns that task. The resource is not free
/// in between, so no other task can take it. With a chooser, any task in line may get it, because
/// the tasks could have come in another order. If no task waits, frees the resource and returns
/// no_index.
std::uint32_t resources_room::hand_on(resource_state& r) {
    const locked lock(r.line);
    const std::uint32_t heir = r.first;
    if (heir == no_index) {
        --r.held;
        return heir;
    }
    if (serial != nullptr) return take_chosen_heir(r);
    r.first = slots.at(heir).next.load(relaxed);
    if (r.first == no_index) r.last = no_index;
    return heir;
}

bool resources_room::acquire_resources(const life_seat& w, std::uint32_t index) {
    detail_block& d = *details.find(slots.at(index));
    while (d.resources_held != d.resource_count) {
        resource& r = *details.resources_of(d)[d.resources_held];
        if (!take_or_wait(slots, r.internals(), index)) return false;
        ++d.resources_held;
        if (report.observed())
            report.resource(w.index, event_kind::acquired, slots.id_of(index), &r, r.name());
    }
    return true;
}

void resources_room::release_resources(life_seat& w, std::uint32_t index) {
    detail_block& d = *details.find(slots.at(index));
    while (d.resources_held != 0) {
        resource& r = *details.resources_of(d)[--d.resources_held];
        if (report.observed())
            report.resource(w.index, event_kind::released, slots.id_of(index), &r, r.name());
        const std::uint32_t heir = hand_on(r.internals());
        if (heir == no_index) continue;
        ++details.find(slots.at(heir))->resources_held;
        if (report.observed())
            report.resource(w.index, event_kind::acquired, slots.id_of(heir), &r, r.name());
        if (acquire_resources(w, heir)) enqueue(w, heir);
    }
}

task_id resources_room::in_line(resource_state& r, std::uint32_t n) const {
    const locked lock(r.line);
    std::uint32_t i = r.first;
    for (; n != 0 && i != no_index; --n) i = slots.at(i).next.load(relaxed);
    return i != no_index ? slots.id_of(i) : task_id{};
}

bool resources_room::stands_in_line(resource_state& r, std::uint32_t index) const {
    const locked lock(r.line);
    std::uint32_t i = r.first;
    while (i != no_index && i != index) i = slots.at(i).next.load(relaxed);
    return i != no_index;
}

}  // namespace detail
BRAID_NAMESPACE_END
