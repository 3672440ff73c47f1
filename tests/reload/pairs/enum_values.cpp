// An enumerator that moved is found by its name.
// expect: The state can go over.
enum class mood {
#if defined(AFTER)
    angry,
    calm
#else
    calm,
    angry
#endif
};
struct state {
    mood feels;
};
[[gnu::used]] state the_state;
