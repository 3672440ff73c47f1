// braid stats: what is in the file.
#include "commands.hpp"
#include "tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace braid::tool {
namespace {

const char* name_of(profile::switch_level level) {
    constexpr const char* names[] = {"none", "flag", "count", "exact"};
    return names[static_cast<unsigned>(level)];
}

std::size_t count_of(const profile::lane& l, profile::record_kind kind) {
    return static_cast<std::size_t>(
        std::count_if(l.records.begin(), l.records.end(),
                      [&](const profile::record& r) { return r.kind == kind; }));
}

void show(const std::string& path) {
    const profile::capture c = open_capture(path);
    std::size_t records = 0, frames = 0;
    std::uint64_t dropped = 0;
    for (const profile::lane& l : c.lanes) {
        records += l.records.size();
        dropped += l.dropped;
        frames += count_of(l, profile::record_kind::frame_end);
    }
    fmt::print("{}: {:.3f} s, {} frames, {} lanes, {} records, {} dropped\n", path,
               static_cast<double>(c.duration) * 1e-9, frames, c.lanes.size(), records, dropped);
    for (const auto& [key, value] : c.info) fmt::print("  {}: {}\n", key, value);
    for (const profile::lane& l : c.lanes) {
        fmt::print("  {:20} {:>9} records, {} dropped", l.name, l.records.size(), l.dropped);
        if (l.kind == profile::lane_kind::device) {
            fmt::print(", {} runs of a processor", count_of(l, profile::record_kind::started));
            if (l.clock_error != 0) fmt::print(", times give or take {} ns", l.clock_error);
        } else if (switches_of(c, l) != c.switches) {
            fmt::print(", switches: {}", name_of(switches_of(c, l)));
        }
        fmt::print("\n");
    }
    const profile::history t = make_history(c);
    if (t.tasks.empty()) return;
    fmt::print("\n");
    print_types(t, SIZE_MAX);
    fmt::print("\n");
    print_lanes(t, {0, c.duration});
}

}  // namespace

void add_stats(CLI::App& app) {
    CLI::App* command = app.add_subcommand("stats", "What is in a capture");
    const auto path = std::make_shared<std::string>();
    command->add_option("FILE", *path, "A capture")->required();
    command->callback([path] { show(*path); });
}

}  // namespace braid::tool
