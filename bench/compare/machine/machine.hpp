#pragma once

#include "driver.hpp"

namespace bench::machine {

/// What the machine itself charges: the yardstick beside every other row.
void add(suite& s);

}  // namespace bench::machine
