// The types come from what the code does with its arena.
// type: -
// expect: nest::steps changed int is widened to long
// expect: ant::energy moved
#include <braid/reload/arena.hpp>
struct ant {
#if defined(AFTER)
    long more;
#endif
    int energy;
};
struct nest {
#if defined(AFTER)
    long steps;
#else
    int steps;
#endif
};
__attribute__((visibility("default"))) void step(braid::reload::arena& state) {
    if (++state.root<nest>("nest").steps == 1) (void)state.make_array<ant>(10);
}
