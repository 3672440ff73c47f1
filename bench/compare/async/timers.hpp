#pragma once
// What timers cost: a hundred thousand of them, and one that is far away.

#include "driver.hpp"

namespace bench::async {

void add_timers(suite& s);

}  // namespace bench::async
