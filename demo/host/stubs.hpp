// What runs while a module has no valid code: a game without stages, and silence.
#pragma once

#include "../game/game_api.hpp"
#include "../game/sound/sound_api.hpp"

namespace arena::host {

game_api stub_game_api();
const sound_api* stub_sound_api();

}  // namespace arena::host
