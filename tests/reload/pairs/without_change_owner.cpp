// refused: owns an object whose class only its virtual functions know
#include <memory>
#include <vector>
struct item {
    virtual ~item() = default;
    virtual int kind() const {
#if defined(AFTER)
        return 2;
#else
        return 1;
#endif
    }
};
struct state {
    std::vector<std::unique_ptr<item>> all;
};
[[gnu::used]] state the_state;
