#include "base/topology.hpp"

#include "braid/base/policy.hpp"

#include <algorithm>

#if defined(BRAID_HAS_HWLOC)
#include <hwloc.h>
#endif

BRAID_NAMESPACE_BEGIN

void topology::summarize() {
    fastest = 0;
    levels = 0;
    const processor_place* first = nullptr;
    for (std::uint32_t a = 0; a < capacity; ++a) {
        const processor_place& x = processors[a];
        if (!x.known) continue;
        fastest = std::max(fastest, x.speed);
        if (first == nullptr) first = &x;
        // Being far is transitive: whoever differs from anybody differs from the first or is
        // what the first differs from.
        levels = std::max(levels, distance(static_cast<std::uint32_t>(first - processors), a));
    }
}

std::size_t topology::pin_order(const platform::core_set& allowed, std::uint16_t* order) const {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < capacity; ++i) {
        if ((allowed.words[i / 64] >> i % 64 & 1) != 0) {
            order[count++] = static_cast<std::uint16_t>(i);
        }
    }
    // Which sibling of its core a processor is.
    std::uint8_t sibling[capacity] = {};
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const processor_place& x = processors[order[i]];
            const processor_place& y = processors[order[k]];
            if (x.known && y.known && x.core == y.core) ++sibling[order[i]];
        }
    }
    std::sort(order, order + count, [&](std::uint16_t a, std::uint16_t b) {
        const processor_place& x = processors[a];
        const processor_place& y = processors[b];
        if (x.speed != y.speed) return x.speed > y.speed;
        if (sibling[a] != sibling[b]) return sibling[a] < sibling[b];
        if (x.node != y.node) return x.node < y.node;
        return x.cache != y.cache ? x.cache < y.cache : a < b;
    });
    return count;
}

#if defined(BRAID_HAS_HWLOC)
namespace {

std::uint16_t number_of(hwloc_obj_t object) {
    return object != nullptr ? static_cast<std::uint16_t>(object->logical_index + 1) : 0;
}

/// The last level that the processor shares with others, or may.
hwloc_obj_t last_cache(hwloc_topology_t machine, hwloc_obj_t processor) {
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_PACKAGE}) {
        hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(machine, type, processor);
        if (found != nullptr) return found;
    }
    return nullptr;
}

void describe(hwloc_topology_t machine, topology& into) {
    hwloc_obj_t pu = nullptr;
    while ((pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != nullptr) {
        if (pu->os_index >= topology::capacity) continue;
        processor_place& place = into.processors[pu->os_index];
        place.known = true;
        place.core = number_of(hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu));
        if (place.core == 0) place.core = number_of(pu);
        place.cache = number_of(last_cache(machine, pu));
        place.node = static_cast<std::uint16_t>(hwloc_bitmap_first(pu->nodeset) + 1);
        const int kind = hwloc_cpukinds_get_by_cpuset(machine, pu->cpuset, 0);
        int efficiency = -1;
        if (kind >= 0) {
            hwloc_cpukinds_get_info(machine, static_cast<unsigned>(kind), nullptr, &efficiency,
                                    nullptr, nullptr, 0);
        }
        place.speed = static_cast<std::uint8_t>(std::clamp(efficiency, 0, 255));
    }
}

}  // namespace

bool read_topology(topology& into, const char* synthetic) {
    hwloc_topology_t machine = nullptr;
    if (hwloc_topology_init(&machine) != 0) return false;
    bool ok = synthetic == nullptr || hwloc_topology_set_synthetic(machine, synthetic) == 0;
    ok = ok && hwloc_topology_load(machine) == 0;
    if (ok) describe(machine, into);
    hwloc_topology_destroy(machine);
    into.summarize();
    return ok;
}
#else
bool read_topology(topology&, const char*) { return false; }
#endif

namespace {

// Of the machine, not of a scheduler: written once, by whoever claims it.
topology machine;
atomic<bool> claimed{false};
atomic<const topology*> published{nullptr};

}  // namespace

const topology* known_topology() {
    return published.load(acquire);  // pairs with the release in machine_topology()
}

const topology* machine_topology() {
    if (!claimed.load(relaxed) && !claimed.exchange(true, relaxed) && read_topology(machine)) {
        published.store(&machine, release);  // pairs with known_topology()
    }
    return known_topology();
}

BRAID_NAMESPACE_END
