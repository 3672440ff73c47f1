// refused: hidden is only declared
// expect: REFUSED
struct hidden;
struct state {
#if defined(AFTER)
    long more;
#endif
    hidden* at;
};
[[gnu::used]] state the_state;
