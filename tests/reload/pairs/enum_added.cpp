// Values that stay where they are need nothing.
// expect: stays where it is
enum class mood {
    calm,
    angry,
#if defined(AFTER)
    glad,
#endif
};
struct state {
    mood feels;
};
[[gnu::used]] state the_state;
