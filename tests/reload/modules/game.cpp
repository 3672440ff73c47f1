// The module of most tests; GAME_VALUE says which build it is.
#include "world.hpp"

#include <braid/reload/export.hpp>

namespace world {

// Damage to it would not be seen by any table.
constexpr char padding[2048] = "what a module has inside";

// A call of it is moved away from the function that calls it.
[[gnu::cold, gnu::noinline]] int too_many(const input& given) { return given.pressed * 1000; }

int simulate(game& state, const input& given) {
    if (given.pressed > 1000) return too_many(given);
    state.frame += given.pressed;
    return GAME_VALUE + (padding[given.pressed & 1] == '\0' ? 1 : 0);
}

namespace {

int counted() {
    static int calls = 0;
    return ++calls;
}

}  // namespace

using number = int();
number* number_of_build() {
    return [] { return GAME_VALUE; };
}

#if defined(GAME_UNIQUE)
template <class T>
struct __attribute__((visibility("default"))) holder {
    inline static int count = GAME_VALUE;
};
int add(int a, int b) { return a + b + holder<int>::count; }
#else
#if defined(GAME_SHOWS)
__attribute__((visibility("default"))) int shown() { return GAME_VALUE; }
int add(int a, int b) { return a + b + shown(); }
#else
int add(int a, int b) { return a + b; }
#endif
#endif

#if defined(GAME_OTHER_SIGNATURE)
int simulate(game& state, float pressed) { return state.frame + static_cast<int>(pressed); }
BRAID_RELOAD_EXPORT(simulate, int(game&, float))
#else
BRAID_RELOAD_EXPORT(simulate, int(game&, const input&))
#endif
#if !defined(GAME_WITHOUT_ADD)
BRAID_RELOAD_EXPORT(add, int(int, int))
#endif
BRAID_RELOAD_EXPORT(counted, int())
BRAID_RELOAD_EXPORT(number_of_build, number*())
BRAID_RELOAD_TYPE(character)

}  // namespace world
