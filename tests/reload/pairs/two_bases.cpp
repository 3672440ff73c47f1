// expect: right::b moved
// never: state::left
struct left {
    int a;
};
struct right {
#if defined(AFTER)
    long fresh;
#endif
    int b;
};
struct state : left, right {
    int c;
};
[[gnu::used]] state the_state;
