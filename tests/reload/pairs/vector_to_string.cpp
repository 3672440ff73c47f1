// refused: which do not become each other
#include <string>
#include <vector>
struct state {
#if defined(AFTER)
    std::string all;
#else
    std::vector<char> all;
#endif
};
[[gnu::used]] state the_state;
