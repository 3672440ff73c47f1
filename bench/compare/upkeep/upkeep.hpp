#pragma once
// What a scheduler costs besides its tasks: to make and end it, to have it and not use it, memory.

#include "driver.hpp"

namespace bench::upkeep {

void add(suite& s);

}  // namespace bench::upkeep
