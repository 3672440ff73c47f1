// A field in front moves the others.
// expect: state::x moved offset 0 to offset 4
// expect: state::first added int, zero, without BRAID_RELOAD_TYPE(state)
// expect: The state can go over.
struct state {
#if defined(AFTER)
    int first;
#endif
    float x, y;
};
[[gnu::used]] state the_state;
