#version 450
// Takes as long as there are groups, and adds one. Lavapipe ends a loop after 65,535 rounds.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer output_0 { uint number, scratch; };

void main() {
    uint x = gl_WorkGroupID.x + 1u;
    for (uint i = 0; i < 60000u; ++i) x = x * 1664525u + (1013904223u ^ (x >> 7));
    if (x == 0u) scratch = 1u;  // or nobody would need the loop
    if (gl_WorkGroupID.x == 0u) ++number;
}
