// Nothing changes, so nothing moves.
// expect: No type of the state changes: it stays where it is.
struct state {
    int a;
    state* next;
    union {
        int i;
        float f;
    } any;
};
[[gnu::used]] state the_state;
#if defined(AFTER)
[[gnu::used]] int more;
#endif
