#pragma once
// A record of how a frame spent its time.

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

inline constexpr unsigned most_stages = 8;

/// Describes one stage in one frame. Moments are from active_policy::now(), in ns.
struct stage_record {
    const char* name = "";
    std::int64_t began = 0, ended = 0;
    /// The time from the end of the previous stage of this frame to `began`, while the stage waited
    /// for the previous frame. It is 0 for the first stage.
    nanoseconds waited{0};
    nanoseconds ran{0};  // from `began` to `ended`
    bool serial = false;
    bool over_budget = false;  // `ran` was more than stage_options::budget
};

/// The sum of `waited` and `ran` over all stages is exactly `time`, to the nanosecond.
struct frame_record {
    std::uint64_t frame = 0;     // 0 if there is no frame
    std::int64_t submitted = 0;  // when advance() began the frame
    std::int64_t began = 0, ended = 0;
    nanoseconds time{0};  // latency: from the start of the first stage to the end of the last
    unsigned stages = 0;
    stage_record stage[most_stages] = {};
    bool over_budget = false;  // `time` was more than frame_loop_options::budget
    /// A stage failed, or the frame was cancelled. The stages that did not succeed have a `ran` of
    /// 0.
    bool failed = false;
};

/// Writes one line for an overlay or a log, such as
///   frame 7: 9.20 of 8.00 ms OVER = simulate 4.10 + (0.30) draw 4.80 OVER
/// In this line, (0.30) is `waited` of the stage draw, and OVER marks a frame or a stage above its
/// budget. Writes at most `size` bytes to `text`, including the terminating zero. Returns the
/// length of the whole line, as snprintf does, even if it did not fit.
BRAID_API std::size_t describe(const frame_record& record, nanoseconds budget, char* text,
                               std::size_t size);

BRAID_NAMESPACE_END
