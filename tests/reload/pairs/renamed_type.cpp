// expect: world::old_item renamed is world::item now
// type: state
#include <braid/reload/export.hpp>
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
    world::item* more;
};
[[gnu::used]] state the_state;
#if defined(AFTER)
BRAID_RELOAD_RENAMED_TYPE(world::item, "world::old_item")
#endif
