// expect: state::speed added float, from the constructor
#include <braid/reload/export.hpp>
struct state {
    int a = 1;
#if defined(AFTER)
    float speed = 3;
#endif
};
[[gnu::used]] state the_state;
BRAID_RELOAD_TYPE(state)
