#pragma once
// Internal: the sounds, generated. Only plain arithmetic, so that they are the same everywhere.

#include <cstdint>
#include <vector>

#include "sound/mixer.hpp"

namespace arena {

/// Sine of a phase in turns, exact to about 1e-3 and the same on every machine.
float sine_of_turn(float turn);

/// Mono, -1 … 1, at sample_rate.
std::vector<float> synthesise(sound_kind kind, std::uint64_t seed);

}  // namespace arena
