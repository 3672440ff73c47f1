// expect: The state can go over.
#include <utility>
struct state {
#if defined(AFTER)
    std::pair<long, double> two;
#else
    std::pair<int, float> two;
#endif
};
[[gnu::used]] state the_state;
