// expect: item::weight changed float is widened to double
// expect: The state can go over.
#include <vector>
struct item {
#if defined(AFTER)
    double weight;
#else
    float weight;
#endif
};
struct state {
    std::vector<item> all;
};
[[gnu::used]] state the_state;
