// expect: state::hp dropped was int
// expect: state::mana added int
// never: WHICH?
#include <braid/reload/export.hpp>
struct state {
#if defined(AFTER)
    int mana;
#else
    int hp;
#endif
    float x;
};
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_DROPPED(state, hp)
#endif
