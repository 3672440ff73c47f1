#version 450
// Each group writes where it is.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) writeonly buffer output_0 { uint places[]; };

void main() {
    const uvec3 n = gl_NumWorkGroups, at = gl_WorkGroupID;
    places[(at.z * n.y + at.y) * n.x + at.x] = at.x | at.y << 8 | at.z << 16;
}
