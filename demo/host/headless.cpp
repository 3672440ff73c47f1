#include "headless.hpp"

#include "report.hpp"
#include "self_edit.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

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

void print_device(const stage_device& device) {
    const device_counts all = device.counts();
    const braid::device::processor_report& r = all.of;
    constexpr double mib = 1 << 20;
    fmt::print(
        "\nDevice {}: {} submissions of {} pieces, {:.1f} MiB in, {:.1f} MiB out, {:.1f} MiB of it "
        "copied, {} in flight at most;\n{} completed there, {} on the cores, {} failed; {} run "
        "again, {} submitted again, {} refused for memory, {} losses{}; {} waking edges; from "
        "submit to end {:.2f} ms (p50), {:.2f} ms (p99)\n",
        device.name(), r.submitted, all.pieces, static_cast<double>(all.bytes_in) / mib,
        static_cast<double>(all.bytes_out) / mib, static_cast<double>(all.bytes_copied) / mib,
        r.most_in_flight, r.completed, r.moved_to_cores, r.failed, r.rerun, all.again, r.refused,
        r.losses, r.dead ? ", dead" : "", r.waking_edges,
        static_cast<double>(r.latency_p50.value) * 1e-6,
        static_cast<double>(r.latency_p99.value) * 1e-6);
}

/// `fps`: as a display would; 0: one after the other.
void run_block(contender& one, std::uint32_t first, std::uint32_t last, bool keep, unsigned fps) {
    auto next = std::chrono::steady_clock::now();
    for (std::uint32_t frame = first; frame < last; ++frame) {
        if (fps != 0) {
            std::this_thread::sleep_until(next);
            next =
                std::max(next, std::chrono::steady_clock::now() - std::chrono::seconds(1) / fps) +
                std::chrono::nanoseconds(std::chrono::seconds(1)) / fps;
        }
        one.run_frame(scripted_input(frame), keep);
    }
    one.finish();
}

void print_stream(const streamed_assets& assets) {
    const braid::page_cache_statistics pages = assets.statistics();
    const braid::file_reader_statistics reads = assets.reads();
    constexpr double mib = 1 << 20;
    fmt::print(
        "\nStreamed by {}: {:.1f} MiB in {} reads ({} requests), {:.1f} MiB beyond the budget; {} "
        "of "
        "{} pages in memory, {:.1f} MiB;\n{} evicted, {} read again, {} failed; {} stalls of "
        "{:.1f} "
        "ms together; from wanted to there {:.2f} ms (p50), {:.2f} ms (p99)\n",
        reads.back_end, static_cast<double>(pages.bytes) / mib, reads.read, reads.requests,
        static_cast<double>(reads.overdrawn) / mib, pages.resident, assets.pack_size(),
        static_cast<double>(pages.resident_bytes) / mib, pages.evicted, pages.retried, pages.failed,
        pages.late, static_cast<double>(pages.waited.value) * 1e-6,
        static_cast<double>(pages.p50.value) * 1e-6, static_cast<double>(pages.p99.value) * 1e-6);
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
    make_out_folder(wish);
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
        for (const auto& one : all)
            run_block(*one, first, last, last == frames, one == all.back() ? wish.fps : 0);
        show_progress(all, last, frames);
    }
    print_stage_table(*all.front(), *all.back());
    print_backend_table(all);
    if (braid_frames* own = all.back()->frames(); own != nullptr && own->device() != nullptr) {
        print_device(*own->device());
    }
    if (braid_frames* own = all.back()->frames(); own != nullptr && own->assets() != nullptr) {
        print_stream(*own->assets());
    }
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
