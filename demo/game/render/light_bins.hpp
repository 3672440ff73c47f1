#pragma once
// Internal: the lights stage. Which lights can reach something that a screen tile shows.

#include "render/kernels.hpp"

namespace arena {

/// Fills what the kernels need to know of a light, its place on the screen included.
light_source place_light(const point_light& light, const view_setup& view);

/// Lists the lights for one row of tiles; a light's reach against the four sides of each tile.
void bin_lights(const view_setup& view, const light_source* lights, std::uint32_t count,
                std::int32_t tile_row, light_list* lists);

}  // namespace arena
