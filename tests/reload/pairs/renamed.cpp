// expect: state::hp renamed is 'health' now
// never: WHICH?
#include <braid/reload/export.hpp>
struct state {
#if defined(AFTER)
    int health;
#else
    int hp;
#endif
    float x;
};
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_RENAMED(state, hp, health)
#endif
