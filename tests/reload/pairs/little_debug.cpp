// flags: -O1
// before: -g1
// unreadable: describes no types: build it with -g, not -g1
// compiler: g++
struct state {
    int a;
};
[[gnu::used]] state the_state;
