#pragma once
// Passes results of one frame to a later frame. The delay is always the same number of frames, so
// that the game computes the same results whatever the current depth of the loop is.

#include "braid/frame/frame_loop.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN

/// Passes results of the renderer (for example which objects were hidden, or which object is below
/// the cursor) back to the simulation. Frame n sees the result of frame n - slot_count(). At the
/// greatest depth of the loop, frame n - slot_count() is complete when frame n begins, so it is
/// complete at every smaller depth as well. In a loop that is made with depth 1, results arrive one
/// frame later than in a loop that is made with depth 0.
template <class T>
class frame_latch {
public:
    /// Frames see the value `before` if the earlier frame has stored no result.
    explicit frame_latch(const frame_loop& loop, const T& before = T())
        : delay_(loop.slot_count()), before_(before) {}

    /// Stores the result of `frame`. One body of each frame may call put(), once. The body may be
    /// in any stage.
    void put(std::uint64_t frame, T value) {
        entry& e = entries_[frame % count];
        e.value = std::move(value);
        e.frame = frame;
    }
    /// Returns the result that `frame` sees, which is the result of frame `frame` - delay(). Any
    /// body of `frame` may call it. Returns the constructor's `before` value if there is no earlier
    /// frame or if the earlier frame stored no result, for example because it failed. The reference
    /// is valid until `frame` ends.
    const T& seen_by(std::uint64_t frame) const {
        if (frame <= delay_) return before_;
        const entry& e = entries_[(frame - delay_) % count];
        return e.frame == frame - delay_ ? e.value : before_;
    }
    /// Returns by how many frames a result is delayed.
    std::uint64_t delay() const { return delay_; }

private:
    struct entry {
        T value{};
        std::uint64_t frame = 0;
    };
    // While the youngest frame in flight writes its entry, the oldest frame in flight may still
    // read an entry that is `delay_` frames older than itself.
    static constexpr std::size_t count = 2 * (frame_loop_options::most_depth + 1);

    std::uint64_t delay_;
    T before_;
    std::array<entry, count> entries_;
};

BRAID_NAMESPACE_END
