#include "contender.hpp"

#include "allocation_count.hpp"

#include <algorithm>
#include <numeric>

namespace arena::host {
namespace {

double to_ms(nanoseconds time) { return static_cast<double>(time) * 1e-6; }

template <std::size_t... Number>
flight_recorders make_recorders(lane_numbers& lanes, std::index_sequence<Number...>) {
    return {(static_cast<void>(Number), recorder(lanes))...};
}

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
                     const model_blocks& models, const game_code& code)
    : name_(backend),
      threads_(backend == "serial" ? 1 : workers + 1),
      code_(code),
      world_(wish, models, code),
      frames_wanted_(std::min(wish.frames == 0 ? 300U : wish.frames, 10'000U)),
      recorders_(
          make_recorders(lanes_, std::make_index_sequence<std::tuple_size_v<flight_recorders>>())) {
    // What is noted of a frame must not allocate while the next ones run.
    for (auto* of : {&frame_ms_, &latency_ms_}) of->reserve(frames_wanted_);
    hashes_.reserve(frames_wanted_);
    allocations_.reserve(frames_wanted_);
    tasks_.reserve(frames_wanted_);
    sound_.reserve(frames_wanted_ * samples_per_frame * 2);
    if (backend == "braid") {
        auto own = std::make_unique<braid_frames>(workers, wish.frames_in);
        frames_ = own.get();
        if (frames_->assets() != nullptr) world_.use_assets(frames_->assets()->pages());
        backend_ = std::move(own);
    } else {
        backend_ = make_backend(backend, workers);
    }
    use_stages();
}

void contender::follow_code() {
    world_.follow_code();
    if (frames_ != nullptr) frames_->use_world(world_.state());
    if (stages_.data() != code_.stages().data()) use_stages();
}

void contender::use_stages() {
    stages_ = code_.stages();
    for (auto* of : {&stage_ms_, &busy_ms_}) {
        for (auto& times : *of) times.clear();
        for (std::size_t i = 0; i < stages_.size(); ++i) (*of)[i].reserve(frames_wanted_);
    }
    kept_.clear();
    if (frames_ == nullptr) return;
    frames_->prepare(
        stages_, world_.state(), recorders_, [this](std::uint64_t) { take_sound(); },
        [this](std::uint64_t frame) {
            frame_hashes_[frame % frame_hashes_.size()] = world_.api().hash(world_.state());
        });
}

void contender::run_frame(const game_input& input, bool keep) {
    const game_api& api = world_.api();
    if (keep != keep_) finish();  // what is kept allocates
    keep_ = keep;
    api.begin_frame(world_.state(), input);
    if (frames_ != nullptr) {
        if (!counting_allocations()) {
            allocated_ = counted_allocations();
            count_allocations(true);
        }
        frames_->advance();
        note_completed();
        return;
    }
    recorder& times = recorders_[(noted_ + 1) % recorders_.size()];
    allocated_ = counted_allocations();
    count_allocations(true);
    times.begin_frame();
    backend_->run_frame(stages_, world_.state(), times);
    times.end_frame();
    count_allocations(false);
    take_sound();
    note(times, api.hash(world_.state()));
}

void contender::finish() {
    if (frames_ == nullptr) return;
    frames_->finish();
    note_completed();
    count_allocations(false);
}

void contender::note_completed() {
    while (noted_ < frames_->completed()) {
        const std::uint64_t frame = noted_ + 1;
        note(recorders_[frame % recorders_.size()], frame_hashes_[frame % frame_hashes_.size()]);
    }
}

void contender::take_sound() {
    const auto samples = world_.samples();
    sound_.insert(sound_.end(), samples.begin(), samples.end());
}

void contender::note(const recorder& frame, std::uint64_t hash) {
    const std::uint64_t allocated = counted_allocations();
    allocations_.push_back(allocated - allocated_);
    allocated_ = allocated;
    frame_ms_.push_back(to_ms(frame.frame_end() - std::max(last_end_, frame.frame_begin())));
    latency_ms_.push_back(to_ms(frame.frame_time()));
    last_end_ = frame.frame_end();
    hashes_.push_back(hash);
    tasks_.push_back(static_cast<std::uint32_t>(frame.tasks().size()));
    const auto stages = frame.stages();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        stage_ms_[i].push_back(to_ms(stages[i].end - stages[i].begin));
        busy_ms_[i].push_back(to_ms(stages[i].busy));
        busy_total_ += busy_ms_[i].back();
    }
    ++noted_;
    if (!keep_) return;
    const bool counted = counting_allocations();
    count_allocations(false);
    const auto tasks = frame.tasks();
    for (const task_record& task : tasks)
        task_us_.push_back(static_cast<float>(task.end - task.begin) * 1e-3f);
    kept_.push_back(
        {noted_, frame.frame_begin(), frame.frame_time(), {tasks.begin(), tasks.end()}});
    count_allocations(counted);
}

const kept_frame& contender::typical_frame() {
    const auto middle = kept_.begin() + static_cast<std::ptrdiff_t>(kept_.size() / 2);
    std::nth_element(kept_.begin(), middle, kept_.end(),
                     [](const kept_frame& a, const kept_frame& b) { return a.time < b.time; });
    return *middle;
}

}  // namespace arena::host
