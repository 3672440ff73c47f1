#include "core/seats/placement_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Returns the number of cores that the program may use. If the program sets the number of workers,
/// this does not read the cgroup quota, which takes 20 us.
unsigned cores_for(const scheduler_options& o) {
    return o.workers >= 0 ? platform::mask_cores() : platform::usable_cores(o.system_root);
}

}  // namespace

placement_room::placement_room(const scheduler_options& o) : task_room(o), cores_(cores_for(o)) {
    if (o.worker_threads.pin) creators_cores_ = platform::own_cores();
}

void placement_room::find_places(const topology* machine) {
    // With two cores there is nothing to choose.
    if (cores_ > 2 && machine != nullptr) set_places(machine);
}

int placement_room::core_to_pin_to(const seats_seat& w) const {
    const thread_options& t = options.worker_threads;
    if (!t.pin || w.kind != seat_kind::worker) return -1;
    if (t.first_cpu >= 0) return t.first_cpu + w.number;
    static constexpr topology all_alike;
    const topology* const machine = known_topology();
    std::uint16_t order[topology::capacity];
    const std::size_t count =
        (machine != nullptr ? *machine : all_alike).pin_order(creators_cores_, order);
    const auto before = static_cast<unsigned>(std::max(0, options.main_threads));
    return count != 0 ? order[(before + w.number) % count] : -1;
}

}  // namespace detail
BRAID_NAMESPACE_END
