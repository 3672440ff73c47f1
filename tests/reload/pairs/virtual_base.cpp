// refused: has a virtual base class, 'common'
struct common {
    int a;
};
struct state : virtual common {
#if defined(AFTER)
    long b;
#else
    int b;
#endif
};
[[gnu::used]] state the_state;
