#pragma once

#include "game_api.hpp"

namespace arena {

/// The stages of a frame, each after all that it follows.
std::span<const stage> frame_table();

}  // namespace arena
