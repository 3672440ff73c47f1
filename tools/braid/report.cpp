// braid report: what to change about a frame, and how it went.
#include "analysis_json.hpp"
#include "commands.hpp"
#include "profile/analysis/longest_wait.hpp"
#include "profile/analysis/text.hpp"
#include "tables.hpp"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>

namespace braid::tool {
namespace {

constexpr std::size_t most_types = 20;
constexpr std::size_t most_steps = 40;

struct report_options {
    std::string path;
    std::optional<std::uint64_t> frame;
    bool worst = false, as_json = false;
};

std::size_t chosen_frame(const profile::history& t, const report_options& o) {
    if (!o.frame) return frame_statistics(t).worst_frame;
    for (std::size_t i = 0; i < t.frames.size(); ++i) {
        if (t.frames[i].number == *o.frame) return i;
    }
    throw std::runtime_error(
        fmt::format("There is no frame {} in '{}': it has {} frames, {} to {}.", *o.frame, o.path,
                    t.frames.size(), t.frames.front().number, t.frames.back().number));
}

void print_path(const profile::history& t, std::span<const profile::path_step> path,
                std::uint64_t begin) {
    fmt::print("{:>9} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}  {}\n", "at ms", "ran ms", "dependency",
               "external", "queue", "affinity", "preempted", "critical path");
    std::size_t shown = 0;
    for (const profile::path_step& s : path) {
        if (shown++ == most_steps) {
            fmt::print("{:>9} more\n", path.size() - most_steps);
            break;
        }
        fmt::print("{:>9.3f} {:>9.3f} {:>10.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}  {}\n",
                   ms(s.begin - begin), ms(s.length() - s.waits.preempted), ms(s.waits.dependency),
                   ms(s.waits.external), ms(s.waits.queue), ms(s.waits.affinity),
                   ms(s.waits.preempted),
                   s.task == profile::none ? "outside of tasks" : t.name_of(t.bodies[s.body].type));
    }
}

void print_report(const profile::history& t, std::size_t chosen) {
    const profile::frame_row& frame = t.frames[chosen];
    const profile::frame_report report = profile::reporter(t).frame(chosen, false);
    fmt::print("{}\n\n", report.sentence);
    const profile::frame_times times = frame_statistics(t);
    fmt::print("{} frames: p50 {:.3f} ms, p95 {:.3f} ms, worst {:.3f} ms (frame {})\n\n",
               t.frames.size(), ms(times.p50), ms(times.p95), ms(times.worst),
               t.frames[times.worst_frame].number);
    fmt::print("Frame {}:\n", frame.number);
    print_path(t, report.path, frame.begin);
    fmt::print("\n");
    print_lanes(t, {frame.begin, frame.end});
    fmt::print("\nThe whole capture:\n");
    print_types(t, most_types);
}

void print_wait(const profile::history& t, const profile::wait_report& report) {
    fmt::print("{}\n\n", report.sentence);
    print_path(t, report.path, report.wait.begin);
    fmt::print("\n");
    print_lanes(t, {report.wait.begin, report.wait.end});
    fmt::print("\nThe whole capture:\n");
    print_types(t, most_types);
}

void run(const report_options& o) {
    const profile::capture c = open_capture(o.path);
    const profile::history t = make_history(c);
    const bool one = o.frame || o.worst;
    if (t.frames.empty() && !one && !o.as_json) {
        if (const auto wait = longest_wait(t)) return print_wait(t, *wait);
    }
    need_frames(t, o.path);
    if (o.as_json) {
        std::optional<std::size_t> frame;
        if (one) frame = chosen_frame(t, o);
        fmt::print("{}\n", analysis_json(t, frame));
    } else {
        print_report(t, chosen_frame(t, o));
    }
}

}  // namespace

void add_report(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("report", "What to change about the longest frame, and how it went");
    const auto options = std::make_shared<report_options>();
    command->add_option("FILE", options->path, "A capture")->required();
    CLI::Option* frame = command->add_option("--frame", options->frame, "The frame of that number");
    command->add_flag("--worst", options->worst, "The longest frame, which text shows anyway")
        ->excludes(frame);
    command->add_flag("--json", options->as_json, "For programs: all frames, or the chosen one");
    command->callback([options] { run(*options); });
}

}  // namespace braid::tool
