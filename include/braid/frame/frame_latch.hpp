#pragma once
// Passes results of one frame to a later frame, always the same number of frames later, so that the
// game computes the same at every depth of its loop.

#include "braid/frame/frame_loop.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN

/// Brings what the renderer found out (what was hidden, what lies below the cursor) back to the
/// simulation. Frame n sees what frame n - slot_count() put. That frame is complete at the loop's
/// greatest depth, and so at every smaller one as well. With depth 1, results arrive one frame
/// later than in a serial loop.
template <class T>
class frame_latch {
public:
    /// Frames see `before` where there is no result.
    explicit frame_latch(const frame_loop& loop, const T& before = T())
        : delay_(loop.slot_count()), before_(before) {}

    /// Stores the result of `frame`. One body of each frame, in any of its stages, calls it once.
    void put(std::uint64_t frame, T value) {
        entry& e = entries_[frame % count];
        e.value = std::move(value);
        e.frame = frame;
    }
    /// Returns what `frame` sees. Any body of that frame may call it. If the earlier frame failed
    /// before it put anything, the result is `before`. The reference is valid until `frame` ends.
    const T& seen_by(std::uint64_t frame) const {
        if (frame <= delay_) return before_;
        const entry& e = entries_[(frame - delay_) % count];
        return e.frame == frame - delay_ ? e.value : before_;
    }
    /// Returns how many frames later a result is seen.
    std::uint64_t delay() const { return delay_; }

private:
    struct entry {
        T value{};
        std::uint64_t frame = 0;
    };
    // The oldest frame in flight may read an entry that is `delay` frames older while the youngest
    // writes.
    static constexpr std::size_t count = 2 * (frame_loop_options::most_depth + 1);

    std::uint64_t delay_;
    T before_;
    std::array<entry, count> entries_;
};

BRAID_NAMESPACE_END
