// Kernel of the resolve stage: smooths jagged edges. Included by kernels_*.cpp.
#pragma once

#include "render/kernels.hpp"
#include "render/lanes.hpp"

namespace arena {
namespace {

inline lanes_i brightness(lanes_i pixels) { return logical_shift_right(pixels, 24); }

inline lanes_i minimum_of(lanes_i a, lanes_i b) { return select(a < b, a, b); }
inline lanes_i maximum_of(lanes_i a, lanes_i b) { return select(a > b, a, b); }
inline lanes_i magnitude(lanes_i a) { return maximum_of(a, -a); }

/// Mean of the bytes of two vectors of pixels, rounded down.
inline lanes_i mean_bytes(lanes_i a, lanes_i b) {
    return as_signed(as_unsigned(a & b) + ((as_unsigned(a ^ b) & 0xfefefefeu) >> 1));
}

/// Where brightness jumps, a pixel takes some of its neighbours along the jump: half a blur along
/// the edge's normal for a soft step, plus the neighbours along the edge against stairs.
inline lanes_i smooth_pixels(const rgba8* at, std::int32_t stride) {
    const lanes_i here = load_i(at);
    const lanes_i north = load_i(at - stride);
    const lanes_i south = load_i(at + stride);
    const lanes_i west = load_i(at - 1);
    const lanes_i east = load_i(at + 1);
    const lanes_i b = brightness(here);
    const lanes_i bn = brightness(north), bs = brightness(south);
    const lanes_i bw = brightness(west), be = brightness(east);
    const lanes_i highest = maximum_of(maximum_of(bn, bs), maximum_of(maximum_of(bw, be), b));
    const lanes_i lowest = minimum_of(minimum_of(bn, bs), minimum_of(minimum_of(bw, be), b));
    const lanes_i edge = highest - lowest > maximum_of(splat(14), highest >> 3);
    if (!any(edge)) return here;

    const lanes_i northwest = load_i(at - stride - 1), northeast = load_i(at - stride + 1);
    const lanes_i southwest = load_i(at + stride - 1), southeast = load_i(at + stride + 1);
    const lanes_i horizontal = magnitude(brightness(northwest) + bn * 2 + brightness(northeast) -
                                         brightness(southwest) - bs * 2 - brightness(southeast)) >
                               magnitude(brightness(northwest) + bw * 2 + brightness(southwest) -
                                         brightness(northeast) - be * 2 - brightness(southeast));
    // Across: the neighbour on the other side of the jump.
    const lanes_i one = select(horizontal, north, west);
    const lanes_i other = select(horizontal, south, east);
    const lanes_i across =
        select(magnitude(brightness(one) - b) > magnitude(brightness(other) - b), one, other);
    const lanes_i along =
        mean_bytes(select(horizontal, west, north), select(horizontal, east, south));
    const lanes_i quarter = mean_bytes(here, mean_bytes(across, along));
    return select(edge, quarter, here);
}

void resolve_rows(const resolve_input& in) {
    constexpr std::int32_t opaque = static_cast<std::int32_t>(0xff000000u);
    for (std::int32_t row = in.first_row; row < in.end_row; ++row) {
        const std::int64_t first = std::int64_t{row} * in.width;
        const bool inner = in.smooth && row > 0 && row + 1 < in.height;
        std::int32_t column = 0;
        // The border keeps its pixels; the last vector of a row overlaps the one before.
        if (inner) {
            for (column = 1; column + lane_count < in.width; column += lane_count)
                store(in.target + first + column,
                      smooth_pixels(in.source + first + column, in.width) | opaque);
            const std::int32_t last = in.width - 1 - lane_count;
            store(in.target + first + last,
                  smooth_pixels(in.source + first + last, in.width) | opaque);
            in.target[first] = in.source[first] | 0xff000000u;
            in.target[first + in.width - 1] = in.source[first + in.width - 1] | 0xff000000u;
            continue;
        }
        for (; column < in.width; ++column)
            in.target[first + column] = in.source[first + column] | 0xff000000u;
    }
}

}  // namespace
}  // namespace arena
