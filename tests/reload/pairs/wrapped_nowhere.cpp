// Lines that cannot be followed.
// refused: state::x has no new place: there is no 'place.z' in state, as
// refused: as BRAID_RELOAD_RENAMED(state, x, place.z) says
// refused: state has no 'w', as BRAID_RELOAD_RENAMED(state, w, place.y) says, and its 'y' goes
// in program: state REFUSED has no 'w', as BRAID_RELOAD_RENAMED(state, w, place.y) says, and its
// 'y' goes
#include <braid/reload/export.hpp>
struct point {
    float x, y;
};
struct state {
#if defined(AFTER)
    point place;
#else
    float x, y;
#endif
    int health;
};
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_RENAMED(state, x, place.z)
BRAID_RELOAD_RENAMED(state, w, place.y)
#endif
