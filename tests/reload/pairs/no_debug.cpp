// flags: -O1 -g0
// unreadable: has no debug information
struct state {
    int a;
};
[[gnu::used]] state the_state;
