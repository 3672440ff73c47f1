// braid diff: two captures of one program.
#include "commands.hpp"
#include "profile/analysis/compare.hpp"
#include "tables.hpp"

#include <fmt/core.h>

#include <memory>

namespace braid::tool {
namespace {

constexpr std::size_t most_types = 20;

double change(std::uint64_t before, std::uint64_t after) { return ms(after) - ms(before); }

void run(const std::string& before_path, const std::string& after_path) {
    const profile::capture before = open_capture(before_path);
    const profile::capture after = open_capture(after_path);
    const profile::history t_before = make_history(before), t_after = make_history(after);
    need_frames(t_before, before_path);
    need_frames(t_after, after_path);
    const profile::comparison c = compare(t_before, t_after);
    fmt::print("{}\n\n", c.sentence);
    const auto frame_line = [](const char* name, std::uint64_t a, std::uint64_t b) {
        fmt::print("frame {:6} {:>10.3f} ms {:>10.3f} ms {:>+10.3f}\n", name, ms(a), ms(b),
                   change(a, b));
    };
    frame_line("p50", c.before.p50, c.after.p50);
    frame_line("p95", c.before.p95, c.after.p95);
    frame_line("worst", c.before.worst, c.after.worst);
    fmt::print("\n{:>12} {:>12} {:>10} {:>10} {:>8} {:>8}  {}\n", "on path ms", "in frame ms",
               "p50 ms", "p95 ms", "count", "to", "task, and how it changed");
    std::size_t shown = 0;
    for (const profile::type_change& t : c.types) {
        if (shown++ == most_types) break;
        fmt::print("{:>+12.3f} {:>+12.3f} {:>+10.4f} {:>+10.4f} {:>8} {:>8}  {}\n",
                   change(t.path_before, t.path_after), change(t.frame_before, t.frame_after),
                   change(t.before.p50, t.after.p50), change(t.before.p95, t.after.p95),
                   t.before.count, t.after.count, t.name.empty() ? "outside of tasks" : t.name);
    }
}

}  // namespace

void add_diff(CLI::App& app) {
    CLI::App* command = app.add_subcommand("diff", "What became slower between two captures");
    const auto before = std::make_shared<std::string>(), after = std::make_shared<std::string>();
    command->add_option("BEFORE", *before, "A capture")->required();
    command->add_option("AFTER", *after, "One of the same program, later")->required();
    command->callback([before, after] { run(*before, *after); });
}

}  // namespace braid::tool
