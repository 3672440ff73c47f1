#version 450
// y = a * x + y, without a fused step, so that it is what the cores compute.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer input_x { float x[]; };
layout(set = 0, binding = 1) buffer output_y { float y[]; };
layout(push_constant) uniform constants { float a; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= y.length()) return;
    precise float product = a * x[i];
    precise float sum = product + y[i];
    y[i] = sum;
}
