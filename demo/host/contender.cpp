#include "contender.hpp"

#include "allocation_count.hpp"

#include <algorithm>
#include <numeric>

namespace arena::host {
namespace {

double to_ms(nanoseconds time) { return static_cast<double>(time) * 1e-6; }

}  // namespace

summary_ms summarise(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const auto quantile = [&](double part) {
        return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) +
                                               0.5)];
    };
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {sum / static_cast<double>(values.size()), quantile(0.5), quantile(0.99), values.back()};
}

contender::contender(const std::string& backend, unsigned workers, const options& wish,
                     const model_blocks& models)
    : name_(backend),
      threads_(backend == "serial" ? 1 : workers + 1),
      backend_(make_backend(backend, workers)),
      world_(wish, models) {}

void contender::run_frame(const game_input& input, bool keep) {
    const game_api& api = world_.api();
    api.begin_frame(world_.state(), input);
    const std::uint64_t allocated = counted_allocations();
    count_allocations(true);
    recorder_.begin_frame();
    backend_->run_frame(api.stages, world_.state(), recorder_);
    recorder_.end_frame();
    count_allocations(false);

    allocations_.push_back(counted_allocations() - allocated);
    frame_ms_.push_back(to_ms(recorder_.frame_time()));
    hashes_.push_back(api.hash(world_.state()));
    tasks_.push_back(static_cast<std::uint32_t>(recorder_.tasks().size()));
    const auto stages = recorder_.stages();
    for (std::size_t i = 0; i < api.stages.size(); ++i) {
        stage_ms_[i].push_back(to_ms(stages[i].end - stages[i].begin));
        busy_ms_[i].push_back(to_ms(stages[i].busy));
        busy_total_ += busy_ms_[i].back();
    }
    const auto samples = world_.sound().samples();
    sound_.insert(sound_.end(), samples.begin(), samples.end());
    if (!keep) return;
    const auto tasks = recorder_.tasks();
    for (const task_record& task : tasks)
        task_us_.push_back(static_cast<float>(task.end - task.begin) * 1e-3f);
    kept_.push_back({frame_ms_.size(),
                     recorder_.frame_begin(),
                     recorder_.frame_time(),
                     {tasks.begin(), tasks.end()}});
}

const kept_frame& contender::typical_frame() {
    const auto middle = kept_.begin() + static_cast<std::ptrdiff_t>(kept_.size() / 2);
    std::nth_element(kept_.begin(), middle, kept_.end(),
                     [](const kept_frame& a, const kept_frame& b) { return a.time < b.time; });
    return *middle;
}

}  // namespace arena::host
