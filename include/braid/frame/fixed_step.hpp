#pragma once
// Turns frames of any length into steps of a fixed length, so that the game is the same at every
// frame rate.
//
//   braid::fixed_step steps({.step = braid::nanoseconds{16'666'667}});
//   for (unsigned n = steps.advance(elapsed); n != 0; --n) world.step();
//   draw(world, steps.blend());

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct fixed_step_options {
    nanoseconds step{16'666'667};  // at least 1 ns; less counts as 1
    /// The maximum number of steps in one frame. Time beyond it is dropped: a game that cannot keep
    /// up becomes slow, instead of computing ever more steps in ever longer frames. 0 counts as 1.
    unsigned most_steps = 4;
    /// The speed of game time relative to real time, 0 to a million: 0.5 is slow motion, 0 is a
    /// pause. Values below 0 and NaN count as 0, values above a million as a million.
    double time_scale = 1.0;
};

/// One thread at a time may use it. The result depends on nothing but the numbers that it is given.
class fixed_step {
public:
    BRAID_API explicit fixed_step(const fixed_step_options& options = {});

    /// Adds `elapsed`, the real time since the last call, and returns how many steps are due. Below
    /// 0 counts as 0, and more than a year as a year. O(1), also after a stall of hours.
    BRAID_API unsigned advance(nanoseconds elapsed);

    /// Returns how far the time is between the last step and the next, in [0, 1): the position to
    /// draw.
    double blend() const {
        return static_cast<double>(left_) / static_cast<double>(options_.step.value);
    }
    /// Returns the number of steps so far. This number times the step is the game's time.
    std::uint64_t steps() const { return steps_; }
    /// Returns the game time that was dropped so far.
    nanoseconds dropped() const { return nanoseconds{dropped_}; }
    /// Sets the time scale, from the next advance() on.
    BRAID_API void set_time_scale(double scale);
    double time_scale() const { return options_.time_scale; }

private:
    fixed_step_options options_;
    std::int64_t left_ = 0;  // game time that no step has used, below one step
    double fraction_ = 0;    // part of a nanosecond, so that scaling loses nothing
    std::uint64_t steps_ = 0;
    std::int64_t dropped_ = 0;
};

BRAID_NAMESPACE_END
