#pragma once
// A fixed_step divides frames of any length into steps of a fixed length, so that the game behaves
// the same at every frame rate.
//
//   braid::fixed_step steps({.step = braid::nanoseconds{16'666'667}});
//   for (unsigned n = steps.advance(elapsed); n != 0; --n) world.step();
//   draw(world, steps.blend());

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct fixed_step_options {
    nanoseconds step{16'666'667};  // at least 1 ns; a shorter step is clamped to 1 ns
    /// The maximum number of steps in one frame. Time beyond these steps is dropped. So a game that
    /// cannot keep up slows down, and its frames do not become longer and longer. 0 means 1.
    unsigned most_steps = 4;
    /// The speed of game time relative to real time. For example, 0.5 is slow motion and 0 is a
    /// pause. A value is clamped to the range 0 to 1,000,000, and NaN means 0.
    double time_scale = 1.0;
};

/// Only one thread at a time may use an object of this class. The results depend only on the
/// arguments and on the options, not on a clock.
class fixed_step {
public:
    BRAID_API explicit fixed_step(const fixed_step_options& options = {});

    /// Adds `elapsed`, the real time since the last call of advance(), and returns how many steps
    /// are due. `elapsed` is clamped to the range from 0 to one year. advance() costs O(1), even
    /// after a stall of hours.
    BRAID_API unsigned advance(nanoseconds elapsed);

    /// Returns how far game time has advanced from the last step to the next step, in [0, 1). Use
    /// this value to interpolate the positions to draw.
    double blend() const {
        return static_cast<double>(left_) / static_cast<double>(options_.step.value);
    }
    /// Returns the number of steps so far. The game time is this number times the length of a step.
    std::uint64_t steps() const { return steps_; }
    /// Returns the total game time that was dropped so far.
    nanoseconds dropped() const { return nanoseconds{dropped_}; }
    /// Sets the time scale for the next calls of advance().
    BRAID_API void set_time_scale(double scale);
    double time_scale() const { return options_.time_scale; }

private:
    fixed_step_options options_;
    std::int64_t left_ = 0;  // ns of game time that no step has used; below one step
    double fraction_ = 0;    // part of a ns that is kept, so that scaling loses no time
    std::uint64_t steps_ = 0;
    std::int64_t dropped_ = 0;
};

BRAID_NAMESPACE_END
