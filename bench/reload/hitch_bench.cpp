// What a reload costs the frames of a game: the longest of those in which a child is forked for the
// trial (and the boundary before that one, in which it is forked), goes on, and the code goes over,
// beside the median of those before.
#include "hitch_state.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/reload/function.hpp>
#include <braid/reload/modules.hpp>
#include <braid/reload/plan.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace reload = braid::reload;
namespace fs = std::filesystem;
using clock_type = std::chrono::steady_clock;

constexpr std::uint64_t read_in_frame = 1024 * 1024 / 64;

double ms_since(clock_type::time_point begun) {
    return std::chrono::duration<double, std::milli>(clock_type::now() - begun).count();
}

/// A program with a loop of 5 ms a frame, and a module that is put in place for it.
class program {
public:
    explicit program(std::uint64_t state_bytes) : bytes_(state_bytes) {
        modules_.try_with([this](reload::trial&) { (void)run_(state_, bytes_); },
                          {.within = braid::seconds(60)});
    }
    ~program() { fs::remove_all(folder_); }
    program(const program&) = delete;
    program& operator=(const program&) = delete;

    void put(int build) const {
        const fs::path from = fs::path(HITCH_MODULES) / ("hitch_" + std::to_string(build) + ".so");
        fs::copy_file(from, folder_ / "new", fs::copy_options::overwrite_existing);
        fs::rename(folder_ / "new", folder_ / "libhitch.so");
    }
    /// Time of the boundary and of the frame, without the pause after it.
    double frame() {
        const auto begun = clock_type::now();
        reload::outcome went = modules_.at_frame_boundary();
        boundary_ms_ = ms_since(begun);
        const std::uint64_t sum = run_(state_, bytes_);
        const double took = ms_since(begun);
        loaded_ += went.loaded();
        if (went) said_ = went.text();
        wrong_ = wrong_ || (loaded_ != 0 && sum != read_in_frame) || went.refused() != 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return took;
    }
    double boundary_ms() const { return boundary_ms_; }
    unsigned loaded() const { return loaded_; }
    bool is_wrong() const { return wrong_; }
    const std::string& said() const { return said_; }

private:
    static fs::path make_folder() {
        std::string name = (fs::temp_directory_path() / "hitch-XXXXXX").string();
        return mkdtemp(name.data()) != nullptr ? fs::path(name) : fs::path();
    }
    /// The first build is there before anybody looks.
    fs::path module_path() const {
        put(1);
        return folder_ / "libhitch.so";
    }

    const std::uint64_t bytes_;
    const fs::path folder_ = make_folder();
    braid::scheduler tasks_{{.workers = 1}};
    reload::modules modules_{tasks_};
    reload::module& module_ = modules_.add({.name = "hitch", .path = module_path().string()});
    reload::function<hitch::frame> run_{
        module_, "run", [](reload::arena&, std::uint64_t) -> std::uint64_t { return 0; }};
    reload::arena state_{modules_};
    double boundary_ms_ = 0;
    unsigned loaded_ = 0;
    bool wrong_ = false;
    std::string said_;
};

/// `build`: 2 has the layout of 1, 3 has another one, so that all of the state is copied.
void reload_hitch(benchmark::State& state, int build) {
    std::vector<double> usual, boundary, fork, meanwhile, swap;
    for (auto _ : state) {
        program own(static_cast<std::uint64_t>(state.range(0)) << 20);
        while (own.loaded() == 0) (void)own.frame();
        for (int i = 0; i < 200; ++i) usual.push_back(own.frame());
        own.put(build);
        std::vector<double> times, boundaries;
        while (own.loaded() == 1 && !own.is_wrong()) {
            times.push_back(own.frame());
            boundaries.push_back(own.boundary_ms());
        }
        if (own.loaded() != 2 || times.size() < 2) {
            state.SkipWithError(("it was not reloaded: " + own.said()).c_str());
            return;
        }
        swap.push_back(times.back());
        times.pop_back();
        boundaries.pop_back();
        const auto forked = std::ranges::max_element(boundaries) - boundaries.begin();
        boundary.push_back(boundaries[static_cast<std::size_t>(forked)]);
        fork.push_back(times[static_cast<std::size_t>(forked)]);
        times.erase(times.begin() + forked);
        meanwhile.push_back(times.empty() ? 0 : std::ranges::max(times));
        for (int i = 0; i < 130; ++i) (void)own.frame();
        if (own.is_wrong()) {
            state.SkipWithError(("a sum is wrong, or a boundary says: " + own.said()).c_str());
            return;
        }
    }
    const auto median = [](std::vector<double>& all) {
        std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
        return all[all.size() / 2];
    };
    state.counters["frame_ms"] = median(usual);
    state.counters["boundary_ms"] = median(boundary);
    state.counters["fork_ms"] = median(fork);
    state.counters["longest_in_trial_ms"] = median(meanwhile);
    state.counters["swap_ms"] = median(swap);
}

/// Both files are read and parsed anew; the counter is what they have together.
void reload_plan(benchmark::State& state, const char* old_file, const char* new_file) {
    const fs::path before = fs::path(HITCH_MODULES) / old_file;
    const fs::path after = fs::path(HITCH_MODULES) / new_file;
    if (!fs::exists(before) || !fs::exists(after)) {
        state.SkipWithError("the modules are not built: build the target 'bench'");
        return;
    }
    for (auto _ : state) {
        const reload::plan_result found = reload::plan_files(before, after);
        if (!found.readable || found.refused) {
            state.SkipWithError("there is no plan");
            return;
        }
    }
    state.counters["files_mb"] =
        static_cast<double>(fs::file_size(before) + fs::file_size(after)) / 1e6;
}
void reload_plan_small(benchmark::State& state) { reload_plan(state, "hitch_1.so", "hitch_3.so"); }
void reload_plan_large(benchmark::State& state) { reload_plan(state, "large_1.so", "large_2.so"); }
BENCHMARK(reload_plan_small)->Name("reload_plan")->Unit(benchmark::kMillisecond);
BENCHMARK(reload_plan_large)->Unit(benchmark::kMillisecond);

void reload_hitch_code(benchmark::State& state) { reload_hitch(state, 2); }
void reload_hitch_layout(benchmark::State& state) { reload_hitch(state, 3); }

BENCHMARK(reload_hitch_code)
    ->Arg(16)
    ->Arg(256)
    ->Arg(1024)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(reload_hitch_layout)
    ->Arg(16)
    ->Arg(256)
    ->Arg(1024)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
