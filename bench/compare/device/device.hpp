#pragma once
// External processors: what a submission costs beside a task, and a chain of them beside one that
// goes through the cores.

#include "driver.hpp"

namespace bench::device {

void add(suite& s);

}  // namespace bench::device
