#version 450
// skinning.cpp for graphics processors: the same sums and products in the same order, none of them
// fused, so that the bits are the same. A group is one item.
layout(local_size_x = 64) in;

struct skin_item {
    uint model, first_source, first_matrix, first_vertex, count, unused0, unused1, unused2;
};
layout(set = 0, binding = 0) readonly buffer items_of { skin_item items[]; };
layout(set = 0, binding = 1) readonly buffer palette_of { vec4 columns[]; };
layout(set = 0, binding = 2) readonly buffer model0_of { uint model0[]; };
layout(set = 0, binding = 3) readonly buffer model1_of { uint model1[]; };
layout(set = 0, binding = 4) readonly buffer model2_of { uint model2[]; };
layout(set = 0, binding = 5) readonly buffer model3_of { uint model3[]; };
layout(set = 0, binding = 6) readonly buffer model4_of { uint model4[]; };
layout(set = 0, binding = 7) readonly buffer model5_of { uint model5[]; };
layout(set = 0, binding = 8) readonly buffer model6_of { uint model6[]; };
layout(set = 0, binding = 9) readonly buffer model7_of { uint model7[]; };
layout(set = 0, binding = 10) buffer skinned { float moved[]; };

uint word(uint model, uint at) {
    switch (model) {
        case 0: return model0[at];
        case 1: return model1[at];
        case 2: return model2[at];
        case 3: return model3[at];
        case 4: return model4[at];
        case 5: return model5[at];
        case 6: return model6[at];
        default: return model7[at];
    }
}
vec3 three(uint model, uint at) {
    return uintBitsToFloat(uvec3(word(model, at), word(model, at + 1), word(model, at + 2)));
}

void main() {
    const skin_item item = items[gl_WorkGroupID.x];
    for (uint v = gl_LocalInvocationID.x; v < item.count; v += 64) {
        const uint at = (item.first_source + v) * 8;
        const uint bones = word(item.model, at + 6), weights = word(item.model, at + 7);
        precise vec4 sums[4] = vec4[4](vec4(0), vec4(0), vec4(0), vec4(0));
        for (int k = 0; k < 4; ++k) {
            const uint share = bitfieldExtract(weights, 8 * k, 8);
            if (share == 0) break;
            precise float weight = float(share) * (1.0 / 255.0);
            const uint bone = (item.first_matrix + bitfieldExtract(bones, 8 * k, 8)) * 4;
            for (int c = 0; c < 4; ++c) sums[c] += columns[bone + c] * weight;
        }
        const vec3 position = three(item.model, at), normal = three(item.model, at + 3);
        precise vec4 p =
            sums[0] * position.x + sums[1] * position.y + sums[2] * position.z + sums[3];
        precise vec4 n = sums[0] * normal.x + sums[1] * normal.y + sums[2] * normal.z;
        const uint to = (item.first_vertex + v) * 6;
        for (int i = 0; i < 3; ++i) {
            moved[to + i] = p[i];
            moved[to + 3 + i] = n[i];
        }
    }
}
