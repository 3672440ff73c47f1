#pragma once
// Work that others end: what it costs to wait for it without a thread, and how soon one goes on.

#include "driver.hpp"

namespace bench::async {

void add(suite& s);

}  // namespace bench::async
