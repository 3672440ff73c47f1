// expect: state::a changed
struct state {
#if defined(AFTER)
    int a;
#else
    int a : 9;
#endif
    int b;
};
[[gnu::used]] state the_state;
