// refused: is a union
struct state {
#if defined(AFTER)
    long more;
#endif
    union {
        int i;
        float f;
    };
};
[[gnu::used]] state the_state;
