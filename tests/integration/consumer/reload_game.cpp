#include "reload_state.hpp"

#include <braid/reload/export.hpp>

int step(counted& state) {
    ++state.frames;
    return GAME_VALUE;
}
BRAID_RELOAD_EXPORT(step, int(counted&))
