#include "headless.hpp"

#include "report.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

namespace arena::host {
namespace {

// Frames that one contender runs before the next has its turn: long enough to be warm, short
// enough that all see the same weather of the machine.
constexpr std::uint32_t block_frames = 15;

contenders make_contenders(const options& wish, const model_blocks& models) {
    contenders all;
    all.push_back(std::make_unique<contender>("serial", wish.workers, wish, models));
    if (wish.compare)
        for (const std::string& name : backend_names())
            if (name != "serial" && name != wish.backend)
                all.push_back(std::make_unique<contender>(name, wish.workers, wish, models));
    all.push_back(std::make_unique<contender>(wish.backend, wish.workers, wish, models));
    return all;
}

void describe(const frame_options& how) {
    if (how.pipeline != 0)
        fmt::print("Up to {} frame{} begin{} while one is drawn.\n", how.pipeline,
                   how.pipeline == 1 ? "" : "s", how.pipeline == 1 ? "s" : "");
    if (!how.serial_stage.empty())
        fmt::print("The stage '{}' runs on one thread.\n", how.serial_stage);
    if (how.shadow_jobs) fmt::print("Skinning and the light on the floor are one job list.\n");
}

void run_block(contender& one, std::uint32_t first, std::uint32_t last, bool keep) {
    for (std::uint32_t frame = first; frame < last; ++frame)
        one.run_frame(scripted_input(frame), keep);
    one.finish();
}

void show_progress(const contenders& all, std::uint32_t done, std::uint32_t frames) {
    static const bool terminal = isatty(STDERR_FILENO) != 0;
    if (!terminal && done != frames && done % 60 != 0) return;
    std::string line = fmt::format("frame {:>4} of {}", done, frames);
    for (const auto& one : all)
        line += fmt::format("   {} {:.2f} ms", one->name(), one->frame_ms().back());
    fmt::print(stderr, "{}{}{}", terminal ? "\r" : "", line,
               terminal && done != frames ? "  " : "\n");
}

}  // namespace

game_input scripted_input(std::uint64_t frame) {
    game_input input;
    input.camera_yaw += static_cast<float>(frame) * 0.002f;
    return input;
}

int run_headless(const options& wish, const model_blocks& models) {
    const std::uint32_t frames = wish.frames == 0 ? 300 : wish.frames;
    const contenders all = make_contenders(wish, models);
    fmt::print(
        "The arena: {} characters, {} frames, seed {}, {} x {}, {} worker{} besides the main "
        "thread\n",
        wish.characters, frames, wish.seed, wish.width, wish.height, wish.workers,
        wish.workers == 1 ? "" : "s");
    describe(wish.frames_in);
    for (std::uint32_t first = 0; first < frames; first += block_frames) {
        const std::uint32_t last = std::min(first + block_frames, frames);
        for (const auto& one : all) run_block(*one, first, last, last == frames);
        show_progress(all, last, frames);
    }
    print_stage_table(*all.front(), *all.back());
    print_backend_table(all);
    write_reports(wish, models, all);
    fmt::print("\nWrote frame.png, sound.wav, timeline.svg and summary.json to {}\n",
               wish.out.string());
    if (braid_frames* own = all.back()->frames(); own != nullptr) {
        own->end_capture();
        fmt::print("{}", own->priorities());
        const std::string fault = own->draw_graphs(wish.out);
        if (!fault.empty()) fmt::print(stderr, "arena: no picture of the graphs: {}.\n", fault);
    }
    if (const std::size_t frame = first_difference(all); frame != 0) {
        fmt::print(stderr, "arena: the backends disagree, first in frame {}.\n", frame);
        return 1;
    }
    return 0;
}

}  // namespace arena::host
