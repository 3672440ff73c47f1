// expect: state::name moved
// expect: state::all moved
// never: REFUSED
#include <span>
#include <string>
struct state {
#if defined(AFTER)
    long first;
#endif
    std::string name;
    std::span<int> all;
};
[[gnu::used]] state the_state;
