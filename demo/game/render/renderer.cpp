#include "render/renderer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/mat4x4.hpp>
#include <glm/matrix.hpp>
#include <glm/vec4.hpp>

#include "aligned_array.hpp"
#include "render/arena_layout.hpp"
#include "render/arena_mesh.hpp"
#include "render/geometry.hpp"
#include "render/kernels.hpp"
#include "render/light_bins.hpp"
#include "render/look.hpp"
#include "render/ui.hpp"

namespace arena {
namespace {

constexpr std::uint32_t most_geometry_parts = 96;
constexpr std::uint64_t least_part_cost = 600;  ///< vertices + triangles that are worth a part
constexpr std::int32_t strip_rows = 24;         ///< rows of a part of resolve and hash

/// More vertices than this make no better shadow.
constexpr std::uint32_t enough_shadow_vertices = 150;

/// Vertices of a whole character cover its shadow about this often: below 1 the shadow has holes.
constexpr float shadow_overlap = 2.2f;

view_setup make_view(const camera& eye, std::int32_t width, std::int32_t height) {
    view_setup view{};
    view.width = width;
    view.height = height;
    view.tiles_x = (width + tile_size - 1) / tile_size;
    view.tiles_y = (height + tile_size - 1) / tile_size;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    const glm::mat4 clip = eye.projection * eye.view;
    for (int i = 0; i < 4; ++i) {
        const glm::vec4& column = clip[i];
        view.to_pixel[0][i] = (column.w + column.x) * (w * 0.5f);
        view.to_pixel[1][i] = (column.w - column.y) * (h * 0.5f);
        view.to_pixel[2][i] = column.w;
    }
    const glm::mat4 to_world = glm::inverse(eye.view);
    const float scale_x = 1.0f / eye.projection[0][0], scale_y = 1.0f / eye.projection[1][1];
    const glm::vec3 right = glm::vec3(to_world[0]) * scale_x;
    const glm::vec3 up = glm::vec3(to_world[1]) * scale_y;
    const glm::vec3 corner = right * (eye.projection[2][0] - 1.0f) +
                             up * (eye.projection[2][1] + 1.0f) - glm::vec3(to_world[2]);
    for (int i = 0; i < 3; ++i) {
        view.eye[i] = to_world[3][i];
        view.ray_origin[i] = corner[i];
        view.ray_dx[i] = right[i] * (2.0f / w);
        view.ray_dy[i] = up[i] * (-2.0f / h);
    }
    view.pixel_angle = scale_y * 2.0f / h;
    return view;
}

/// Does any of a sphere lie in the view? Errs towards yes.
bool in_view(const view_setup& view, const glm::vec3& center, float radius) {
    const auto row = [&](const float(&m)[4]) {
        return m[0] * center.x + m[1] * center.y + m[2] * center.z + m[3];
    };
    const auto steepness = [](float x, float y, float z) {
        return std::sqrt(x * x + y * y + z * z);
    };
    const auto& m = view.to_pixel;
    const float x = row(m[0]), y = row(m[1]), depth = row(m[2]);
    const float w = static_cast<float>(view.width), h = static_cast<float>(view.height);
    if (depth < -radius) return false;
    if (x < -radius * steepness(m[0][0], m[0][1], m[0][2])) return false;
    if (y < -radius * steepness(m[1][0], m[1][1], m[1][2])) return false;
    if (w * depth - x <
        -radius * steepness(w * m[2][0] - m[0][0], w * m[2][1] - m[0][1], w * m[2][2] - m[0][2]))
        return false;
    return h * depth - y >=
           -radius * steepness(h * m[2][0] - m[1][0], h * m[2][1] - m[1][1], h * m[2][2] - m[1][2]);
}

/// Four independent multiplicative chains over 32 bytes at a time, folded at the end.
std::uint64_t hash_pixels(const rgba8* pixels, std::size_t count) {
    constexpr std::uint64_t prime = 0x9e3779b97f4a7c15u;
    std::uint64_t lane[4] = {1, 2, 3, 4};
    const auto step = [](std::uint64_t state, std::uint64_t word) {
        state = (state ^ word) * prime;
        return state ^ (state >> 29);
    };
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        std::uint64_t words[4];
        std::memcpy(words, pixels + i, sizeof words);
        for (int k = 0; k < 4; ++k) lane[k] = step(lane[k], words[k]);
    }
    for (; i < count; ++i) lane[0] = step(lane[0], pixels[i]);
    return step(step(step(lane[0], lane[1]), lane[2]), lane[3]);
}

}  // namespace

std::string_view name(render_stage stage) {
    constexpr std::string_view names[] = {"lights", "floor",   "geometry",
                                          "tiles",  "resolve", "hash"};
    return names[static_cast<std::size_t>(stage)];
}

struct renderer::state {
    explicit state(const renderer_options& options)
        : width(static_cast<std::int32_t>(options.width)),
          height(static_cast<std::int32_t>(options.height)),
          smooth(options.smooth_edges),
          kernels(options.portable_kernels ? &portable_kernels : &best_kernels()) {
        const std::size_t pixels = std::size_t{options.width} * options.height;
        shaded.resize(pixels);
        picture.resize(pixels);
        view = make_view({}, width, height);
        tile_lights.resize(static_cast<std::size_t>(view.tiles_x * view.tiles_y));
        sides.resize(tile_lights.size());
        strip_hashes.resize(static_cast<std::size_t>((height + strip_rows - 1) / strip_rows));
        if (!options.draw_arena) return;
        pieces = make_arena();
        baked = bake_floor();
        floor_light.resize(baked.size());
        floor = {floor_light.data(), baked.data(),
                 static_cast<float>(floor_texels) / (2.0f * arena_half_extent), arena_half_extent};
    }

    void collect_items();
    void add_caster(const draw_command& draw);
    void split_items();
    void run_lights(std::int32_t row);
    void run_floor(std::uint32_t part);
    void run_tile(std::uint32_t part);
    void run_resolve(std::uint32_t part);
    void run_hash(std::uint32_t part);

    std::span<const light_source> lights() const { return {placed_lights.data(), light_count}; }
    std::span<const seen_light> seen() const { return {seen_lights.data(), light_count}; }

    std::int32_t width, height;
    bool smooth;
    const kernel_table* kernels;
    view_setup view;
    frame_input input;

    std::vector<arena_piece> pieces;
    std::vector<std::uint32_t> baked;
    std::vector<std::uint32_t> floor_light;
    floor_view floor{};

    std::array<light_source, max_lights> placed_lights;
    std::uint32_t light_count = 0;
    aligned_array<seen_light> seen_lights = aligned_array<seen_light>(max_lights);
    aligned_array<light_list> tile_lights;
    aligned_array<tile_sides> sides;  ///< of each tile, for lights_as_data()

    std::vector<shadow_caster> casters;
    std::vector<std::uint32_t> floor_parts;  ///< tiles of the floor that are in view

    std::vector<geometry_item> items;
    std::vector<std::uint32_t> item_ends;  ///< of each geometry part
    std::array<geometry_part, most_geometry_parts> geometry;
    std::array<geometry_output, most_geometry_parts> outputs;

    std::vector<rgba8> shaded;
    std::vector<rgba8> picture;
    ui_layer ui;
    std::vector<std::uint64_t> strip_hashes;
};

renderer::renderer(const renderer_options& options) {
    for (const std::uint32_t side : {options.width, options.height})
        if (side < 64 || side > 4096)
            throw std::invalid_argument("a picture has 64 to 4096 pixels on each side, not " +
                                        std::to_string(side));
    state_ = std::make_unique<state>(options);
}

renderer::~renderer() = default;

void renderer::state::add_caster(const draw_command& draw) {
    if (!draw.casts_shadow || floor.half_extent <= 0.0f || draw.vertices.empty()) return;
    const float slope_x = look::sun_direction[0] / look::sun_direction[1];
    const float slope_z = look::sun_direction[2] / look::sun_direction[1];
    const float top = std::max(draw.center.y + draw.radius, 0.0f);
    const float shift_x = slope_x * top, shift_z = slope_z * top;
    // A person's shadow: half a bounding sphere wide, and longer the lower the sun.
    const float area = 0.9f * draw.radius * draw.radius / look::sun_direction[1];
    const float texels = area * floor.texels_per_metre * floor.texels_per_metre;
    const auto count = static_cast<std::uint32_t>(draw.vertices.size());
    const std::uint32_t step = 1 + count / enough_shadow_vertices;
    const float weight =
        4096.0f * std::min(1.0f, texels * shadow_overlap * static_cast<float>(step) /
                                     static_cast<float>(count));
    casters.push_back({draw.vertices.data(), count, step, weight,
                       draw.center.x - draw.radius - std::max(shift_x, 0.0f),
                       draw.center.x + draw.radius - std::min(shift_x, 0.0f),
                       draw.center.z - draw.radius - std::max(shift_z, 0.0f),
                       draw.center.z + draw.radius - std::min(shift_z, 0.0f)});
}

void renderer::state::collect_items() {
    items.clear();
    casters.clear();
    for (const arena_piece& piece : pieces) {
        if (!in_view(view, piece.center, piece.radius)) continue;
        items.push_back({piece.vertices.data(), static_cast<std::uint32_t>(piece.vertices.size()),
                         piece.indices.data(), static_cast<std::uint32_t>(piece.indices.size() / 3),
                         piece.colors.data(), make_rgba(255, 255, 255), piece.kind});
    }
    for (const draw_command& draw : input.draws) {
        add_caster(draw);
        if (!in_view(view, draw.center, draw.radius)) continue;
        items.push_back({draw.vertices.data(), static_cast<std::uint32_t>(draw.vertices.size()),
                         draw.indices.data(), static_cast<std::uint32_t>(draw.indices.size() / 3),
                         draw.triangle_colors.empty() ? nullptr : draw.triangle_colors.data(),
                         draw.tint, static_cast<material>(draw.material)});
    }
}

void renderer::state::split_items() {
    const auto cost_of = [](const geometry_item& item) {
        return std::uint64_t{item.vertex_count} + item.triangle_count;
    };
    std::uint64_t total = 0;
    for (const geometry_item& item : items) total += cost_of(item);
    const std::uint64_t parts =
        std::clamp<std::uint64_t>(total / least_part_cost, 1, most_geometry_parts);
    item_ends.clear();
    std::uint64_t before = 0;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        before += cost_of(items[i]);
        if (before * parts >= total * (item_ends.size() + 1) && item_ends.size() + 1 < parts)
            item_ends.push_back(i + 1);
    }
    item_ends.push_back(static_cast<std::uint32_t>(items.size()));
}

void renderer::begin_frame(const frame_input& input) {
    state& s = *state_;
    s.input = input;
    s.view = make_view(input.eye, s.width, s.height);
    s.light_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(input.lights.size(), max_lights));
    for (std::uint32_t i = 0; i < s.light_count; ++i) {
        s.placed_lights[i] = place_light(input.lights[i], s.view);
        s.seen_lights[i] = look_at(s.placed_lights[i], s.view);
    }
    s.collect_items();
    s.split_items();

    s.floor_parts.clear();
    if (s.floor.half_extent > 0.0f) {
        const float side = 2.0f * s.floor.half_extent / static_cast<float>(floor_tiles);
        for (std::uint32_t i = 0; i < std::uint32_t{floor_tiles * floor_tiles}; ++i) {
            const glm::vec3 center(
                (static_cast<float>(i % floor_tiles) + 0.5f) * side - s.floor.half_extent, 0.0f,
                (static_cast<float>(i / floor_tiles) + 0.5f) * side - s.floor.half_extent);
            if (in_view(s.view, center, side * 0.75f)) s.floor_parts.push_back(i);
        }
    }
    s.ui.layout(input.boxes, input.texts);
}

std::uint32_t renderer::parts(render_stage stage) const {
    const state& s = *state_;
    switch (stage) {
        case render_stage::lights:
            return static_cast<std::uint32_t>(s.view.tiles_y);
        case render_stage::floor:
            return std::max(1u, static_cast<std::uint32_t>(s.floor_parts.size()));
        case render_stage::geometry:
            return static_cast<std::uint32_t>(s.item_ends.size());
        case render_stage::tiles:
            return static_cast<std::uint32_t>(s.view.tiles_x * s.view.tiles_y);
        case render_stage::resolve:
        case render_stage::hash:
            break;
    }
    return static_cast<std::uint32_t>(s.strip_hashes.size());
}

void renderer::state::run_lights(std::int32_t row) {
    for (std::int32_t column = 0; column < view.tiles_x; ++column) {
        const auto tile = static_cast<std::size_t>(row * view.tiles_x + column);
        list_lights(sides_of(view, column, row), seen(), tile_lights[tile]);
    }
}

light_work renderer::lights_as_data() {
    state& s = *state_;
    for (std::int32_t tile = 0; tile < s.view.tiles_x * s.view.tiles_y; ++tile) {
        s.sides[static_cast<std::size_t>(tile)] =
            sides_of(s.view, tile % s.view.tiles_x, tile / s.view.tiles_x);
    }
    return {s.sides, s.seen(), s.tile_lights};
}

std::array<std::span<std::byte>, 3> renderer::light_arrays() {
    state& s = *state_;
    return {std::as_writable_bytes(std::span(s.seen_lights)),
            std::as_writable_bytes(std::span(s.sides)),
            std::as_writable_bytes(std::span(s.tile_lights))};
}

void renderer::state::run_floor(std::uint32_t part) {
    if (part >= floor_parts.size()) return;
    const auto tile = static_cast<std::int32_t>(floor_parts[part]);
    kernels->light_floor({floor, placed_lights.data(), light_count, casters.data(),
                          static_cast<std::uint32_t>(casters.size()), input.contacts.data(),
                          static_cast<std::uint32_t>(input.contacts.size()), tile % floor_tiles,
                          tile / floor_tiles});
}

void renderer::state::run_tile(std::uint32_t part) {
    // What another processor has listed may be anything: the picture is wrong then, and no more.
    light_list& listed = tile_lights[part];
    listed.count = std::min(listed.count, light_count);
    for (std::uint32_t i = 0; i < listed.count; ++i) {
        listed.index[i] =
            static_cast<std::uint8_t>(std::min(listed.index[i] + 0U, light_count - 1));
    }
    kernels->draw_tile({&view, outputs.data(), static_cast<std::uint32_t>(item_ends.size()),
                        placed_lights.data(), light_count, &tile_lights[part], floor, part,
                        shaded.data()});
}

void renderer::state::run_resolve(std::uint32_t part) {
    const std::int32_t first = static_cast<std::int32_t>(part) * strip_rows;
    const std::int32_t end = std::min(first + strip_rows, height);
    kernels->resolve_rows({shaded.data(), picture.data(), width, height, first, end, smooth});
    ui.paint(picture.data(), width, first, end);
}

void renderer::state::run_hash(std::uint32_t part) {
    const std::size_t first = std::size_t{part} * strip_rows;
    const std::size_t end = std::min(first + strip_rows, static_cast<std::size_t>(height));
    const auto row = static_cast<std::size_t>(width);
    strip_hashes[part] = hash_pixels(picture.data() + first * row, (end - first) * row);
}

void renderer::run(render_stage stage, std::uint32_t part) {
    state& s = *state_;
    switch (stage) {
        case render_stage::lights:
            s.run_lights(static_cast<std::int32_t>(part));
            return;
        case render_stage::floor:
            s.run_floor(part);
            return;
        case render_stage::geometry: {
            const std::uint32_t first = part == 0 ? 0 : s.item_ends[part - 1];
            s.geometry[part].run(s.view, {s.items.data() + first, s.item_ends[part] - first});
            s.outputs[part] = s.geometry[part].output();
            return;
        }
        case render_stage::tiles:
            s.run_tile(part);
            return;
        case render_stage::resolve:
            s.run_resolve(part);
            return;
        case render_stage::hash:
            s.run_hash(part);
            return;
    }
}

std::span<const rgba8> renderer::pixels() const { return state_->picture; }
std::uint32_t renderer::width() const { return static_cast<std::uint32_t>(state_->width); }
std::uint32_t renderer::height() const { return static_cast<std::uint32_t>(state_->height); }

std::uint64_t renderer::picture_hash() const {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::uint64_t strip : state_->strip_hashes)
        hash = (hash ^ strip) * 0x100000001b3u ^ (hash >> 31);
    return hash;
}

void renderer::paint_overlay(std::span<const ui_box> boxes, std::span<const ui_text> texts) {
    state& s = *state_;
    s.ui.layout(boxes, texts);
    s.ui.paint(s.picture.data(), s.width, 0, s.height);
}

renderer::counters renderer::statistics() const {
    const state& s = *state_;
    counters sum{};
    sum.draws = static_cast<std::uint32_t>(s.items.size());
    for (const geometry_item& item : s.items) sum.triangles += item.triangle_count;
    for (std::size_t i = 0; i < s.item_ends.size(); ++i) {
        sum.vertices += s.geometry[i].vertex_count();
        sum.triangles_binned += s.geometry[i].triangle_count();
        sum.bin_entries += s.geometry[i].entry_count();
    }
    return sum;
}

}  // namespace arena
