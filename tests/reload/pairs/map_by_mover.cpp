// expect: The state can go over.
#include <braid/reload/export.hpp>
#include <map>
struct state {
    std::map<int, float> all;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
using map_of_state = std::map<int, float>;
BRAID_RELOAD_TYPE(map_of_state)
