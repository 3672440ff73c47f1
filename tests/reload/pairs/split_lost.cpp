// flags: -O1 -gsplit-dwarf
// remove: *.dwo
// unreadable: (-gsplit-dwarf), which is not there
struct state {
    int a;
};
[[gnu::used]] state the_state;
