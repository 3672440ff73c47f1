#pragma once
// A frame_record describes how a frame spent its time.

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

inline constexpr unsigned most_stages = 8;

/// Describes one stage in one frame. `began` and `ended` are values of active_policy::now(), in ns.
struct stage_record {
    const char* name = "";
    std::int64_t began = 0, ended = 0;
    /// The time that the stage waited for the previous frame, from the end of the previous stage of
    /// this frame to `began`. It is 0 for the first stage.
    nanoseconds waited{0};
    nanoseconds ran{0};  // from `began` to `ended`
    bool serial = false;
    bool over_budget = false;  // `ran` was more than stage_options::budget
};

/// Describes one frame. The sum of `waited` and `ran` over all stages is exactly `time`, to the
/// nanosecond. `submitted`, `began` and `ended` are values of active_policy::now(), in ns.
struct frame_record {
    std::uint64_t frame = 0;     // 0 if there is no frame
    std::int64_t submitted = 0;  // when advance() began the frame
    std::int64_t began = 0, ended = 0;
    nanoseconds time{0};  // latency: from the start of the first stage to the end of the last
    unsigned stages = 0;
    stage_record stage[most_stages] = {};
    bool over_budget = false;  // `time` was more than frame_loop_options::budget
    /// Set if a stage failed or the frame was cancelled. The `ran` of a stage that did not succeed
    /// is 0.
    bool failed = false;
};

/// Writes one line for an overlay or a log, such as
///   frame 7: 9.20 of 8.00 ms OVER = simulate 4.10 + (0.30) draw 4.80 OVER
/// In this line, (0.30) is `waited` of the stage draw, and OVER marks a frame or a stage above its
/// budget. describe() writes at most `size` bytes to `text`, including the terminating zero. It
/// returns the length of the whole line, even if the line does not fit, as snprintf does.
BRAID_API std::size_t describe(const frame_record& record, nanoseconds budget, char* text,
                               std::size_t size);

BRAID_NAMESPACE_END
