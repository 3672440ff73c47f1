// expect: state::other moved
// in program: -
struct item {
    int a;
};
struct state {
#if defined(AFTER)
    long more;
#endif
    item& other;
};
[[gnu::used]] item the_item;
[[gnu::used]] state the_state{
#if defined(AFTER)
    1,
#endif
    the_item};
