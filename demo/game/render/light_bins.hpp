#pragma once
// The lights stage: which lights can reach something that a screen tile shows.

#include "render/kernels.hpp"

#include <span>

namespace arena {

/// Fills what the kernels need to know of a light, its place on the screen included.
light_source place_light(const point_light& light, const view_setup& view);

/// Planes through the eye and the sides of a tile; normals point inwards, the fourth component is
/// unused.
struct tile_sides {
    float normal[4][4];
};
tile_sides sides_of(const view_setup& view, std::int32_t column, std::int32_t row);

/// What of a light the sides of a tile are compared with.
struct seen_light {
    float from_eye[3];
    float radius;
    float depth;
    float unused[3];
};
seen_light look_at(const light_source& light, const view_setup& view);

/// The lights whose reach meets the tile. Sums and products only, in an order that other processors
/// keep, too.
void list_lights(const tile_sides& sides, std::span<const seen_light> lights, light_list& list);

}  // namespace arena
