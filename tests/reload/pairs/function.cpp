// A std::function holds code of the module that filled it.
// refused: state::act keeps code of the module that filled it
#include <functional>
struct state {
    std::function<void(int)> act;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
