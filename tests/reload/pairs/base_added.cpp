// expect: state::named added named
// expect: state::x moved
struct named {
    int id;
};
#if defined(AFTER)
struct state : named {
#else
struct state {
#endif
    float x;
};
[[gnu::used]] state the_state;
[[gnu::used]] named other;
