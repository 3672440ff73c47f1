// A backend with its own copy of the game, and what it took to run its frames.
#pragma once

#include "backend.hpp"
#include "world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace arena::host {

/// Times of many frames, in milliseconds.
struct summary_ms {
    double mean = 0, p50 = 0, p99 = 0, max = 0;
};
summary_ms summarise(std::vector<double> milliseconds);

/// The tasks of one frame, kept for the timeline.
struct kept_frame {
    std::uint64_t number = 0;
    nanoseconds begin = 0, time = 0;
    std::vector<task_record> tasks;
};

class contender {
public:
    /// `backend` is a name of backend_names().
    contender(const std::string& backend, unsigned workers, const options& wish,
              const model_blocks& models);

    /// Runs the next frame and notes times and hash; `keep` also keeps its tasks.
    void run_frame(const game_input& input, bool keep);

    const std::string& name() const { return name_; }
    unsigned threads() const { return threads_; }
    world& own_world() { return world_; }
    const world& own_world() const { return world_; }
    const recorder& last_frame() const { return recorder_; }

    const std::vector<double>& frame_ms() const { return frame_ms_; }
    /// First part to last part, and summed over the parts, of one stage in every frame.
    const std::vector<double>& stage_ms(std::size_t stage) const { return stage_ms_[stage]; }
    const std::vector<double>& stage_busy_ms(std::size_t stage) const { return busy_ms_[stage]; }
    double busy_ms() const { return busy_total_; }  // all stages, all frames
    const std::vector<std::uint64_t>& hashes() const { return hashes_; }
    const std::vector<std::uint32_t>& tasks_per_frame() const { return tasks_; }
    const std::vector<std::uint64_t>& allocations_per_frame() const { return allocations_; }
    const std::vector<float>& task_us() const { return task_us_; }  // of the kept frames
    std::vector<std::int16_t>& sound() { return sound_; }
    /// The kept frame whose time is in the middle.
    const kept_frame& typical_frame();

private:
    std::string name_;
    unsigned threads_;
    std::unique_ptr<backend> backend_;
    world world_;
    recorder recorder_;
    std::vector<double> frame_ms_;
    std::array<std::vector<double>, max_stages> stage_ms_, busy_ms_;
    double busy_total_ = 0;
    std::vector<std::uint64_t> hashes_, allocations_;
    std::vector<std::uint32_t> tasks_;
    std::vector<float> task_us_;
    std::vector<std::int16_t> sound_;
    std::vector<kept_frame> kept_;
};

}  // namespace arena::host
