// refused: owns an object whose class only its virtual functions know
#include <memory>
struct item {
    virtual ~item() = default;
    int a = 0;
};
struct state {
    std::unique_ptr<item> own;
#if defined(AFTER)
    int more;
#endif
};
[[gnu::used]] state the_state;
