// expect: The state can go over.
// never: REFUSED
#include <braid/reload/export.hpp>
struct state {
    virtual ~state() = default;
    virtual int kind() { return 1; }
    int a = 1;
#if defined(AFTER)
    int b = 2;
#endif
};
[[gnu::used]] state the_state;
BRAID_RELOAD_TYPE(state)
