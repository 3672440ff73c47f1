#pragma once
// Where a frame's time went.

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

inline constexpr unsigned most_stages = 8;

/// What one stage did in one frame. Times are active_policy::now().
struct stage_record {
    const char* name = "";
    std::int64_t began = 0, ended = 0;
    /// From the end of the stage before until `began`: behind the frame before this one. 0 for the
    /// first stage.
    nanoseconds waited{0};
    nanoseconds ran{0};  // from `began` to `ended`
    bool serial = false;
    bool over_budget = false;  // `ran` was more than stage_options::budget
};

/// `waited` and `ran` of all stages add up to `time`, to the nanosecond.
struct frame_record {
    std::uint64_t frame = 0;     // 0: there is none
    std::int64_t submitted = 0;  // when advance() began it
    std::int64_t began = 0, ended = 0;
    nanoseconds time{0};  // latency: from the begin of the first stage to the end of the last
    unsigned stages = 0;
    stage_record stage[most_stages] = {};
    bool over_budget = false;  // `time` was more than frame_loop_options::budget
    /// A stage failed: it, and those after it, take no time here from then on.
    bool failed = false;
};

/// One line for an overlay or a log, such as
///   frame 7: 9.20 of 8.00 ms OVER = simulate 4.10 + (0.30) draw 4.80 OVER
/// where (0.30) is `waited`. As snprintf: returns the length of the whole line, and writes what
/// fits with a zero behind it.
BRAID_API std::size_t describe(const frame_record& record, nanoseconds budget, char* text,
                               std::size_t size);

BRAID_NAMESPACE_END
