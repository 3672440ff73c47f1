#pragma once
// What coroutines cost: called, spawned, in conversation, woken, and while they wait.

#include "driver.hpp"

#include <cstddef>

namespace bench::async {

void add_coroutines(suite& s);
void add_memory(suite& s);

// ---- two coroutines, one number there and back

constexpr int exchanges = 100'000;

/// Adds the rivals of Boost.Asio.
void add_asio_pingpong(row& r);

}  // namespace bench::async
