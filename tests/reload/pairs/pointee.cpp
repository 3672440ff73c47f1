// What a pointer leads to is looked at, too.
// expect: world::item::weight changed float is widened to double
namespace world {
struct item {
#if defined(AFTER)
    double weight;
#else
    float weight;
#endif
    item* next;
};
}  // namespace world
struct state {
    world::item* first;
    world::item last[3];
};
[[gnu::used]] state the_state;
