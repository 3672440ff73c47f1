// refused: state is not described by the debug information of the new code
// in program: -
#if !defined(AFTER)
struct state {
    int a;
};
[[gnu::used]] state the_state;
#else
struct other {
    int a;
};
[[gnu::used]] other the_other;
#endif
