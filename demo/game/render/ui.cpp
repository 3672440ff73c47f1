#include "render/ui.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <stb_easy_font.h>

namespace arena {
namespace {

/// A corner as stb_easy_font writes it; four make a rectangle, clockwise from the top left.
struct font_corner {
    float x, y, z;
    std::uint32_t color;
};

constexpr std::size_t most_letters = 200;  ///< per line; the rest is cut off
constexpr std::size_t corners_per_letter = 64;

/// Coordinates far outside of any picture are as good as at its border.
std::int32_t to_pixel(float position) {
    if (!(position > -10000.0f)) return -10000;
    return position < 10000.0f ? static_cast<std::int32_t>(std::lround(position)) : 10000;
}

rgba8 blended(rgba8 below, rgba8 above, std::uint32_t alpha) {
    rgba8 result = 0xff000000u;
    for (int shift = 0; shift < 24; shift += 8) {
        const std::uint32_t a = above >> shift & 255u, b = below >> shift & 255u;
        result |= (a * alpha + b * (255u - alpha) + 127u) / 255u << shift;
    }
    return result;
}

}  // namespace

void ui_layer::layout(std::span<const ui_box> boxes, std::span<const ui_text> texts) {
    rectangles_.clear();
    for (const ui_box& box : boxes)
        add(box.x, box.y, box.x + box.width, box.y + box.height, box.color);
    for (const ui_text& text : texts) {
        ui_text outline = text;
        outline.color = text.color & 0xff000000u;
        const float step = std::max(1.0f, text.scale * 0.5f);
        outline.x = text.x + step;
        outline.y = text.y + step;
        add_line(outline);
        add_line(text);
    }
}

void ui_layer::add(float left, float top, float right, float bottom, rgba8 color) {
    rectangles_.push_back(
        {to_pixel(left), to_pixel(top), to_pixel(right), to_pixel(bottom), color});
}

void ui_layer::add_line(const ui_text& text) {
    char letters[most_letters + 1];
    const std::size_t length = std::min(text.text.size(), most_letters);
    for (std::size_t i = 0; i < length; ++i) {
        const char letter = text.text[i];
        letters[i] = letter >= ' ' && letter <= '~' ? letter : '?';
    }
    letters[length] = '\0';
    alignas(16) font_corner corners[most_letters * corners_per_letter / 4];
    const int quads = stb_easy_font_print(0.0f, 0.0f, letters, nullptr, corners,
                                          static_cast<int>(sizeof corners));
    for (int i = 0; i < quads; ++i) {
        const font_corner& first = corners[i * 4];
        const font_corner& opposite = corners[i * 4 + 2];
        add(text.x + first.x * text.scale, text.y + first.y * text.scale,
            text.x + opposite.x * text.scale, text.y + opposite.y * text.scale, text.color);
    }
}

void ui_layer::paint(rgba8* picture, std::int32_t width, std::int32_t first_row,
                     std::int32_t end_row) const {
    for (const rectangle& box : rectangles_) {
        const std::int32_t top = std::max(box.top, first_row);
        const std::int32_t bottom = std::min(box.bottom, end_row);
        const std::int32_t left = std::max(box.left, 0);
        const std::int32_t right = std::min(box.right, width);
        const std::uint32_t alpha = box.color >> 24;
        for (std::int32_t y = top; y < bottom; ++y) {
            rgba8* row = picture + std::int64_t{y} * width;
            for (std::int32_t x = left; x < right; ++x) row[x] = blended(row[x], box.color, alpha);
        }
    }
}

}  // namespace arena
