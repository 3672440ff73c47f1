#include "report.hpp"

#include "../game/model.hpp"
#include "import/import_model.hpp"
#include "wav.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace arena::host {
namespace {

constexpr const char* ruler = "------------------------------------------------------------------";

void print_row(std::string_view name, double parts, const summary_ms& serial,
               const summary_ms& parallel, double core_use) {
    const double ratio = parallel.p50 > 0 ? serial.p50 / parallel.p50 : 0;
    fmt::print(
        "{:<16}{:>6.0f} |{:>8.3f}{:>8.3f}{:>8.3f}{:>8.3f} |{:>8.3f}{:>8.3f}{:>8.3f}{:>8.3f} "
        "|{:>6.2f}{:>6.0f} %\n",
        name, parts, serial.mean, serial.p50, serial.p99, serial.max, parallel.mean, parallel.p50,
        parallel.p99, parallel.max, ratio, core_use * 100);
}

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

// Share of the time of all threads in which parts ran.
double core_use(const contender& one) {
    return one.busy_ms() / (sum(one.frame_ms()) * one.threads());
}

template <class Value>
double median(std::vector<Value> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

nlohmann::ordered_json times(const std::vector<double>& milliseconds) {
    const summary_ms ms = summarise(milliseconds);
    return {{"mean", ms.mean}, {"p50", ms.p50}, {"p99", ms.p99}};
}

nlohmann::ordered_json medians_of_stages(const contender& one) {
    nlohmann::ordered_json out;
    const auto stages = one.own_world().api().stages;
    for (std::size_t i = 0; i < stages.size(); ++i)
        out[stages[i].name] = summarise(one.stage_ms(i)).p50;
    return out;
}

// Allocations of a typical frame in the second half, when everything has found its size.
double steady_allocations(const contender& one) {
    const auto& all = one.allocations_per_frame();
    return median(std::vector<std::uint64_t>(
        all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end()));
}

void write_summary(const std::filesystem::path& file, const options& wish,
                   const model_blocks& models, const contenders& all) {
    const contender &serial = *all.front(), &parallel = *all.back();
    nlohmann::ordered_json names = nlohmann::ordered_json::array(), clips = names;
    for (std::size_t i = 0; i < models.size(); ++i) {
        names.push_back(import::model_files[i]);
        const model_view model(models[i].data());
        for (const model_clip& clip : model.clips())
            clips.push_back(fmt::format("{}: {}", model.name(), clip.name));
    }
    const auto hash = [](const contender& one) {
        return fmt::format("{:016x}", one.hashes().back());
    };
    const double speedup = summarise(serial.frame_ms()).p50 / summarise(parallel.frame_ms()).p50;
    nlohmann::ordered_json out = {
        {"characters", wish.characters},
        {"frames", serial.hashes().size()},
        {"seed", wish.seed},
        {"workers", wish.workers},
        {"serial_ms", times(serial.frame_ms())},
        {"parallel_ms", times(parallel.frame_ms())},
        {"speedup", speedup},
        {"hash_serial", hash(serial)},
        {"hash_parallel", hash(parallel)},
        {"hash_equal", first_difference(all) == 0},
        {"models", names},
        {"clips", clips},
        {"tasks_per_frame", static_cast<int>(median(parallel.tasks_per_frame()))},
        {"allocations_per_frame", steady_allocations(parallel)},
        {"stage_ms", medians_of_stages(parallel)}};
    if (parallel.frames() != nullptr) {
        // Between the ends of two frames, and from the begin of one to its end.
        out["pipeline"] = wish.frames_in.pipeline;
        out["pipeline_ms"] = summarise(parallel.frame_ms()).p50;
        out["latency_ms"] = summarise(parallel.latency_ms()).p50;
        out["graph"] = {{"tasks", parallel.frames()->nodes()},
                        {"edges", parallel.frames()->edges()}};
        if (const stage_device* const device = parallel.frames()->device()) {
            const device_counts counts = device->counts();
            const braid::device::processor_report& r = counts.of;
            out["device"] = {{"kind", device->name()},
                             {"submissions", r.submitted},
                             {"pieces", counts.pieces},
                             {"bytes_in", counts.bytes_in},
                             {"bytes_out", counts.bytes_out},
                             {"bytes_copied", counts.bytes_copied},
                             {"most_in_flight", r.most_in_flight},
                             {"completed", r.completed},
                             {"on_cores", r.moved_to_cores},
                             {"failed", r.failed},
                             {"rerun", r.rerun},
                             {"again", counts.again},
                             {"refused", r.refused},
                             {"losses", r.losses},
                             {"dead", r.dead},
                             {"waking_edges", r.waking_edges},
                             {"latency_p50_us", r.latency_p50.value / 1000},
                             {"latency_p99_us", r.latency_p99.value / 1000}};
        }
        if (const streamed_assets* const assets = parallel.frames()->assets()) {
            const braid::page_cache_statistics pages = assets->statistics();
            const braid::file_reader_statistics reads = assets->reads();
            out["stream"] = {{"back_end", reads.back_end},
                             {"bytes", pages.bytes},
                             {"reads", reads.read},
                             {"requests", reads.requests},
                             {"cancelled", reads.cancelled},
                             {"bytes_beyond_budget", reads.overdrawn},
                             {"pages", assets->pack_size()},
                             {"resident_bytes", pages.resident_bytes},
                             {"hits", pages.hits},
                             {"loaded", pages.loaded},
                             {"evicted", pages.evicted},
                             {"retried", pages.retried},
                             {"failed", pages.failed},
                             {"ahead_used", pages.ahead_used},
                             {"wasted", pages.wasted},
                             {"stalls", pages.late},
                             {"stalled_ms", static_cast<double>(pages.waited.value) * 1e-6},
                             {"read_p50_us", reads.p50.value / 1000},
                             {"read_p99_us", reads.p99.value / 1000},
                             {"page_p50_us", pages.p50.value / 1000},
                             {"page_p99_us", pages.p99.value / 1000}};
        }
        // After the last frame, when nothing should wait.
        const waiting_work waiting = parallel.frames()->waiting();
        out["waiting"] = {{"suspended", waiting.suspended}, {"outside", waiting.outside}};
    }
    std::ofstream stream(file);
    stream << out.dump(2) << '\n';
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string() + ".");
}

}  // namespace

std::size_t first_difference(const contenders& all) {
    const auto& reference = all.front()->hashes();
    for (std::size_t frame = 0; frame < reference.size(); ++frame)
        for (const auto& other : all)
            if (other->hashes()[frame] != reference[frame]) return frame + 1;
    return 0;
}

void print_stage_table(const contender& serial, const contender& parallel) {
    fmt::print("\nMilliseconds        serial                            | {} with {} thread{}\n",
               parallel.name(), parallel.threads(), parallel.threads() == 1 ? "" : "s");
    fmt::print("{:<16}{:>6} |{:>8}{:>8}{:>8}{:>8} |{:>8}{:>8}{:>8}{:>8} |{:>6}{:>8}\n", "stage",
               "tasks", "mean", "p50", "p99", "max", "mean", "p50", "p99", "max", "ratio", "cores");
    fmt::print("{}{}\n", ruler, std::string(45, '-'));
    const auto stages = parallel.own_world().api().stages;
    const auto last = parallel.last_frame().stages();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const double span = sum(parallel.stage_ms(i));
        const double use = sum(parallel.stage_busy_ms(i)) / (span * parallel.threads());
        print_row(stages[i].name, last[i].parts, summarise(serial.stage_ms(i)),
                  summarise(parallel.stage_ms(i)), use);
    }
    fmt::print("{}{}\n", ruler, std::string(45, '-'));
    print_row("frame", median(parallel.tasks_per_frame()), summarise(serial.frame_ms()),
              summarise(parallel.frame_ms()), core_use(parallel));
    fmt::print(
        "\nA stage's time runs from its first to its last task; stages of one frame overlap. "
        "The median task\ntakes {:.0f} us, {:.0f} allocations per frame.\n",
        median(parallel.task_us()), steady_allocations(parallel));
}

void print_backend_table(const contenders& all) {
    fmt::print("\n{:<10}{:>8} |{:>9}{:>9}{:>9}{:>9} |{:>9}{:>8}{:>8}  {}\n", "backend", "threads",
               "mean ms", "p50", "p99", "max", "speed-up", "cores", "allocs", "hash");
    fmt::print("{}{}\n", ruler, std::string(36, '-'));
    const double serial = summarise(all.front()->frame_ms()).p50;
    for (const auto& one : all) {
        const summary_ms ms = summarise(one->frame_ms());
        fmt::print(
            "{:<10}{:>8} |{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f} |{:>9.2f}{:>6.0f} %{:>8.0f}  "
            "{:016x}\n",
            one->name(), one->threads(), ms.mean, ms.p50, ms.p99, ms.max, serial / ms.p50,
            core_use(*one) * 100, steady_allocations(*one), one->hashes().back());
    }
}

void make_out_folder(const options& wish) {
    std::error_code trouble;
    std::filesystem::create_directories(wish.out, trouble);
    if (trouble) throw std::runtime_error("cannot create the folder " + wish.out.string() + ".");
}

void write_reports(const options& wish, const model_blocks& models, const contenders& all) {
    contender& parallel = *all.back();
    write_png(wish.out / "frame.png", parallel.own_world().picture());
    if (!write_wav(wish.out / "sound.wav", parallel.sound(), sample_rate))
        throw std::runtime_error("cannot write " + (wish.out / "sound.wav").string() + ".");
    const kept_frame& frame = parallel.typical_frame();
    write_timeline(wish.out / "timeline.svg", parallel.own_world().api().stages, frame,
                   fmt::format("Frame {} of the arena: {} characters, {} with {} threads",
                               frame.number, wish.characters, parallel.name(), parallel.threads()));
    write_summary(wish.out / "summary.json", wish, models, all);
}

}  // namespace arena::host
