// refused: state::flags is a container that is not known here
#include <vector>
struct state {
    std::vector<bool> flags;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
