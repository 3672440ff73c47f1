#include "driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

namespace bench {
namespace {

// Spinning idle threads of the rival before (libgomp looks on for milliseconds) go to sleep.
constexpr std::chrono::milliseconds settling_time{12};

std::mutex counters_mutex;
std::deque<executed_count> counters;  // stable addresses; outlives every thread

double one_turn(const row& r, const rival& who, const measure& take) {
    std::this_thread::sleep_for(settling_time);
    try {
        return take();
    } catch (const wrong_answer& e) {
        throw wrong_answer(r.name + ", " + who.system + ": wrong answer, " + e.what());
    }
}

}  // namespace

row& suite::at(const std::string& name, const std::string& unit, const std::string& about) {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const row& r) { return r.name == name; });
    if (found != rows_.end()) return *found;
    return rows_.emplace_back(row{name, unit, about});
}

void suite::keep(const std::regex& systems) {
    for (row& r : rows_) {
        std::erase_if(r.rivals,
                      [&](const rival& who) { return !std::regex_search(who.system, systems); });
    }
    std::erase_if(rows_, [](const row& r) { return r.rivals.empty(); });
}

void suite::run(const std::regex& filter, unsigned rounds) {
    std::erase_if(rows_, [&](const row& r) { return !std::regex_search(r.name, filter); });
    for (row& r : rows_) {
        std::fprintf(stderr, "  %-24s", r.name.c_str());
        try {
            run(r, rounds);
            std::fputc('\n', stderr);
        } catch (const not_here& e) {
            r.rivals.clear();
            std::fprintf(stderr, "not measured: %s.\n", e.what());
        }
    }
    std::erase_if(rows_, [](const row& r) { return r.rivals.empty(); });
}

void suite::run(row& r, unsigned rounds) {
    std::vector<measure> measures;
    for (rival& who : r.rivals) {
        measures.push_back(who.make());
        one_turn(r, who, measures.back());
    }
    for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < measures.size(); ++i) {
            rival& who = r.rivals[i];
            who.samples.push_back(one_turn(r, who, measures[i]));
        }
        std::fputc('.', stderr);
    }
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

executed_count& new_counter() {
    const std::lock_guard lock(counters_mutex);
    return counters.emplace_back();
}

std::uint64_t counted() {
    const std::lock_guard lock(counters_mutex);
    std::uint64_t sum = 0;
    for (const executed_count& c : counters) sum += c.value;
    return sum;
}

unsigned thread_number() {
    static std::atomic<unsigned> next{0};
    static thread_local const unsigned mine = next.fetch_add(1);
    return mine;
}

}  // namespace bench
