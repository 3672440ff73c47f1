#pragma once
// Turns frames of any length into steps of a fixed length, so that the game runs the same at every
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
    /// The maximum number of steps in one frame. Time beyond it is dropped, so that a game that
    /// cannot keep up becomes slow instead of computing ever more steps in ever longer frames. 0
    /// counts as 1.
    unsigned most_steps = 4;
    /// The speed of game time relative to real time, from 0 to a million. For example, 0.5 is slow
    /// motion and 0 is a pause. Values below 0 and NaN count as 0. Values above a million count as
    /// a million.
    double time_scale = 1.0;
};

/// One thread at a time may use an object of this class. The results depend only on the arguments
/// and on the options, not on a clock.
class fixed_step {
public:
    BRAID_API explicit fixed_step(const fixed_step_options& options = {});

    /// Adds `elapsed`, the real time since the last call, and returns how many steps are due. A
    /// time below 0 counts as 0, and a time above a year counts as a year. Costs O(1), also after a
    /// stall of hours.
    BRAID_API unsigned advance(nanoseconds elapsed);

    /// Returns how far game time has advanced from the last step to the next step, in [0, 1). Use
    /// the value to interpolate the positions to draw.
    double blend() const {
        return static_cast<double>(left_) / static_cast<double>(options_.step.value);
    }
    /// Returns the number of steps so far. The game time is this number times the length of a step.
    std::uint64_t steps() const { return steps_; }
    /// Returns the total game time that was dropped so far.
    nanoseconds dropped() const { return nanoseconds{dropped_}; }
    /// Sets the time scale. The new scale takes effect in the next advance().
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
