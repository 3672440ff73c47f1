#pragma once
// Internal: the geometry stage. Vertices to the screen, triangles clipped, culled and sorted into
// the bins of the tiles that they may touch.

#include <cstdint>
#include <span>

#include "render/kernels.hpp"
#include "render/scene.hpp"
#include "render/scratch_array.hpp"

namespace arena {

/// A draw command or a piece of the arena.
struct geometry_item {
    const skinned_vertex* vertices;
    std::uint32_t vertex_count;
    const std::uint32_t* indices;
    std::uint32_t triangle_count;
    const rgba8* colors;  ///< per triangle, or null
    rgba8 tint;
    material kind;
};

/// One part of the stage: its own vertices, triangles and bins, kept from frame to frame. Merging
/// parts is reading them in order, since parts are ranges of items in order.
class geometry_part {
public:
    void run(const view_setup& view, std::span<const geometry_item> items);

    geometry_output output() const;
    std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(vertices_.size()); }
    std::uint32_t triangle_count() const { return static_cast<std::uint32_t>(triangles_.size()); }
    std::uint32_t entry_count() const { return static_cast<std::uint32_t>(found_.size()); }

private:
    struct bin_entry {
        std::uint32_t tile;
        std::uint32_t triangle;
    };

    struct pixel_box;

    void draw(const view_setup& view, const geometry_item& item);
    void bin(const view_setup& view, const geometry_item& item, std::uint32_t triangle,
             const std::uint32_t (&vertex)[3], const pixel_box& box);
    void clip(const view_setup& view, const geometry_item& item, std::uint32_t triangle);
    void sort_bins(const view_setup& view);

    scratch_array<screen_vertex> vertices_;
    scratch_array<binned_triangle> triangles_;
    scratch_array<bin_entry> found_;        ///< in drawing order
    scratch_array<std::uint32_t> entries_;  ///< triangles, by tile, then in drawing order
    scratch_array<std::uint32_t> offsets_;  ///< tiles + 1
};

}  // namespace arena
