// The platform executable: reads the command line, imports the models, then runs in a window or
// off screen.
#include "backends/braid_frames.hpp"
#include "device/stage_device.hpp"
#include "headless.hpp"
#include "import/import_model.hpp"
#include "import/import_process.hpp"
#include "live.hpp"
#include "self_edit.hpp"
#include "stream/streamed_assets.hpp"
#include "window.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>

namespace arena::host {

unsigned usable_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

namespace {

void describe(CLI::App& app, options& wish, bool& serial, std::string& priorities) {
    const std::vector<std::string> names = backend_names();
    wish.backend = names.front();
    wish.workers = std::min(usable_cores() - 1, max_workers);
    wish.models = ARENA_MODELS_DIR;
    wish.out = "out/demo";
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_flag("--headless", wish.headless, "Render off screen (the default without a display)");
    app.add_option("--frames", wish.frames, "Frames to run (off screen: 300)")
        ->check(CLI::Range(1u, 1'000'000u));
    app.add_option("--seed", wish.seed, "Seed of everything that is random")->capture_default_str();
    app.add_option("--workers", wish.workers, "Threads besides the main one")
        ->check(CLI::Range(0u, max_workers))
        ->capture_default_str();
    app.add_option("--characters", wish.characters, "How many take part")
        ->check(CLI::Range(1u, max_characters))
        ->capture_default_str();
    app.add_option("--backend", wish.backend, "Who schedules the tasks")
        ->check(CLI::IsMember(names))
        ->capture_default_str();
    app.add_flag("--serial", serial, "Short for --backend serial");
    app.add_flag("--compare", wish.compare, "Run every backend in turn and print one table");
    frame_options& how = wish.frames_in;
    app.add_option("--pipeline", how.pipeline,
                   "Frames that may begin while one is drawn (Braid, off screen)")
        ->check(CLI::Range(0u, max_frames_in_flight - 1))
        ->capture_default_str();
    app.add_option("--capture", how.capture, "Record what the threads do (Braid)")
        ->type_name("FILE");
    if (live_page::is_there()) {
        app.add_flag("--live", wish.live, "Show in a browser what the threads do (Braid)");
    }
    app.add_option("--serial-stage", how.serial_stage, "This stage runs on one thread (Braid)");
    app.add_option("--priorities", priorities,
                   "Which task goes first: as it becomes ready, or by measured times (Braid)")
        ->check(CLI::IsMember({"static", "dynamic"}))
        ->capture_default_str();
    app.add_flag("--shadow-jobs", how.shadow_jobs,
                 "Skinning and the light on the floor as a job list (Braid)");
    app.add_option("--device", how.device,
                   fmt::format("What runs skinning and light binning (Braid): {}", device_kinds()))
        ->type_name("KIND");
    stream_options& stream = how.stream;
    app.add_flag("--stream{automatic}", stream.back_end,
                 "Clips come from a file while the game runs: =uring, =threads (Braid)")
        ->check(CLI::IsMember({"automatic", "uring", "threads"}));
    app.add_option("--stream-resident", stream.resident_mib, "MiB of them in memory")
        ->check(CLI::Range(1u, 4096u))
        ->capture_default_str();
    app.add_option("--stream-fault", stream.faults,
                   "What goes wrong with reads: seed=7,eio=0.01,short=0.1,delay=5 (ms)");
    app.add_option("--fps", wish.fps, "Off screen, begin so many frames a second at most")
        ->check(CLI::Range(1u, 1000u));
    app.add_option("--models", wish.models, "Folder laid out like Debian's assimp-testmodels")
        ->capture_default_str();
    app.add_flag("--watch", wish.watch, "Load the game's code anew whenever it was built");
    app.add_flag("--self-edit{all}", wish.self_edit,
                 "Edit a copy of the game's code at frames 100, 200 and 250, build and load it; "
                 "=layout: only at 100 (off screen)")
        ->check(CLI::IsMember({"all", "layout"}));
    wish.modules = game_code::default_folder();
    app.add_option("--modules", wish.modules, "Folder with the game's code (live/ of the build)");
    app.add_option("--out", wish.out, "Folder for what a run writes")->capture_default_str();
    app.add_option("--width", wish.width, "Pixels")->check(CLI::Range(64u, 4096u));
    app.add_option("--height", wish.height, "Pixels")->check(CLI::Range(64u, 4096u));
    // Not for users: the importer's child process, and faults for tests.
    app.add_option("--import-model", wish.import_model)->group("");
    app.add_option("--import-fault", wish.import_fault)->group("");
    app.add_option("--import-seconds", wish.import_seconds)->group("");
}

model_blocks load_models(const options& wish) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(wish.models, ignored))
        throw import::import_error("there is no folder " + wish.models.string() +
                                   " with models; install assimp-testmodels or name another "
                                   "folder with --models.");
    std::vector<std::filesystem::path> files;
    for (const char* file : import::model_files) files.push_back(wish.models / file);
    return import::import_models(files, {wish.import_fault, wish.import_seconds});
}

/// The stages are those of the code that was loaded.
void check_serial_stage(const std::string& wanted, std::span<const stage> table) {
    const std::vector<std::string> names = braid_frames::stage_names(table);
    if (wanted.empty() || std::ranges::find(names, wanted) != names.end()) return;
    throw std::runtime_error(
        fmt::format("there is no stage '{}'; there are: {}.", wanted, fmt::join(names, ", ")));
}

void check_reloading(const options& wish, bool window) {
    if (!wish.self_edit.empty() && window)
        throw std::runtime_error("--self-edit counts frames off screen; use it with --headless.");
    if ((wish.watch || !wish.self_edit.empty()) && !game_code::can_reload())
        throw std::runtime_error(
            "the game is a part of this program, which was built without libdw or xxHash, so "
            "--watch and --self-edit have nothing to load.");
}

void check_device(const options& wish) {
    if (wish.frames_in.device.empty()) return;
    if (wish.backend != "braid")
        throw std::runtime_error(
            "only Braid has devices; leave --device out, or choose --backend "
            "braid.");
    if (wish.frames_in.shadow_jobs)
        throw std::runtime_error(
            "--shadow-jobs has the skinning in a job list on the cores; leave "
            "it or --device out.");
    parse_device(wish.frames_in.device);
}

void check_stream(options& wish) {
    stream_options& stream = wish.frames_in.stream;
    stream.wanted = !stream.back_end.empty();
    if (!stream.wanted && !stream.faults.empty())
        throw std::runtime_error("--stream-fault needs --stream.");
    if (stream.wanted && wish.backend != "braid")
        throw std::runtime_error(
            "only Braid streams; leave --stream out, or choose --backend braid.");
    parse_faults(stream.faults);
    stream.pack = wish.out / "arena.pack";
}

int run(options wish) {
    if (!wish.import_model.empty())
        return import::run_import_child(wish.import_model, wish.import_fault, 1);
    const bool window = !wish.headless && has_display();
    if (window && wish.frames_in.pipeline != 0)
        throw std::runtime_error(
            "a window shows each frame before the next one begins; use --pipeline with "
            "--headless.");
    if (wish.backend != "braid" && (wish.live || !wish.frames_in.capture.empty()))
        throw std::runtime_error(
            "only Braid is recorded; leave --capture and --live out, or "
            "choose --backend braid.");
    check_reloading(wish, window);
    check_device(wish);
    check_stream(wish);
    if (!wish.self_edit.empty()) self_edit::prepare(wish);
    game_code code(wish.modules, wish.watch);
    if (const code_change change = code.at_frame_boundary()) print_news(change);
    check_serial_stage(wish.frames_in.serial_stage, code.stages());
    const model_blocks models = load_models(wish);
    const all_assets all(models);
    made_assets assets(all);
    wish.assets = &assets;
    wish.frames_in.stream.all = &all;
    if (wish.frames_in.stream.wanted) make_pack(wish.frames_in.stream.pack, all);
    std::optional<live_page> live;  // a window may begin several captures; all go to one page
    if (wish.live) wish.frames_in.live = live.emplace().sink();
    return window ? run_window(wish, models, code) : run_headless(wish, models, code);
}

}  // namespace
}  // namespace arena::host

int main(int count, char** arguments) {
    using namespace arena;
    CLI::App app(
        "A crowd of animated characters, simulated, drawn and heard by one network of "
        "tasks per frame.",
        "arena");
    host::options wish;
    bool serial = false;
    std::string priorities = "static";
    host::describe(app, wish, serial, priorities);
    try {
        app.parse(count, arguments);
        if (serial) wish.backend = "serial";
        wish.frames_in.dynamic_priorities = priorities == "dynamic";
        return host::run(wish);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "arena: {}.\n", error.what());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "arena: there is not enough memory for {} characters.\n",
                   wish.characters);
    } catch (const std::exception& error) {
        fmt::print(stderr, "arena: {}\n", error.what());
    }
    return 2;
}
