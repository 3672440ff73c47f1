// expect: state::feels changed mood becomes int
enum class mood { calm, angry };
struct state {
#if defined(AFTER)
    int feels;
#else
    mood feels;
#endif
    mood other;
};
[[gnu::used]] state the_state;
