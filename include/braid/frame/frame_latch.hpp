#pragma once
// Results of one frame for a later one, always the same number of frames late, so that the game
// computes the same at every depth of its loop.

#include "braid/frame/frame_loop.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN

/// What the renderer found out (what was hidden, what lies below the cursor) comes back to
/// simulation: frame n sees what frame n - slot_count() has put, which is complete at the loop's
/// greatest depth, and at every smaller one as well. With depth 1: one frame later than in a serial
/// loop.
template <class T>
class frame_latch {
public:
    /// `before`: what frames see for which there is nothing.
    explicit frame_latch(const frame_loop& loop, const T& before = T())
        : delay_(loop.slot_count()), before_(before) {}

    /// One body of each frame, in any of its stages; once.
    void put(std::uint64_t frame, T value) {
        entry& e = entries_[frame % count];
        e.value = std::move(value);
        e.frame = frame;
    }
    /// Any bodies of that frame. A frame that failed before it put anything shows as `before`. The
    /// reference is good until the frame ends.
    const T& seen_by(std::uint64_t frame) const {
        if (frame <= delay_) return before_;
        const entry& e = entries_[(frame - delay_) % count];
        return e.frame == frame - delay_ ? e.value : before_;
    }
    std::uint64_t delay() const { return delay_; }

private:
    struct entry {
        T value{};
        std::uint64_t frame = 0;
    };
    // The oldest frame in flight may read `delay` back while the youngest writes.
    static constexpr std::size_t count = 2 * (frame_loop_options::most_depth + 1);

    std::uint64_t delay_;
    T before_;
    std::array<entry, count> entries_;
};

BRAID_NAMESPACE_END
