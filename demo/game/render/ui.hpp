#pragma once
// Internal: text and boxes of the UI as rectangles of pixels.

#include <cstdint>
#include <span>
#include <vector>

#include "render/scene.hpp"

namespace arena {

class ui_layer {
public:
    /// Lays out boxes, then texts with a dark outline. Keeps its memory from frame to frame.
    void layout(std::span<const ui_box> boxes, std::span<const ui_text> texts);

    /// Paints what lies in rows first_row … end_row - 1. Any threads, disjoint rows.
    void paint(rgba8* picture, std::int32_t width, std::int32_t first_row,
               std::int32_t end_row) const;

private:
    struct rectangle {
        std::int32_t left, top, right, bottom;
        rgba8 color;
    };

    void add(float left, float top, float right, float bottom, rgba8 color);
    void add_line(const ui_text& text);

    std::vector<rectangle> rectangles_;
};

}  // namespace arena
