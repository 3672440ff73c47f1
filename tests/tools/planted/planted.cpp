// planted CAUSE FILE: a program of one frame in which something is wrong that has a name, or two
// things at one moment (CAUSE+CAUSE), recorded. For planted_test.py. Two threads do the work: with
// one worker the main thread is the other one, with two it only waits.
#include "halves.hpp"
#include "outside.hpp"
#include "processors.hpp"

#include <braid/braid.hpp>
#include <braid/profile/recorder.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using braid::task_context;
using planted::side;
using planted::work;

/// Tasks that outlast the frame.
std::vector<braid::task_id> left_over;

void wait_for_all(braid::scheduler& s, const std::vector<braid::task_id>& all) {
    s.wait(s.spawn({.name = "end", .after_all = all}, braid::empty));
}

void healthy(braid::scheduler& s) {
    const braid::timer beat(s, {.name = "beat", .every = braid::milliseconds(1)}, [] {});
    const braid::future<void> idle = co_spawn(s, {.name = "idle"}, planted::naps());
    std::vector<braid::task_id> all = {idle.id()};
    for (int i = 0; i < 40; ++i) all.push_back(s.spawn({.name = "even"}, [] { work(0.5); }));
    wait_for_all(s, all);
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
    s.wait(last);
}

void too_fine(braid::scheduler& s) {
    const auto spawn_dust = [](task_context& t) {
        for (int i = 0; i < 50'000; ++i) t.spawn({.name = "dust", .parent = t.id()}, [] {});
    };
    s.wait(s.spawn({.name = "all dust"}, spawn_dust));
}

/// What takes longest begins last: the worker takes the oldest first, and who waits the newest.
void priority(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    const auto spawn_decals = [&] {
        for (int i = 0; i < 12; ++i) all.push_back(s.spawn({.name = "decal"}, [] { work(1); }));
    };
    spawn_decals();
    braid::task_id last;
    for (int i = 0; i < 12; ++i)
        last = s.spawn({.name = "light", .after = {last}}, [] { work(1); });
    all.push_back(last);
    spawn_decals();
    wait_for_all(s, all);
}

void straggler(braid::scheduler& s) {
    std::vector<braid::task_id> all;
    for (int i = 0; i < 16; ++i) {
        all.push_back(s.spawn({.name = "tile"}, [i] { work(i == 15 ? 20 : 0.5); }));
    }
    wait_for_all(s, all);
}

/// One of the two threads bakes for the next level, and the frame is left with the other.
void background(braid::scheduler& s) {
    left_over.push_back(s.spawn({.name = "bake", .may_be_long = true}, [] { work(60); }));
    std::vector<braid::task_id> all;
    for (int i = 0; i < 24; ++i) all.push_back(s.spawn({.name = "tile"}, [] { work(1); }));
    wait_for_all(s, all);
}

using half = void (*)(side&);

struct plan {
    std::function<void(braid::scheduler&)> frame;  // or halves
    int workers = 1;
    std::vector<half> halves = {};
    std::size_t ring_records = std::size_t{1} << 19;
};

/// Threads that have nothing to do before the frame say their first word in it, and the memory for
/// the records of one that says much takes some ms.
plan of_few_records(void (*frame)(braid::scheduler&)) { return {frame, 1, {}, 4096}; }

/// The main thread, and workers without a half, have nothing to do.
plan halves(std::vector<half> all, int workers) { return {nullptr, workers, std::move(all)}; }

const std::map<std::string, half> half_of = {
    {"affinity", &planted::affinity},     {"serial_chain", &planted::serial_chain},
    {"straggler", &planted::straggler},   {"preemption", &planted::preemption},
    {"background", &planted::background}, {"late_wake", &planted::late_wake},
    {"too_fine", &planted::too_fine},     {"priority", &planted::priority},
};

const std::map<std::string, plan> causes = {
    {"none", of_few_records(&healthy)},
    {"affinity", {&affinity, 2}},
    {"serial_chain", {&serial_chain}},
    {"too_fine", {&too_fine}},
    {"priority", {&priority}},
    {"straggler", {&straggler}},
    {"background", {&background}},
    {"sleep", of_few_records(&planted::sleep)},
    {"timer", of_few_records(&planted::timer)},
    {"channel", of_few_records(&planted::channel)},
    {"completion", of_few_records(&planted::completion)},
    {"device_queue", of_few_records(&planted::device_queue)},
    {"device_transfer", of_few_records(&planted::device_transfer)},
    {"device_late_submit", of_few_records(&planted::device_late_submit)},
    {"late_wake", halves({&planted::late_wake}, 1)},
    {"preemption", halves({&planted::preemption}, 1)},
};

/// A pair is written CAUSE+CAUSE, first the one that is spawned first.
std::optional<plan> plan_of(const std::string& cause) {
    if (const auto one = causes.find(cause); one != causes.end()) return one->second;
    const std::size_t plus = cause.find('+');
    if (plus == std::string::npos) return std::nullopt;
    const auto a = half_of.find(cause.substr(0, plus)), b = half_of.find(cause.substr(plus + 1));
    if (a == half_of.end() || b == half_of.end() || a == b) return std::nullopt;
    // Whoever has nothing to do takes what any thread may run; a chain is one while most have
    // nothing to do.
    const bool anywhere = b->first == "too_fine" || b->first == "priority";
    return halves({a->second, b->second}, anywhere ? 2 : 4);
}

/// The frame once without a recorder: threads are awake, memory is there.
class stage {
public:
    stage(braid::scheduler& s, const plan& what) : s_(s), what_(what) {
        for (unsigned i = 0; i < what.halves.size(); ++i) {
            sides_.push_back(std::make_unique<side>(s, i));
        }
        if (!sides_.empty()) planted::touch_memory_of(planted::dust, s);
        run();
        clear();
    }
    void run() {
        if (what_.frame) what_.frame(s_);
        for (std::size_t i = 0; i < sides_.size(); ++i) what_.halves[i](*sides_[i]);
        if (sides_.empty()) return;
        // Not one after the other: of a wait for what is complete already a recorder is not told.
        std::vector<braid::task_id> ends;
        for (const auto& one : sides_) {
            ends.insert(ends.end(), one->ends.begin(), one->ends.end());
        }
        s_.wait(s_.spawn({.name = "end", .after_all = ends}, braid::empty), braid::help::none);
    }
    void clear() {
        for (const auto& one : sides_) {
            left_over.insert(left_over.end(), one->left_over.begin(), one->left_over.end());
            one->ends.clear();
            one->left_over.clear();
        }
        for (const braid::task_id id : left_over) s_.wait(id);
        left_over.clear();
    }

private:
    braid::scheduler& s_;
    const plan& what_;
    std::vector<std::unique_ptr<side>> sides_;
};

}  // namespace

int main(int count, char** arguments) {
    const std::optional<plan> chosen = count == 3 ? plan_of(arguments[1]) : std::nullopt;
    if (!chosen) {
        std::fprintf(stderr, "planted: give a cause, or CAUSE+CAUSE, and a file.\n");
        return 2;
    }
    planted::become(planted::urgency::normal);
    // Emptied at the end only: with two cores the recorder's own thread would be a cause.
    braid::profile::recorder recorder(
        {.ring_records = chosen->ring_records, .flush_every = braid::nanoseconds{10'000'000'000}});
    braid::scheduler s({
        .workers = chosen->workers,
        .worker_threads = {.name = "worker"},
        .observer = &recorder,
    });
    stage all(s, *chosen);
    if (const braid::status went = recorder.start(arguments[2]); !went) {
        std::fprintf(stderr, "planted: %s.\n", went.text.c_str());
        return 1;
    }
    // Where threads are urgent others of the machine get their share now, or the system would take
    // it out of the frame.
    planted::pass(200);
    recorder.begin_frame(1);
    all.run();
    recorder.end_frame(1);
    const bool written = static_cast<bool>(recorder.stop());
    all.clear();
    return written ? 0 : 1;
}
