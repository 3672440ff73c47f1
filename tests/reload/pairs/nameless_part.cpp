// expect: moved
// never: REFUSED
struct state {
#if defined(AFTER)
    long more;
#endif
    struct {
        int a, b;
    } place;
};
[[gnu::used]] state the_state;
