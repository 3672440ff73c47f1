// refused: state::which is a pointer to a member
struct item {
    int a, b;
};
struct state {
    int item::* which;
    int a;
};
[[gnu::used]] state the_state;
