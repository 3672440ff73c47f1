#pragma once
// Internal: the sounds, generated. Only plain arithmetic, so that they are the same everywhere.

#include "sound/sound_api.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace arena {

/// Sine of a phase in turns, exact to about 1e-3 and the same on every machine.
float sine_of_turn(float turn);

/// Mono, -1 … 1, at sample_rate. Returns how many samples it wrote to the begin of `room`, which
/// has space for 1.4 seconds.
std::size_t synthesise(sound_kind kind, std::uint64_t seed, std::span<float> room);

}  // namespace arena
