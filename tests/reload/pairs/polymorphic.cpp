// refused: has virtual functions, so each object is built anew; this line in the module says how:
// BRAID_RELOAD_TYPE(state)
struct state {
    virtual ~state() = default;
    virtual int kind() { return 1; }
    int a = 1;
};
[[gnu::used]] state the_state;
