// expect: state::a changed unsigned int : 3 becomes unsigned int : 5
// expect: state::b moved offset 0, bit 3 to offset 0, bit 5
struct state {
#if defined(AFTER)
    unsigned a : 5;
    unsigned b : 2;
#else
    unsigned a : 3;
    unsigned b : 2;
#endif
};
[[gnu::used]] state the_state;
