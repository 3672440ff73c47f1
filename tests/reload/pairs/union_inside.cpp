// refused: state::any is a union, of which nothing says which member it holds: write a field for
// refused: each of its members in its place: int i; float f[2]; int low : 3;
union number {
    int i;
    float f[2];
    int low : 3;
};
struct state {
    number any;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
