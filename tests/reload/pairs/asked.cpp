// refused: state::hp was dropped, and 'health' of the same type was added
// refused: say in the module BRAID_RELOAD_RENAMED(state, hp, health)
// expect: state::hp WHICH?
struct state {
#if defined(AFTER)
    int health;
#else
    int hp;
#endif
    float x;
};
[[gnu::used]] state the_state;
