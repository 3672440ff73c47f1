#include "render/geometry.hpp"

#include <cmath>

namespace arena {
namespace {

using f32x4 = float __attribute__((vector_size(16)));

/// Nearer than this is clipped away; metres.
constexpr float near_depth = 0.1f;

/// Farther than this is taken for nonsense; keeps products finite.
constexpr float far_depth = 1e9f;

/// Triangles are clipped only when they reach farther than this beyond the picture, in pixels. With
/// pictures of at most 4096 pixels coordinates stay below 2^13 pixels: see edge_function.
constexpr float guard_band = 2048.0f;

/// Pixel x * depth, pixel y * depth, depth.
struct projected {
    float x, y, depth;
};

inline projected project(const view_setup& view, const glm::vec3& p) {
    const auto row = [&](const float(&m)[4]) {
        return m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
    };
    return {row(view.to_pixel[0]), row(view.to_pixel[1]), row(view.to_pixel[2])};
}

/// False for what must be clipped, and for what is not a number.
inline bool inside_guard_band(const view_setup& view, const projected& p) {
    const float right = (static_cast<float>(view.width) + guard_band) * p.depth;
    const float bottom = (static_cast<float>(view.height) + guard_band) * p.depth;
    const float left = -guard_band * p.depth;
    return p.depth >= near_depth && p.depth <= far_depth && p.x >= left && p.x <= right &&
           p.y >= left && p.y <= bottom;
}

/// Rounds half up; the offset makes truncation round down.
constexpr float subpixel_offset = guard_band + 64.0f;

/// The columns of view_setup::to_pixel: a position becomes pixel x * depth, pixel y * depth, depth.
struct pixel_columns {
    f32x4 x, y, z, constant;

    explicit pixel_columns(const view_setup& view) {
        const auto& m = view.to_pixel;
        x = f32x4{m[0][0], m[1][0], m[2][0], 0.0f};
        y = f32x4{m[0][1], m[1][1], m[2][1], 0.0f};
        z = f32x4{m[0][2], m[1][2], m[2][2], 0.0f};
        constant = f32x4{m[0][3], m[1][3], m[2][3], 0.0f};
    }
};

inline screen_vertex to_screen(const projected& p, const glm::vec3& normal) {
    const float inverse = 1.0f / p.depth;
    const auto subpixel = [&](float at) {
        constexpr auto scale = static_cast<float>(subpixels);
        return static_cast<std::int32_t>((at * inverse + subpixel_offset) * scale + 0.5f) -
               static_cast<std::int32_t>(subpixel_offset) * subpixels;
    };
    return {{normal.x * inverse, normal.y * inverse, normal.z * inverse},
            inverse,
            subpixel(p.x),
            subpixel(p.y)};
}

struct clip_vertex {
    projected position;
    glm::vec3 normal;
};

/// Rounding may leave a clipped corner a little outside, and that of a triangle of astronomical
/// size anywhere: puts it back to the border.
projected pulled_in(const view_setup& view, const projected& p) {
    const auto clamped = [](float value, float low, float high) {
        if (!(value > low)) return low;
        return value < high ? value : high;
    };
    const float depth = clamped(p.depth, near_depth, far_depth);
    const float left = -guard_band * depth;
    return {clamped(p.x, left, (static_cast<float>(view.width) + guard_band) * depth),
            clamped(p.y, left, (static_cast<float>(view.height) + guard_band) * depth), depth};
}

inline clip_vertex between(const clip_vertex& a, const clip_vertex& b, float t) {
    const projected &p = a.position, &q = b.position;
    return {{p.x + (q.x - p.x) * t, p.y + (q.y - p.y) * t, p.depth + (q.depth - p.depth) * t},
            a.normal + (b.normal - a.normal) * t};
}

inline std::uint32_t channel(rgba8 color, int shift) { return (color >> shift) & 255u; }

/// `color` times `tint`, as far as the colour's alpha lets it; the material goes into the high
/// byte.
inline std::uint32_t tinted(rgba8 color, rgba8 tint, material kind) {
    const std::uint32_t amount = channel(color, 24);
    std::uint32_t result = static_cast<std::uint32_t>(kind) << 24;
    for (int shift = 0; shift < 24; shift += 8) {
        const std::uint32_t full = 255u * 255u - amount * (255u - channel(tint, shift));
        result |= (channel(color, shift) * full + 32512u) / 65025u << shift;
    }
    return result;
}

inline std::int32_t least(std::int32_t a, std::int32_t b, std::int32_t c) {
    const std::int32_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}
inline std::int32_t greatest(std::int32_t a, std::int32_t b, std::int32_t c) {
    const std::int32_t ab = a > b ? a : b;
    return ab > c ? ab : c;
}

/// And, without branches: each condition alone is hard to predict.
template <typename... Conditions>
inline bool together(Conditions... conditions) {
    return (static_cast<unsigned>(conditions) & ...) != 0;
}

/// Counter-clockwise in the world is clockwise where y points down: negative.
inline bool faces_eye(const screen_vertex& a, const screen_vertex& b, const screen_vertex& c) {
    return std::int64_t{b.x - a.x} * (c.y - a.y) < std::int64_t{c.x - a.x} * (b.y - a.y);
}

}  // namespace

/// The pixels whose centres the bounding box of a triangle holds: small ones often hold none.
struct geometry_part::pixel_box {
    std::int32_t left, right, top, bottom;

    pixel_box(const screen_vertex& a, const screen_vertex& b, const screen_vertex& c)
        : left((least(a.x, b.x, c.x) + half - 1) >> subpixel_bits),
          right((greatest(a.x, b.x, c.x) - half) >> subpixel_bits),
          top((least(a.y, b.y, c.y) + half - 1) >> subpixel_bits),
          bottom((greatest(a.y, b.y, c.y) - half) >> subpixel_bits) {}

    bool visible(const view_setup& view) const {
        return together(left <= right, top <= bottom, right >= 0, bottom >= 0, left < view.width,
                        top < view.height);
    }

private:
    static constexpr std::int32_t half = subpixels / 2;
};

void geometry_part::run(const view_setup& view, std::span<const geometry_item> items) {
    vertices_.clear();
    triangles_.clear();
    found_.clear();
    for (const geometry_item& item : items) draw(view, item);
    sort_bins(view);
}

geometry_output geometry_part::output() const {
    return {vertices_.data(), triangles_.data(), entries_.data(), offsets_.data()};
}

void geometry_part::draw(const view_setup& view, const geometry_item& item) {
    const pixel_columns columns(view);
    const std::uint32_t base = vertex_count();
    bool all_inside = true;
    screen_vertex* transformed = vertices_.append(item.vertex_count);
    for (std::uint32_t i = 0; i < item.vertex_count; ++i) {
        const glm::vec3& position = item.vertices[i].position;
        const f32x4 at = columns.x * position.x + columns.y * position.y + columns.z * position.z +
                         columns.constant;
        const projected p{at[0], at[1], at[2]};
        if (inside_guard_band(view, p)) {
            transformed[i] = to_screen(p, item.vertices[i].normal);
        } else {
            transformed[i].inverse_depth = 0.0f;
            all_inside = false;
        }
    }
    const screen_vertex* vertices = vertices_.data();  // moves when clipping adds vertices
    for (std::uint32_t i = 0; i < item.triangle_count; ++i) {
        const std::uint32_t* corners = item.indices + std::size_t{i} * 3;
        const std::uint32_t vertex[3] = {base + corners[0], base + corners[1], base + corners[2]};
        const screen_vertex& a = vertices[vertex[0]];
        const screen_vertex& b = vertices[vertex[1]];
        const screen_vertex& c = vertices[vertex[2]];
        if (!all_inside &&
            (a.inverse_depth == 0.0f || b.inverse_depth == 0.0f || c.inverse_depth == 0.0f)) {
            clip(view, item, i);
            vertices = vertices_.data();
            continue;
        }
        const pixel_box box(a, b, c);
        if (together(box.visible(view), faces_eye(a, b, c))) bin(view, item, i, vertex, box);
    }
}

void geometry_part::bin(const view_setup& view, const geometry_item& item, std::uint32_t triangle,
                        const std::uint32_t (&vertex)[3], const pixel_box& box) {
    const rgba8 color = item.colors ? item.colors[triangle] : make_rgba(255, 255, 255);
    const std::uint32_t index = triangle_count();
    triangles_.push({{vertex[0], vertex[2], vertex[1]}, tinted(color, item.tint, item.kind)});
    const std::int32_t first_x = box.left > 0 ? box.left / tile_size : 0;
    const std::int32_t first_y = box.top > 0 ? box.top / tile_size : 0;
    const std::int32_t last_x = box.right < view.width ? box.right / tile_size : view.tiles_x - 1;
    const std::int32_t last_y =
        box.bottom < view.height ? box.bottom / tile_size : view.tiles_y - 1;
    for (std::int32_t y = first_y; y <= last_y; ++y)
        for (std::int32_t x = first_x; x <= last_x; ++x)
            found_.push({static_cast<std::uint32_t>(y * view.tiles_x + x), index});
}

void geometry_part::clip(const view_setup& view, const geometry_item& item,
                         std::uint32_t triangle) {
    // Sutherland and Hodgman. A plane adds one corner, or, where rounding bends a sliver, half as
    // many as there are: at most 3, 4, 6, 9, 13, 19.
    constexpr int most = 20;
    clip_vertex polygon[most];
    int count = 0;
    for (std::size_t corner = 0; corner < 3; ++corner) {
        const skinned_vertex& vertex =
            item.vertices[item.indices[std::size_t{triangle} * 3 + corner]];
        const projected p = project(view, vertex.position);
        constexpr float huge = far_depth * 1e4f;
        if (!(std::fabs(p.x) < huge && std::fabs(p.y) < huge && std::fabs(p.depth) < far_depth))
            return;
        polygon[count++] = {p, vertex.normal};
    }
    const float right = static_cast<float>(view.width) + guard_band;
    const float bottom = static_cast<float>(view.height) + guard_band;
    // Inside is where x * p.x + y * p.y + depth * p.depth + constant >= 0.
    const float planes[5][4] = {{0.0f, 0.0f, 1.0f, -near_depth},
                                {1.0f, 0.0f, guard_band, 0.0f},
                                {-1.0f, 0.0f, right, 0.0f},
                                {0.0f, 1.0f, guard_band, 0.0f},
                                {0.0f, -1.0f, bottom, 0.0f}};
    for (const float(&plane)[4] : planes) {
        const auto distance = [&](const clip_vertex& v) {
            const projected& p = v.position;
            return plane[0] * p.x + plane[1] * p.y + plane[2] * p.depth + plane[3];
        };
        clip_vertex kept[most];
        int kept_count = 0;
        for (int i = 0; i < count; ++i) {
            const clip_vertex& from = polygon[i];
            const clip_vertex& to = polygon[(i + 1) % count];
            const float from_distance = distance(from), to_distance = distance(to);
            if (from_distance >= 0.0f) kept[kept_count++] = from;
            if ((from_distance >= 0.0f) != (to_distance >= 0.0f))
                kept[kept_count++] =
                    between(from, to, from_distance / (from_distance - to_distance));
        }
        count = kept_count;
        for (int i = 0; i < count; ++i) polygon[i] = kept[i];
    }
    if (count < 3) return;
    const std::uint32_t first = vertex_count();
    for (int i = 0; i < count; ++i)
        vertices_.push(to_screen(pulled_in(view, polygon[i].position), polygon[i].normal));
    for (std::uint32_t i = 1; i + 1 < static_cast<std::uint32_t>(count); ++i) {
        const screen_vertex& a = vertices_[first];
        const screen_vertex& b = vertices_[first + i];
        const screen_vertex& c = vertices_[first + i + 1];
        const pixel_box box(a, b, c);
        if (box.visible(view) && faces_eye(a, b, c))
            bin(view, item, triangle, {first, first + i, first + i + 1}, box);
    }
}

void geometry_part::sort_bins(const view_setup& view) {
    const auto tiles = static_cast<std::size_t>(view.tiles_x * view.tiles_y);
    offsets_.clear();
    std::uint32_t* offsets = offsets_.append(tiles + 1);
    std::fill(offsets, offsets + tiles + 1, 0u);
    for (std::size_t i = 0; i < found_.size(); ++i) ++offsets[found_[i].tile];
    std::uint32_t end = 0;
    for (std::size_t tile = 0; tile <= tiles; ++tile) offsets[tile] = end += offsets[tile];
    // Filling every bin from its end moves offsets[tile] to its first entry.
    entries_.clear();
    std::uint32_t* entries = entries_.append(found_.size());
    for (std::size_t i = found_.size(); i-- != 0;)
        entries[--offsets[found_[i].tile]] = found_[i].triangle;
}

}  // namespace arena
