// expect: The state can go over.
#include <tuple>
struct state {
    std::tuple<int, float, char> three;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
