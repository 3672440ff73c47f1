#pragma once

#include "game_code.hpp"
#include "options.hpp"
#include "world.hpp"

namespace arena::host {

/// Runs the frames off screen, serial and parallel in turn, prints tables, writes reports. The exit
/// status: 0, or 1 when the hashes differ.
int run_headless(const options& wish, const model_blocks& models, game_code& code);

/// Where the camera looks from in a frame of a run without a user.
game_input scripted_input(std::uint64_t frame);

}  // namespace arena::host
