// The module of sample 20. It is built twice: as it was in the morning, and as it is in the
// afternoon, when an ant has another field and the others lie elsewhere.
#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>

namespace colony {

namespace reload = braid::reload;

#ifdef AFTERNOON
struct ant {
    float energy = 5;
    long steps = 0;
    ant* follows = nullptr;
};
#else
struct ant {
    ant* follows = nullptr;
    int steps = 0;
};
#endif

struct nest {
    std::span<ant> ants;
};

nest& nest_of(reload::arena& state) {
    nest& all = state.root<nest>("nest");  // made by the first call
    if (!all.ants.empty()) return all;
    all.ants = state.make_array<ant>(100);
    for (std::size_t i = 1; i < all.ants.size(); ++i) all.ants[i].follows = &all.ants[i - 1];
    return all;
}

void step(reload::arena& state) {
    for (ant& one : nest_of(state).ants) ++one.steps;
}

// How far the first ant has come, which the last one finds by following.
long steps(reload::arena& state) {
    const ant* first = &nest_of(state).ants.back();
    while (first->follows != nullptr) first = first->follows;
    return first->steps;
}

float energy(reload::arena& state) {
#ifdef AFTERNOON
    float sum = 0;
    for (const ant& one : nest_of(state).ants) sum += one.energy;
    return sum;
#else
    static_cast<void>(state);
    return 0;
#endif
}

BRAID_RELOAD_EXPORT(step, void(reload::arena&))
BRAID_RELOAD_EXPORT(steps, long(reload::arena&))
BRAID_RELOAD_EXPORT(energy, float(reload::arena&))
BRAID_RELOAD_TYPE(ant)
BRAID_RELOAD_TYPE(nest)

}  // namespace colony
