#pragma once

#include "game_code.hpp"
#include "options.hpp"
#include "world.hpp"

namespace arena::host {

/// Whether a window can be opened.
bool has_display();

/// Runs in a window until it is closed (or for options::frames frames). The exit status.
int run_window(const options& wish, const model_blocks& models, game_code& code);

}  // namespace arena::host
