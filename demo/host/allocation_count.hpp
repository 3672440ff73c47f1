// Counts what reaches operator new while a frame runs.
#pragma once

#include <cstdint>

namespace arena::host {

/// Allocations of all threads so far while counting was on.
std::uint64_t counted_allocations();

/// Turns counting on or off; one thread.
void count_allocations(bool on);
bool counting_allocations();

}  // namespace arena::host
