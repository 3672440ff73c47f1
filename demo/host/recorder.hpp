// Measures a frame: when each part of each stage ran, and on which thread. The backends call it
// around their parts; nothing is locked and nothing allocated.
#pragma once

#include "../game/game_api.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace arena::host {

using nanoseconds = std::int64_t;

inline nanoseconds now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

struct task_record {
    std::uint32_t stage, part, lane;
    nanoseconds begin, end;
};

struct stage_record {
    nanoseconds begin = 0, end = 0;  // first part to last part
    nanoseconds busy = 0;            // summed over parts
    std::uint32_t parts = 0;
};

/// Numbers threads in the order in which they come. The thread that makes it is lane 0.
class lane_numbers {
public:
    lane_numbers();
    std::uint32_t of_this_thread();
    std::uint32_t count() const { return next_.load(std::memory_order_relaxed); }

private:
    std::uint64_t serial_number_;  // tells these apart in thread-local memory
    std::atomic<std::uint32_t> next_{0};
};

class recorder {
public:
    /// Several recorders may share their lanes.
    explicit recorder(lane_numbers& lanes);

    /// Before and after a frame.
    void begin_frame();
    void end_frame();

    /// Asks `stage` for its parts; once per frame, before any part of it runs.
    std::uint32_t begin_stage(const stage& row, std::uint32_t index, const game& world);
    void run_part(const stage& row, std::uint32_t index, game& world, std::uint32_t part);

    /// What a core does for a stage that runs elsewhere: one part.
    template <class Body>
    void run_alone(std::uint32_t index, Body&& body) {
        const nanoseconds begin = now();
        body();
        keep(index, 0, next_task_.fetch_add(1, std::memory_order_relaxed), begin);
    }

    // Of the last frame, after end_frame.
    nanoseconds frame_begin() const { return frame_begin_; }
    nanoseconds frame_end() const { return frame_end_; }
    nanoseconds frame_time() const { return frame_end_ - frame_begin_; }
    std::span<const task_record> tasks() const { return {tasks_.data(), task_count_}; }
    std::array<stage_record, max_stages> stages() const;
    std::uint32_t lanes() const { return lanes_->count(); }

private:
    void keep(std::uint32_t index, std::uint32_t part, std::size_t at, nanoseconds begin);

    lane_numbers* lanes_;
    std::atomic<std::uint32_t> next_task_{0};
    std::array<std::uint32_t, max_stages> first_task_{};
    std::vector<task_record> tasks_;
    std::size_t task_count_ = 0;
    nanoseconds frame_begin_ = 0, frame_end_ = 0;
};

}  // namespace arena::host
