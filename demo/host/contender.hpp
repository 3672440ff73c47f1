// A backend with its own copy of the game, and what it took to run its frames.
#pragma once

#include "backends/braid_frames.hpp"
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

/// Of the frames in flight, and of those that are over and not noted yet.
using flight_recorders = std::array<recorder, 8>;

class contender {
public:
    /// `backend` is a name of backend_names().
    contender(const std::string& backend, unsigned workers, const options& wish,
              const model_blocks& models, const game_code& code);

    /// Runs the next frame and notes times and hash; `keep` also keeps its tasks. With frames in
    /// flight it may return before that one is over.
    void run_frame(const game_input& input, bool keep);
    /// Returns when all frames are over and noted.
    void finish();
    /// After finish(), when code was loaded. Where rows or edges are others, the times of stages
    /// begin anew.
    void follow_code();

    const std::string& name() const { return name_; }
    unsigned threads() const { return threads_; }
    world& own_world() { return world_; }
    const world& own_world() const { return world_; }
    const recorder& last_frame() const { return recorders_[noted_ % recorders_.size()]; }
    /// Null: not Braid.
    braid_frames* frames() const { return frames_; }

    /// From the end of the frame before, if that was later than this one's begin, to the end.
    const std::vector<double>& frame_ms() const { return frame_ms_; }
    /// From begin to end.
    const std::vector<double>& latency_ms() const { return latency_ms_; }
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
    void use_stages();
    void note_completed();
    void note(const recorder& frame, std::uint64_t hash);
    void take_sound();

    std::string name_;
    unsigned threads_;
    bool keep_ = false;
    const game_code& code_;
    world world_;
    std::span<const stage> stages_;
    std::size_t frames_wanted_;
    lane_numbers lanes_;
    flight_recorders recorders_;                   // frame n has number n % size()
    std::array<std::uint64_t, 8> frame_hashes_{};  // of frames in flight, likewise
    std::uint64_t noted_ = 0;
    nanoseconds last_end_ = 0;
    std::uint64_t allocated_ = 0;  // when the last frame was noted
    std::vector<double> frame_ms_, latency_ms_;
    std::array<std::vector<double>, max_stages> stage_ms_, busy_ms_;
    double busy_total_ = 0;
    std::vector<std::uint64_t> hashes_, allocations_;
    std::vector<std::uint32_t> tasks_;
    std::vector<float> task_us_;
    std::vector<std::int16_t> sound_;
    std::vector<kept_frame> kept_;
    std::unique_ptr<backend> backend_;  // last: its threads use all of this
    braid_frames* frames_ = nullptr;
};

/// The first is serial; the last one is the backend that was asked for.
using contenders = std::vector<std::unique_ptr<contender>>;

}  // namespace arena::host
