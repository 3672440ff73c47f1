// refused: keeps code of the module that filled it
#include <functional>
struct state {
    std::function<void(int)> act;
};
[[gnu::used]] state the_state;
