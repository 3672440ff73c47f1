// expect: state::slots resized int[4] becomes int[2]
struct state {
#if defined(AFTER)
    int slots[2];
#else
    int slots[4];
#endif
};
[[gnu::used]] state the_state;
