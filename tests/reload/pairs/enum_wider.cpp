// expect: The state can go over.
#if defined(AFTER)
enum class mood : long { calm, angry };
#else
enum class mood : char { calm, angry };
#endif
struct state {
    mood feels;
    char more;
};
[[gnu::used]] state the_state;
