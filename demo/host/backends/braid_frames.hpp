// Braid: the frame table as two retained graphs, one for each phase, in a frame loop. While a frame
// is drawn, the next ones may be simulated.
#pragma once

#include "../backend.hpp"
#include "../device/stage_device.hpp"
#include "../options.hpp"
#include "../stream/streamed_assets.hpp"
#include "../world.hpp"

#include <braid/braid.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/job_list/job_list_manager.hpp>
#include <braid/profile/sinks.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace arena::host {

class braid_frames final : public backend {
public:
    /// The names that `serial_stage` may have: phases, and rows of the table.
    static std::vector<std::string> stage_names(std::span<const stage> table);

    braid_frames(unsigned workers, const frame_options& wish);
    ~braid_frames() override;

    /// One frame, from its begin to its end. The world may be another one than before.
    void run_frame(std::span<const stage> table, game& world, recorder& times) override;
    waiting_work waiting() const override;
    /// For tasks beside those of the frames.
    braid::scheduler& own_scheduler() { return scheduler_; }

    /// For frames in flight: before the first one. Frame n is recorded by
    /// `times[n % times.size()]`; `after_drawing(n)` is called when it is over, before the next one
    /// is drawn, `after_simulating(n)` likewise. Again after rows or edges have changed, while no
    /// frame is in flight: the graphs are built anew.
    void prepare(std::span<const stage> table, game& world, std::span<recorder> times,
                 std::function<void(std::uint64_t)> after_simulating,
                 std::function<void(std::uint64_t)> after_drawing);
    /// The world lies elsewhere, or is another one; while no frame is in flight.
    void use_world(game& world) { world_ = &world; }
    /// Begins the next frame, when there is room.
    void advance() { loop_.advance(); }
    void finish() { loop_.finish(); }
    std::uint64_t completed() const { return loop_.completed(); }

    std::size_t nodes() const { return simulating_->size() + drawing_->size(); }
    std::size_t edges() const { return edges_; }
    /// Null: there is none.
    const stage_device* device() const { return device_ ? &*device_ : nullptr; }
    /// Null: they are not streamed.
    const streamed_assets* assets() const { return assets_ ? &*assets_ : nullptr; }
    /// Ends the capture, if there is one. Throws when it could not be written.
    void end_capture();
    /// Which nodes go first, and why; empty for static priorities.
    std::string priorities() const;
    /// Both graphs as pictures, `<phase>.svg` in that folder. What went wrong, or "".
    std::string draw_graphs(const std::filesystem::path& folder) const;

private:
    struct job {
        braid_frames* self;
        std::uint32_t row, part;
        recorder* times;
    };
    braid::frame_stage& stage_of(phase p) {
        return p == phase::simulate ? *simulating_ : *drawing_;
    }
    void build();
    void add_rows();
    void add_row(std::uint32_t row);
    bool is_last(std::uint32_t row) const;
    void connect(phase of, braid::graph_node earlier, braid::graph_node later);
    void run_row(const braid::frame_context& frame, std::uint32_t row);
    bool runs_on_device(const braid::frame_context& frame, std::uint32_t row) const;
    void run_shadow_jobs(const braid::frame_context& frame);
    static void run_job(void* data);
    void add_jobs(const braid::frame_context& frame, std::uint32_t row);
    recorder& times(std::uint64_t frame) { return times_[frame % times_.size()]; }

    bool records() const { return !wish_.capture.empty() || wish_.live != nullptr; }
    void begin_capture();

    frame_options wish_;
    braid::profile::file_sink file_;
    std::optional<braid::profile::fan_out> sinks_;
    braid::profile::recorder capture_;
    braid::scheduler scheduler_;
    braid::frame_loop loop_;
    std::optional<braid::frame_stage> simulating_, drawing_;
    std::vector<braid::graph_node> all_;
    std::size_t edges_ = 0;

    braid::job_list_manager lists_{scheduler_};
    braid::job_list* shadows_ = nullptr;
    std::vector<job> jobs_;
    // Skinning, light binning, floor lightmap; a table without one of them has no such jobs.
    std::array<std::uint32_t, 3> shadow_rows_{};

    std::span<const stage> table_;
    game* world_ = nullptr;
    std::span<recorder> times_;
    std::function<void(std::uint64_t)> after_simulating_, after_drawing_;
    std::optional<streamed_assets> assets_;
    std::optional<stage_device> device_;  // last: its kernels use all of this
};

}  // namespace arena::host
