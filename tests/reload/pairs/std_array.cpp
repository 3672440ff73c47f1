// A std::array is an array in a struct.
// expect: state::slots changed std::array<int, 3> becomes std::array<int, 5>
// expect: resized int[3] becomes int[5]
#include <array>
struct state {
#if defined(AFTER)
    std::array<int, 5> slots;
#else
    std::array<int, 3> slots;
#endif
};
[[gnu::used]] state the_state;
