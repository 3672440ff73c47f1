// Code that is reloaded: HITCH says which build it is. The third has another layout.
#include "hitch_state.hpp"

#include <braid/reload/export.hpp>

#include <span>

namespace hitch {

struct entity {
    std::uint64_t values[8];
};

struct world {
#if HITCH == 3
    std::uint64_t fresh = 0;
#endif
    std::span<entity> all;
    std::uint64_t frames = 0;
};

/// Writes to 1 MiB of the state.
std::uint64_t run(braid::reload::arena& state, std::uint64_t bytes) {
    world& w = state.root<world>("world");
    if (w.all.empty()) {
        w.all = state.make_array<entity>(bytes / sizeof(entity));
        for (entity& one : w.all) one.values[0] = 1;
    }
    const std::size_t count = 1024 * 1024 / sizeof(entity);
    const std::size_t first = w.frames++ * count % w.all.size();
    std::uint64_t sum = 0;
    for (std::size_t i = first; i < first + count; ++i) {
        entity& one = w.all[i % w.all.size()];
        one.values[7] += HITCH;
        sum += one.values[0];
    }
    return sum;
}

BRAID_RELOAD_EXPORT(run, std::uint64_t(braid::reload::arena&, std::uint64_t))
BRAID_RELOAD_TYPE(world)
BRAID_RELOAD_TYPE(entity)

}  // namespace hitch
