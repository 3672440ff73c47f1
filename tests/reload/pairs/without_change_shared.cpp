// refused: keeps code of the module that filled it
#include <memory>
struct state {
    std::shared_ptr<int> held;
};
[[gnu::used]] state the_state;
[[gnu::used]] void fill() { the_state.held = std::make_shared<int>(1); }
