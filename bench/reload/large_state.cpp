// The state of a large module: 100 lists of as many types, which are reached from one. LARGE says
// which build it is; the second has another layout.
#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>

#include <utility>
#include <vector>

namespace large {

template <int N>
struct entity {
#if LARGE == 2
    double speed = N;
#endif
    float x = 0, y = 0;
    int health = N;
    entity* target = nullptr;
};

template <int N>
struct list {
    std::vector<entity<N>> all;
};
template <class Numbers>
struct lists;
template <int... N>
struct lists<std::integer_sequence<int, N...>> : list<N>... {};

struct world {
    lists<std::make_integer_sequence<int, 100>> all;
    std::uint64_t frames = 0;
};

std::uint64_t run(braid::reload::arena& state) { return ++state.root<world>("world").frames; }

BRAID_RELOAD_EXPORT(run, std::uint64_t(braid::reload::arena&))
BRAID_RELOAD_TYPE(world)

}  // namespace large
