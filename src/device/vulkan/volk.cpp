// Finds Vulkan's loader. Not ours, so it is compiled without warnings.
#define VOLK_IMPLEMENTATION
#include <volk.h>
