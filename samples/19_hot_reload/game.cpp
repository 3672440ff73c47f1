// The module of sample 19: it knows nothing of the program that loads it. While that one runs,
// change `bounce` and build again: cmake --build --preset dev --target sample_game
#include "game.hpp"

#include <braid/reload/export.hpp>

namespace {

constexpr float gravity = -9.81f;
constexpr float bounce = 0.8f;

void simulate(ball& b, float seconds) {
    b.speed += gravity * seconds;
    b.height += b.speed * seconds;
    if (b.height < 0 && b.speed < 0) {
        b.height = 0;
        b.speed = -b.speed * bounce;
    }
}

}  // namespace

BRAID_RELOAD_EXPORT(simulate, void(ball&, float))
BRAID_RELOAD_TYPE(ball)
