// braid what-if: the frames again, on other cores or with a faster task.
#include "commands.hpp"
#include "tables.hpp"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <stdexcept>

namespace braid::tool {
namespace {

struct what_if_options {
    std::string path, faster;
    std::vector<unsigned> cores = {1, 2, 4, 8, 16};
    unsigned slow_cores = 0;
    double slow_factor = 2;
};

std::uint32_t type_called(const profile::capture& c, const std::string& name) {
    for (std::uint32_t i = 1; i < c.types.size(); ++i) {
        if (c.types[i].name == name) return i;
    }
    throw std::runtime_error(fmt::format("No task of this capture is called '{}'.", name));
}

void add_faster(profile::machine& to, const profile::capture& c, const std::string& text) {
    const std::size_t sign = text.rfind('=');
    std::size_t used = 0;
    double times = 0;
    try {
        if (sign != std::string::npos) times = std::stod(text.substr(sign + 1), &used);
    } catch (const std::logic_error&) {
        used = 0;
    }
    if (used == 0 || sign + 1 + used != text.size() || !std::isfinite(times) || times <= 0) {
        throw std::runtime_error(fmt::format(
            "--faster takes the name of a task and how many times faster it is, such as skin=2, "
            "not '{}'.",
            text));
    }
    to.faster_type = type_called(c, text.substr(0, sign));
    to.times = times;
}

std::vector<profile::machine> machines_of(const what_if_options& o, const profile::capture& c) {
    if (!std::isfinite(o.slow_factor) || o.slow_factor <= 0) {
        throw std::runtime_error("--slow-factor says how many times as long work takes: above 0.");
    }
    std::vector<profile::machine> machines = profile::machines_with(o.cores);
    for (profile::machine& m : machines) {
        if (m.cores == 0 || m.cores > profile::machine::most_cores) {
            throw std::runtime_error(fmt::format("--cores takes numbers from 1 to {}, not {}.",
                                                 profile::machine::most_cores, m.cores));
        }
        m.slow_cores = std::min(o.slow_cores, m.cores);
        m.slow_factor = o.slow_factor;
        if (!o.faster.empty()) add_faster(m, c, o.faster);
    }
    return machines;
}

void run(const what_if_options& o) {
    const profile::capture c = open_capture(o.path);
    const profile::history t = make_history(c);
    need_frames(t, o.path);
    const profile::what_if_result result = profile::what_if(t, machines_of(o, c));
    fmt::print("{:>6} {:>11} {:>10} {:>10}\n", "cores", "of them slow", "p50 ms", "p95 ms");
    for (const profile::what_if_row& row : result.rows) {
        fmt::print("{:>6} {:>12} {:>10.3f} {:>10.3f}\n", row.on.cores, row.on.slow_cores,
                   ms(row.p50), ms(row.p95));
    }
    fmt::print("\n{} of {} frames. ", result.frames, t.frames.size());
    fmt::print(
        "As recorded ({} threads) the model says {:.3f} ms where {:.3f} ms were measured: "
        "{:+.1f} %.\n",
        result.recorded_cores, ms(result.modelled_p50), ms(result.recorded_p50),
        100 * result.error());
    fmt::print("{}\n", profile::what_if_ignores);
}

}  // namespace

void add_what_if(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "what-if", "How long the frames would take on other cores or with a faster task");
    const auto options = std::make_shared<what_if_options>();
    command->add_option("FILE", options->path, "A capture")->required();
    command->add_option("--cores", options->cores, "Numbers of cores, such as 1,2,4")
        ->delimiter(',');
    command->add_option("--faster", options->faster, "TASK=2: that task takes half as long");
    command->add_option("--slow-cores", options->slow_cores, "So many of the cores are slow");
    command->add_option("--slow-factor", options->slow_factor,
                        "There work takes so many times as long; 2 if not given");
    command->callback([options] { run(*options); });
}

}  // namespace braid::tool
