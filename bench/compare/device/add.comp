#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer output_0 { uint numbers[]; };
layout(push_constant) uniform constants { uint more; };

void main() { numbers[gl_GlobalInvocationID.x] += more; }
