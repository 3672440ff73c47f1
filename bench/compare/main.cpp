// compare [--filter REGEX] [--system REGEX] [--threads 1,2,…] [--quick] [--list] [--out FILE]: runs
// the comparisons and writes all samples as JSON. bench/run.py calls it and prints the table.
#include "algorithms/algorithms.hpp"
#include "async/async.hpp"
#include "async/coroutines.hpp"
#include "async/timers.hpp"
#include "cilksort/cilksort.hpp"
#include "device/device.hpp"
#include "driver.hpp"
#include "fanout/fanout.hpp"
#include "fib/fib.hpp"
#include "frame/frame.hpp"
#include "graph/graph.hpp"
#include "graph/shapes.hpp"
#include "machine/machine.hpp"
#include "makespan/makespan.hpp"
#include "mandelbrot/mandelbrot.hpp"
#include "matmul/matmul.hpp"
#include "nqueens/nqueens.hpp"
#include "scaling/scaling.hpp"
#include "seeds/seeds.hpp"
#include "skynet/skynet.hpp"
#include "stream/stream.hpp"
#include "tasks/tasks.hpp"
#include "threads.hpp"
#include "upkeep/upkeep.hpp"
#include "wait/wait.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string_view>
#include <vector>

namespace {

struct arguments {
    std::string filter = ".";
    std::string system = ".";
    std::string out;
    bool quick = false;
    bool list = false;
};

/// "1,2,8"
std::vector<unsigned> numbers_of_threads(const std::string& text) {
    static constexpr unsigned most = 256;
    std::vector<unsigned> counts;
    const char* at = text.data();
    const char* const end = at + text.size();
    do {
        unsigned n = 0;
        const auto [rest, error] = std::from_chars(at, end, n);
        if (error != std::errc{} || n == 0 || n > most || (rest != end && *rest != ',')) {
            throw std::invalid_argument("--threads takes numbers from 1 to " +
                                        std::to_string(most) + " with commas between, not '" +
                                        text + "'.");
        }
        counts.push_back(n);
        at = rest + 1;
    } while (at <= end);
    return counts;
}

/// Throws std::invalid_argument with one sentence.
arguments parse(int count, char** values) {
    arguments a;
    for (int i = 1; i < count; ++i) {
        const std::string_view flag = values[i];
        if (flag == "--quick") {
            a.quick = true;
        } else if (flag == "--list") {
            a.list = true;
        } else if (flag == "--filter" && i + 1 < count) {
            a.filter = values[++i];
        } else if (flag == "--system" && i + 1 < count) {
            a.system = values[++i];
        } else if (flag == "--threads" && i + 1 < count) {
            bench::thread_counts = numbers_of_threads(values[++i]);
        } else if (flag == "--out" && i + 1 < count) {
            a.out = values[++i];
        } else {
            throw std::invalid_argument("'" + std::string(flag) + "' is unknown or lacks a value.");
        }
    }
    return a;
}

nlohmann::json to_json(const bench::suite& s) {
    nlohmann::json rows = nlohmann::json::array();
    for (const bench::row& r : s.rows()) {
        nlohmann::json rivals = nlohmann::json::array();
        for (const bench::rival& who : r.rivals) {
            rivals.push_back({{"system", who.system},
                              {"median", bench::median(who.samples)},
                              {"samples", who.samples}});
        }
        rows.push_back(
            {{"name", r.name}, {"unit", r.unit}, {"about", r.about}, {"rivals", rivals}});
    }
    return rows;
}

int run(int count, char** values) {
    const arguments a = parse(count, values);
    bench::suite s;
    bench::machine::add(s);
    bench::tasks::add(s);
    bench::graph::add(s);
    bench::graph::add_shapes(s);
    bench::graph::add_stragglers(s);
    bench::makespan::add(s);
    bench::fanout::add(s);
    bench::upkeep::add(s);
    bench::wait::add(s);
    bench::async::add(s);
    bench::async::add_coroutines(s);
    bench::async::add_memory(s);
    bench::async::add_timers(s);
    bench::stream::add(s);
    bench::device::add(s);
    bench::fib::add(s);
    bench::skynet::add(s);
    bench::nqueens::add(s);
    bench::matmul::add(s);
    bench::cilksort::add(s);
    bench::mandelbrot::add(s);
    bench::algorithms::add(s);
    bench::frame::add(s);
    bench::scaling::add(s);
    bench::seeds::add(s);
    s.keep(std::regex(a.system));
    if (a.list) {
        for (const bench::row& r : s.rows()) std::cout << r.name << '\n';
        return 0;
    }
    s.run(std::regex(a.filter), a.quick ? 3 : 9);
    if (a.out.empty()) {
        std::cout << to_json(s).dump(2) << '\n';
        return 0;
    }
    std::ofstream file(a.out);
    file << to_json(s).dump(2) << '\n';
    if (!file.flush()) throw std::invalid_argument("'" + a.out + "' cannot be written.");
    return 0;
}

}  // namespace

int main(int count, char** values) {
    try {
        return run(count, values);
    } catch (const bench::wrong_answer& e) {
        std::fprintf(stderr, "\ncompare: %s\n", e.what());
        return 1;
    } catch (const std::regex_error&) {
        std::fprintf(stderr, "compare: --filter or --system is no regular expression.\n");
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "compare: %s\n", e.what());
        return 2;
    }
}
