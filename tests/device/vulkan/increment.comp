#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer output_0 { uint numbers[]; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < numbers.length()) ++numbers[i];
}
