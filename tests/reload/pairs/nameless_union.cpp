// refused: is a union, of which nothing says which member it holds: write a field for each
// refused: of its members in its place: int i; float f;
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
