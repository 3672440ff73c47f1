// A struct without a name and a base class add nothing to the path.
// expect: state::health changed int is widened to long
// never: state::x dropped
// never: state::y dropped
// never: WHICH?
#include <braid/reload/export.hpp>
struct point {
    float x;
};
#if defined(AFTER)
struct state : point {
    struct {
        float y;
    };
    long health;
};
#else
struct state {
    int health;
    float x, y;
};
#endif
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_RENAMED(state, x, x)
BRAID_RELOAD_RENAMED(state, y, y)
#endif
