#include "headless.hpp"

#include "report.hpp"
#include "self_edit.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace arena::host {
namespace {

// Frames that one contender runs before the next has its turn: long enough to be warm, short
// enough that all see the same weather of the machine.
constexpr std::uint32_t block_frames = 15;

contenders make_contenders(const options& wish, const model_blocks& models, const game_code& code) {
    contenders all;
    all.push_back(std::make_unique<contender>("serial", wish.workers, wish, models, code));
    if (wish.compare)
        for (const std::string& name : backend_names())
            if (name != "serial" && name != wish.backend)
                all.push_back(std::make_unique<contender>(name, wish.workers, wish, models, code));
    all.push_back(std::make_unique<contender>(wish.backend, wish.workers, wish, models, code));
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

int run_headless(const options& wish, const model_blocks& models, game_code& code) {
    const std::uint32_t frames = wish.frames == 0 ? 300 : wish.frames;
    const contenders all = make_contenders(wish, models, code);
    code.try_with([&all] { all.front()->own_world().try_frame(); });
    std::optional<self_edit> edits;
    if (!wish.self_edit.empty()) edits.emplace(wish, code);
    fmt::print(
        "The arena: {} characters, {} frames, seed {}, {} x {}, {} worker{} besides the main "
        "thread\n",
        wish.characters, frames, wish.seed, wish.width, wish.height, wish.workers,
        wish.workers == 1 ? "" : "s");
    describe(wish.frames_in);
    for (std::uint32_t first = 0, last = 0; first < frames; first = last) {
        last = std::min(first + block_frames, frames);
        if (edits) last = std::min(last, edits->next_stop(first));
        // Only here: all of them run a frame with the same code, and none is in flight.
        if (const code_change change = code.at_frame_boundary()) {
            print_news(change);
            for (const auto& one : all) one->follow_code();
        }
        if (edits) edits->at_frame(first, all);
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
    return !edits || edits->came_out() ? 0 : 1;
}

}  // namespace arena::host
