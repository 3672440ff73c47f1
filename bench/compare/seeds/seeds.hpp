#pragma once

#include "driver.hpp"

namespace bench::seeds {

void add(suite& s);

}  // namespace bench::seeds
