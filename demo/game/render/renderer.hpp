#pragma once
// A deterministic software renderer whose work is cut into stages of independent parts, so that
// any task system can run it. The picture depends on the input alone: not on threads, not on the
// order in which the parts of a stage run, not on the vector unit in use.
//
//   begin_frame ──┬─► lights ────┐
//                 ├─► floor ─────┼─► tiles ─► resolve ─► hash
//                 └─► geometry ──┘
//
// lights     which lights reach which screen tile
// floor      dynamic light map of the floor: lights, shadows of characters, contacts
// geometry   transform, clip, cull, bin triangles; a part takes a range of draw commands
// tiles      rasterise and shade one screen tile
// resolve    smooth edges, paint the UI; a part is a strip of rows
// hash       hash of a strip of the finished picture

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "render/scene.hpp"

namespace arena {

enum class render_stage : std::uint8_t { lights, floor, geometry, tiles, resolve, hash };

constexpr render_stage all_render_stages[] = {render_stage::lights,   render_stage::floor,
                                              render_stage::geometry, render_stage::tiles,
                                              render_stage::resolve,  render_stage::hash};

std::string_view name(render_stage stage);

struct renderer_options {
    std::uint32_t width = 1280;  ///< 64 … 4096
    std::uint32_t height = 720;  ///< 64 … 4096
    /// Draw floor, walls and props of the arena; without it only what frame_input lists.
    bool draw_arena = true;
    bool smooth_edges = true;
    /// Use the plain kernels even where the machine has AVX2. The picture is the same.
    bool portable_kernels = false;
};

struct tile_sides;  // light_bins.hpp
struct seen_light;
struct light_list;
struct light_work {
    std::span<const tile_sides> sides;  ///< of each tile
    std::span<const seen_light> lights;
    std::span<light_list> lists;  ///< for each tile
};

class renderer {
public:
    /// Generates the arena and bakes its light (tens of milliseconds, allocates).
    explicit renderer(const renderer_options& options = {});
    ~renderer();

    renderer(const renderer&) = delete;
    renderer& operator=(const renderer&) = delete;

    /// Starts a frame; one thread, while no part runs. Keeps the views of `input` until the frame's
    /// last part has run. Cheap: balances the geometry parts, nothing per triangle.
    /// Vertices, indices and normals may still change until `floor` and `geometry` start; sizes,
    /// bounds, lights and camera may not.
    void begin_frame(const frame_input& input);

    /// How many parts `stage` has in this frame; fixed by begin_frame. At least 1.
    std::uint32_t parts(render_stage stage) const;

    /// Runs one part. Each part of each stage exactly once per frame, in any order and on any
    /// threads, once all parts of the stages it follows (see the picture above) are complete.
    /// Parts of one stage, and of lights, floor and geometry among each other, share no writes.
    /// Needs at most 200 KiB of stack. In steady state nothing is allocated.
    void run(render_stage stage, std::uint32_t part);

    /// The lights stage for somebody who runs it himself, in place of its parts: list_lights() of
    /// each tile. Stays until the next frame begins.
    light_work lights_as_data();
    /// The memory of all that, whatever the frame has of it. Each begins at a multiple of
    /// array_alignment, and stays as long as the renderer.
    std::array<std::span<std::byte>, 3> light_arrays();

    /// The picture after `resolve`: height() rows of width(), top row first.
    std::span<const rgba8> pixels() const;
    std::uint32_t width() const;
    std::uint32_t height() const;

    /// Valid after `hash`. Covers every pixel.
    std::uint64_t picture_hash() const;

    /// Paints more UI over the finished picture: an overlay that differs from run to run (timings)
    /// and so must stay out of the hash. One thread, after `hash`.
    void paint_overlay(std::span<const ui_box> boxes, std::span<const ui_text> texts);

    struct counters {
        std::uint32_t draws;             ///< after culling, arena included
        std::uint32_t vertices;          ///< transformed
        std::uint32_t triangles;         ///< looked at
        std::uint32_t triangles_binned;  ///< survived culling
        std::uint32_t bin_entries;       ///< triangle × tile
    };
    /// Valid after `geometry`.
    counters statistics() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace arena
