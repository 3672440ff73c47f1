// refused: is a container that is not known here
#include <variant>
struct state {
    std::variant<int, float> any;
#if defined(AFTER)
    long more;
#endif
};
[[gnu::used]] state the_state;
