// Braid: the whole frame goes in as one network. Each stage is a task after the stages that it
// follows; a stage of many parts gives birth to a child for each, and is complete with the last of
// them. The main thread waits once, for the task that follows all, and runs whatever is
// ready meanwhile: every task promises never to wait.
#include "../backend.hpp"

#include <braid/braid.hpp>

#include <algorithm>
#include <array>

namespace arena::host {
namespace {

class braid_backend final : public backend {
public:
    explicit braid_backend(unsigned workers)
        : scheduler_({.name = "arena", .workers = static_cast<int>(workers)}) {}

    void run_frame(std::span<const stage> table, game& world, recorder& times) override {
        table_ = table;
        world_ = &world;
        times_ = &times;
        std::array<braid::task_id, max_stages> ids{}, earlier{};
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            const auto after = table[i].after;
            std::transform(after.begin(), after.end(), earlier.begin(),
                           [&](std::uint8_t row) { return ids[row]; });
            ids[i] = scheduler_.spawn({.name = table[i].name,
                                       .after_all = {earlier.data(), after.size()},
                                       .never_waits = true},
                                      [this, i](braid::task_context& task) { run_stage(task, i); });
        }
        const braid::task_id frame = scheduler_.spawn(
            {.name = "frame", .after_all = {ids.data(), table.size()}}, braid::empty);
        scheduler_.wait(frame, braid::help::any);
    }

private:
    void run_stage(braid::task_context& task, std::uint32_t i) {
        const std::uint32_t parts = times_->begin_stage(table_[i], i, *world_);
        if (parts == 1) return times_->run_part(table_[i], i, *world_, 0);
        scheduler_.spawn_batch({.name = table_[i].name, .parent = task.id(), .never_waits = true},
                               parts, [this, i](std::size_t part) {
                                   times_->run_part(table_[i], i, *world_,
                                                    static_cast<std::uint32_t>(part));
                               });
    }

    braid::scheduler scheduler_;
    std::span<const stage> table_;
    game* world_ = nullptr;
    recorder* times_ = nullptr;
};

}  // namespace

std::unique_ptr<backend> make_braid_backend(unsigned workers) {
    return std::make_unique<braid_backend>(workers);
}

}  // namespace arena::host
