// With types in units of their own the arena's class is a declaration, which names what it holds.
// type: -
// compiler: g++
// flags: -O0 -gdwarf-4 -fdebug-types-section
// expect: city::street::lamps changed int is widened to long
// expect: city::house::rooms moved
#include <braid/reload/arena.hpp>
namespace city {
struct street {
#if defined(AFTER)
    long lamps;
#else
    int lamps;
#endif
};
struct house {
#if defined(AFTER)
    long more;
#endif
    int rooms;
};
__attribute__((visibility("default"))) void step(braid::reload::arena& state) {
    if (++state.root<street>("street").lamps == 1) (void)state.make_array<house>(10);
}
}  // namespace city
