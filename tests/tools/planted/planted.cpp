// planted CAUSE FILE: a program of one frame in which something is wrong that has a name, recorded.
// For planted_test.py. Two workers do the work; the main thread only waits.
#include <braid/braid.hpp>
#include <braid/profile/recorder.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using braid::task_context;

/// Work of that length.
void work(double ms) {
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6));
    while (std::chrono::steady_clock::now() < until) {
    }
}

void healthy(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 40; ++i) all.push_back(s.spawn({.name = "even"}, [] { work(0.5); }));
    for (const braid::task_id id : all) s.wait(id, braid::help::none);
}

/// Two tasks for the same worker, while the other one has nothing to do.
void affinity(braid::scheduler& s) {
    const braid::thread_ref first = s.worker_thread(0);
    const braid::task_id a = s.spawn({.name = "stream", .on = first}, [] { work(10); });
    const braid::task_id b = s.spawn({.name = "upload", .on = first}, [] { work(10); });
    s.wait(a, braid::help::none);
    s.wait(b, braid::help::none);
}

void serial_chain(braid::scheduler& s) {
    braid::task_id last;
    for (int i = 0; i < 20; ++i) last = s.spawn({.name = "link", .after = {last}}, [] { work(1); });
    s.wait(last, braid::help::none);
}

void too_fine(braid::scheduler& s) {
    const auto spawn_dust = [](task_context& t) {
        for (int i = 0; i < 50'000; ++i) t.spawn({.name = "dust", .parent = t.id()}, [] {});
    };
    s.wait(s.spawn({.name = "all dust"}, spawn_dust), braid::help::none);
}

/// What takes longest begins last: the oldest goes first, and all are of one level.
void priority(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 20; ++i) all.push_back(s.spawn({.name = "decal"}, [] { work(1); }));
    braid::task_id last;
    for (int i = 0; i < 12; ++i)
        last = s.spawn({.name = "light", .after = {last}}, [] { work(1); });
    all.push_back(last);
    for (const braid::task_id id : all) s.wait(id, braid::help::none);
}

void straggler(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 16; ++i) {
        all.push_back(s.spawn({.name = "tile"}, [i] { work(i == 15 ? 20 : 0.5); }));
    }
    for (const braid::task_id id : all) s.wait(id, braid::help::none);
}

const std::map<std::string, std::function<void(braid::scheduler&)>> causes = {
    {"none", &healthy},      {"affinity", &affinity}, {"serial_chain", &serial_chain},
    {"too_fine", &too_fine}, {"priority", &priority}, {"straggler", &straggler},
};

}  // namespace

int main(int count, char** arguments) {
    const auto chosen = count == 3 ? causes.find(arguments[1]) : causes.end();
    if (chosen == causes.end()) {
        std::fprintf(stderr, "planted: give a cause and a file.\n");
        return 2;
    }
    // Emptied at the end only: with two cores the recorder's own thread would be a cause.
    braid::profile::recorder recorder(
        {.ring_records = std::size_t{1} << 19, .flush_every = braid::nanoseconds{10'000'000'000}});
    braid::scheduler s({.workers = 2, .observer = &recorder});
    chosen->second(s);  // once without: threads are awake, memory is there
    if (const braid::status went = recorder.start(arguments[2]); !went) {
        std::fprintf(stderr, "planted: %s.\n", went.text.c_str());
        return 1;
    }
    recorder.begin_frame(1);
    chosen->second(s);
    recorder.end_frame(1);
    return recorder.stop() ? 0 : 1;
}
