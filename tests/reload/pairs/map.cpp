// refused: this line in the module lets it go over by its own mover:
// BRAID_RELOAD_TYPE(std::map<int, float,
#include <map>
struct state {
    std::map<int, float> all;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
