// Code that is pointed to is the old one, even where nothing else changes.
// refused: state::act is a function pointer, whose code is the old one
struct state {
    int a;
    void (*act)(int);
};
[[gnu::used]] state the_state;
