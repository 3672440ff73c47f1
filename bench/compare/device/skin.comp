#version 450
// A group has 256 vertices, as on the cores.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer input_0 { float rest[]; };
layout(set = 0, binding = 1) writeonly buffer output_0 { float skinned[]; };

void main() {
    float v = rest[gl_GlobalInvocationID.x];
    for (int bone = 0; bone < 8; ++bone) v = v * 0.75 + float(bone);
    skinned[gl_GlobalInvocationID.x] = v;
}
