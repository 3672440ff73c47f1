#version 450
// list_lights() of render/light_bins.cpp for graphics processors: the same sums and products in the
// same order, none of them fused. An invocation is a tile.
layout(local_size_x = 64) in;

struct seen_light {
    float x, y, z, radius, depth, unused0, unused1, unused2;
};
struct tile_sides {
    vec4 normal[4];
};
layout(set = 0, binding = 0) readonly buffer lights_of { seen_light lights[]; };
layout(set = 0, binding = 1) readonly buffer sides_of { tile_sides sides[]; };
layout(set = 0, binding = 2) buffer lists_of { uint lists[]; };

const uint list_words = 17;  // a count, and 64 bytes

void main() {
    const uint tile = gl_GlobalInvocationID.x;
    if (tile >= sides.length()) return;
    uint count = 0, word = 0;
    for (uint i = 0; i < lights.length(); ++i) {
        const seen_light light = lights[i];
        bool reaches = light.depth > -light.radius;
        for (int s = 0; s < 4; ++s) {
            const vec4 normal = sides[tile].normal[s];
            precise float inwards = normal.x * light.x + normal.y * light.y + normal.z * light.z;
            reaches = reaches && inwards > -light.radius;
        }
        if (!reaches) continue;
        word |= i << (8 * (count % 4));
        if (++count % 4 != 0) continue;
        lists[tile * list_words + count / 4] = word;
        word = 0;
    }
    if (count % 4 != 0) lists[tile * list_words + 1 + count / 4] = word;
    lists[tile * list_words] = count;
}
