#pragma once
// How work is shared out among 16 threads: its pieces sleep, so that they need no cores, and any
// machine shows it. What each thread's cores would do to each other it does not show.

#include "driver.hpp"

namespace bench::scaling {

void add(suite& s);

}  // namespace bench::scaling
