// refused: is a lambda, whose code is the old one
inline auto act = [](int a) { return a + 1; };
struct state {
    decltype(act) run;
    int a;
};
[[gnu::used]] state the_state;
