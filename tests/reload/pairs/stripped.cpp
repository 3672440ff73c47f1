// flags: -O1 -s
// unreadable: has no debug information
struct state {
    int a;
};
[[gnu::used]] state the_state;
