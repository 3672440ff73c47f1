// expect: state::health changed int is widened to long, offset 0 to offset 8
// expect: state::mana changed long is checked to fit int
// expect: state::ratio changed float is widened to double
// expect: state::share changed double is checked to fit float
struct state {
#if defined(AFTER)
    int mana;
    long health;
    double ratio;
    float share;
#else
    int health;
    long mana;
    float ratio;
    double share;
#endif
};
[[gnu::used]] state the_state;
