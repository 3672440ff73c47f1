#include "recorder.hpp"

#include <algorithm>

namespace arena::host {
namespace {

// What the recorder can hold of one frame; parts beyond it run, but are not recorded.
constexpr std::size_t max_tasks = 1 << 14;

std::atomic<std::uint64_t> serial_numbers{0};

}  // namespace

lane_numbers::lane_numbers()
    : serial_number_(serial_numbers.fetch_add(1, std::memory_order_relaxed) + 1) {
    of_this_thread();
}

std::uint32_t lane_numbers::of_this_thread() {
    // A thread serves few of these at a time: the main thread one for each backend of a run.
    struct membership {
        std::uint64_t numbers = 0;
        std::uint32_t lane = 0;
    };
    thread_local std::array<membership, 8> known;
    thread_local std::size_t next = 0;
    for (const membership& own : known)
        if (own.numbers == serial_number_) return own.lane;
    membership& own = known[next++ % known.size()];
    own = {serial_number_, next_.fetch_add(1, std::memory_order_relaxed)};
    return own.lane;
}

recorder::recorder(lane_numbers& lanes) : lanes_(&lanes), tasks_(max_tasks) {}

void recorder::begin_frame() {
    next_task_.store(0, std::memory_order_relaxed);
    frame_begin_ = now();
}

void recorder::end_frame() {
    frame_end_ = now();
    task_count_ = std::min<std::size_t>(next_task_.load(std::memory_order_relaxed), max_tasks);
}

std::uint32_t recorder::begin_stage(const stage& row, std::uint32_t index, const game& world) {
    const std::uint32_t parts = row.parts(world);
    // Relaxed: the backend orders this before the parts of the stage, and those before end_frame.
    first_task_[index] = next_task_.fetch_add(parts, std::memory_order_relaxed);
    return parts;
}

void recorder::run_part(const stage& row, std::uint32_t index, game& world, std::uint32_t part) {
    const nanoseconds begin = now();
    row.run(world, part);
    keep(index, part, first_task_[index] + part, begin);
}

void recorder::keep(std::uint32_t index, std::uint32_t part, std::size_t at, nanoseconds begin) {
    const nanoseconds end = now();
    if (at < tasks_.size()) tasks_[at] = {index, part, lanes_->of_this_thread(), begin, end};
}

std::array<stage_record, max_stages> recorder::stages() const {
    std::array<stage_record, max_stages> out{};
    for (const task_record& task : tasks()) {
        stage_record& stage = out[task.stage];
        stage.begin = stage.parts == 0 ? task.begin : std::min(stage.begin, task.begin);
        stage.end = std::max(stage.end, task.end);
        stage.busy += task.end - task.begin;
        ++stage.parts;
    }
    return out;
}

}  // namespace arena::host
