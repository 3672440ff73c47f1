#version 450
// A list with its length in front gets one number more: the order of submissions shows.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer list { uint count, numbers[]; };
layout(push_constant) uniform constants { uint number; };

void main() { numbers[count++] = number; }
