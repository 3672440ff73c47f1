#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) writeonly buffer output_0 { uint numbers[32]; };
layout(push_constant) uniform constants { uint given[32]; };

void main() { numbers[gl_LocalInvocationIndex] = given[gl_LocalInvocationIndex]; }
