// A std::function holds a function pointer, and its type is not known here.
// refused: state::act is a container that is not known here
#include <functional>
struct state {
    std::function<void(int)> act;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
