// expect: state::any moved
// never: REFUSED
struct state {
#if defined(AFTER)
    long more;
#endif
    void* any;
};
[[gnu::used]] state the_state;
