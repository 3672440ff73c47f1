// expect: state::old dropped was double
struct state {
#if !defined(AFTER)
    double old;
#endif
    int a;
};
[[gnu::used]] state the_state;
