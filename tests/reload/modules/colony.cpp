// A module that keeps its state in an arena.
#include "colony.hpp"

#include <braid/reload/export.hpp>

namespace colony {

namespace reload = braid::reload;

constexpr std::size_t count = 100;

nest& nest_of(reload::arena& state) {
    nest& n = state.root<nest>("nest");
    if (n.ants.empty()) {
        n.ants = state.make_array<ant>(count);
        for (std::size_t i = 0; i < count; ++i) n.ants[i].next = &n.ants[(i + 1) % count];
        n.queen = &n.ants[7];
    }
    return n;
}

int step(reload::arena& state) {
    nest& n = nest_of(state);
    energy_of(*n.queen) += 10;
    n.queen = n.queen->next;
    return ++n.steps;
}

/// The sum of all, in the order of the ring from the queen.
long energy(reload::arena& state) {
    const nest& n = nest_of(state);
    const ant* at = n.queen;
    long sum = 0;
    for (std::size_t i = 0; i < n.ants.size(); ++i, at = at->next) {
        sum += static_cast<long>(energy_of(*at)) * static_cast<long>(i + 1);
    }
    return at == n.queen ? sum : -1;
}

float extra(reload::arena& state) {
#if COLONY == 2
    const nest& n = nest_of(state);
    return static_cast<float>(n.food) + n.queen->speed;
#elif COLONY == 7
    return nest_of(state).queen->own.speed;
#else
    return nest_of(state).queen == nullptr ? -1.0f : 0.0f;
#endif
}

BRAID_RELOAD_EXPORT(step, int(reload::arena&))
BRAID_RELOAD_EXPORT(energy, long(reload::arena&))
BRAID_RELOAD_EXPORT(extra, float(reload::arena&))
BRAID_RELOAD_TYPE(nest)
BRAID_RELOAD_TYPE(ant)
#if COLONY == 7
BRAID_RELOAD_RENAMED(ant, energy, own.energy)
#endif

}  // namespace colony
