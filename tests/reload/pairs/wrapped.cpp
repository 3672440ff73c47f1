// Fields that move into a struct would be lost, so each is a question.
// refused: state::x was dropped, and 'place.x' of the same type was added: say in the module
// refused: BRAID_RELOAD_RENAMED(state, x, place.x) if it is the same field, else
// refused: BRAID_RELOAD_DROPPED(state, x)
// refused: BRAID_RELOAD_RENAMED(state, y, place.y)
// expect: state::x WHICH?
// expect: state::place added point
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
