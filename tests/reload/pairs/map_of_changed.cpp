// The mover of new elements does not know old ones.
// refused: state::all is a container that is not known here
#include <braid/reload/export.hpp>
#include <map>
struct item {
#if defined(AFTER)
    double weight;
#else
    float weight;
#endif
};
struct state {
    std::map<int, item> all;
};
[[gnu::used]] state the_state;
using map_of_state = std::map<int, item>;
BRAID_RELOAD_TYPE(map_of_state)
