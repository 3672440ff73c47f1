#pragma once
// Graphics processors: lavapipe beside bare Vulkan on it, and a real one beside all cores.

#include "driver.hpp"

namespace bench::device {

void add_vulkan(suite& s);

}  // namespace bench::device
