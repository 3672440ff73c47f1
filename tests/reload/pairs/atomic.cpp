// expect: The state can go over.
#include <atomic>
struct state {
#if defined(AFTER)
    long more;
#endif
    std::atomic<int> count;
};
[[gnu::used]] state the_state;
