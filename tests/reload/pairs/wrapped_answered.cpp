// A path says where a field is now; another one is dropped on purpose.
// expect: state::x renamed is 'place.x' now, offset 0 to offset 8
// expect: state::y dropped was float
// expect: state::place.y added float, zero, without BRAID_RELOAD_TYPE(state)
// expect: The state can go over.
// never: WHICH?
// never: state::place added
// never: state::place.x added
#include <braid/reload/export.hpp>
struct point {
    float x, y;
};
struct state {
#if defined(AFTER)
    long health;
    point place;
#else
    float x, y;
    int health;
#endif
};
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_RENAMED(state, x, place.x)
BRAID_RELOAD_DROPPED(state, y)
#endif
