// refused: state::any is a union, of which nothing says which member it holds: write a field for
// each of its members in its place: int i; float f;
union number {
    int i;
    float f;
};
struct state {
    number any;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
