#pragma once
// A frame_latch passes results of one frame to a later frame. The delay is always the same number
// of frames, so the game computes the same results whatever the current depth of the loop is.

#include "braid/frame/frame_loop.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN

/// Passes results of the renderer back to the simulation, for example which objects were hidden, or
/// which object is below the cursor. Frame n sees the result of frame n - slot_count(). Even at the
/// greatest depth of the loop, frame n - slot_count() is complete when frame n begins. In a loop
/// that is made with depth 1, results arrive one frame later than in a loop that is made with depth
/// 0.
template <class T>
class frame_latch {
public:
    /// Creates a latch for `loop`. A frame sees the value `before` if the earlier frame has stored
    /// no result.
    explicit frame_latch(const frame_loop& loop, const T& before = T())
        : delay_(loop.slot_count()), before_(before) {}

    /// Stores the result of `frame`. At most one body of each frame may call put(), and only once.
    /// The body may be in any stage.
    void put(std::uint64_t frame, T value) {
        entry& e = entries_[frame % count];
        e.value = std::move(value);
        e.frame = frame;
    }
    /// Returns the result that `frame` sees, which is the result of frame `frame` - delay(). Any
    /// body of `frame` may call seen_by(). Returns the constructor's `before` value if there is no
    /// earlier frame or if the earlier frame has stored no result, for example because it failed.
    /// The reference is valid until `frame` ends.
    const T& seen_by(std::uint64_t frame) const {
        if (frame <= delay_) return before_;
        const entry& e = entries_[(frame - delay_) % count];
        return e.frame == frame - delay_ ? e.value : before_;
    }
    /// Returns the number of frames by which a result is delayed.
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
