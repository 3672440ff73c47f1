// refused: state::one was world::old_item and is world::item; if it is the same type, say
// BRAID_RELOAD_RENAMED_TYPE(world::item, "world::old_item")
namespace world {
#if defined(AFTER)
struct item {
    long weight;
};
#else
struct old_item {
    int weight;
};
using item = old_item;
#endif
}  // namespace world
struct state {
    world::item one;
};
[[gnu::used]] state the_state;
