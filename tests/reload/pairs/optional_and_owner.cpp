// expect: item::weight changed float is widened to double
// expect: The state can go over.
#include <memory>
#include <optional>
struct item {
#if defined(AFTER)
    double weight;
#else
    float weight;
#endif
};
struct state {
    std::optional<item> maybe;
    std::unique_ptr<item> own;
};
[[gnu::used]] state the_state;
