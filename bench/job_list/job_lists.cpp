// What a job of a job list costs, and how large one must be to be worth it, beside a batch of Braid
// and a loop of oneTBB with one task an element. Prints the tables of docs/manual/job_lists.md.
#include <braid/braid.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// `steps` dependent multiplications: time that no optimiser removes and no cache disturbs. On a
/// line of its own, since jobs next to each other run on different cores.
struct alignas(64) body {
    std::uint64_t steps = 0, seed = 0, result = 0;
    void operator()() {
        std::uint64_t x = seed | 1;
        for (std::uint64_t i = 0; i < steps; ++i) x = x * 0x9e37'79b9'7f4a'7c15U + i;
        result = x;
    }
    static void run(void* data) { (*static_cast<body*>(data))(); }
};

std::uint64_t steps_per_microsecond() {
    body b{1'000'000};
    double best = 1e9;
    for (int i = 0; i < 50; ++i) {
        b.seed = b.result;
        const auto start = clock_type::now();
        b();
        best = std::min(best, seconds_since(start));
    }
    if (b.result == 0) std::puts("");  // so that it is computed
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1e6 / (best * 1e6)));
}

using bodies = std::vector<body>;
using way = std::function<void(bodies&)>;

/// Best time of one pass over the bodies by each way, in turns: a machine that has other work
/// disturbs all of them alike. Empty: a wrong sum.
std::vector<double> measure(const std::vector<way>& ways, bodies& all, int rounds) {
    std::uint64_t expected = 0;
    for (body& b : all) {
        b();
        expected += b.result;
    }
    std::vector<double> best(ways.size(), 1e9);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t n = 0; n < ways.size(); ++n) {
            // There and back: what ran just before decides who has the other core.
            const std::size_t i = round % 2 == 0 ? n : ways.size() - 1 - n;
            for (body& b : all) b.result = 0;
            const auto start = clock_type::now();
            ways[i](all);
            best[i] = std::min(best[i], seconds_since(start));
            std::uint64_t sum = 0;
            for (const body& b : all) sum += b.result;
            if (sum != expected) return {};
        }
    }
    return best;
}

struct libraries {
    explicit libraries(unsigned threads)
        : plain({.workers = static_cast<int>(threads - 1)}),
          timed({.workers = static_cast<int>(threads - 1), .statistics = true}),
          limit(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {
        for (job_side* side : {&of_plain, &of_timed}) {
            side->lists.register_job(&body::run, "body");
            side->list = side->lists.allocate({.max_jobs = 20'000, .may_be_long = true});
        }
    }

    std::vector<way> ways() {
        return {
            [](bodies& all) {
                for (body& b : all) body::run(&b);
            },
            [this](bodies& all) { of_plain.run(all); },
            [this](bodies& all) { of_timed.run(all); },
            [this](bodies& all) {
                plain.wait(plain.spawn_batch({.may_be_long = true}, all.size(),
                                             [&all](std::size_t i) { all[i](); }));
            },
            [this](bodies& all) {
                arena.execute([&all] {
                    tbb::parallel_for(
                        tbb::blocked_range<std::size_t>(0, all.size(), 1),
                        [&all](const auto& r) { all[r.begin()](); }, tbb::simple_partitioner());
                });
            },
        };
    }

private:
    struct job_side {
        explicit job_side(braid::scheduler& s) : lists(s) {}
        void run(bodies& all) {
            for (body& b : all) list->add(&body::run, &b);
            list->submit();
            list->wait();
        }
        braid::job_list_manager lists;
        braid::job_list* list = nullptr;
    };

    braid::scheduler plain, timed;
    job_side of_plain{plain}, of_timed{timed};
    tbb::global_control limit;
    tbb::task_arena arena;
};

constexpr const char* names[] = {"serial", "job list", "with statistics", "batch", "oneTBB"};

/// ns an add() of a list takes, and of the same into a vector with room.
bool print_adds() {
    braid::scheduler s({.workers = 0});
    braid::job_list_manager lists(s);
    lists.register_job(&body::run, "body");
    constexpr std::uint32_t count = 10'000;
    braid::job_list* list = lists.allocate({.max_jobs = count});
    std::vector<braid::job> array;
    array.reserve(count);
    body b;
    double by_list = 1e9, by_vector = 1e9;
    for (int round = 0; round < 300; ++round) {
        auto start = clock_type::now();
        for (std::uint32_t i = 0; i < count; ++i) list->add(&body::run, &b);
        by_list = std::min(by_list, seconds_since(start));
        if (list->size() != count) return false;
        list->clear();
        start = clock_type::now();
        for (std::uint32_t i = 0; i < count; ++i) array.push_back({&body::run, &b});
        by_vector = std::min(by_vector, seconds_since(start));
        if (array.size() != count || array[count / 2].data != &b) return false;
        array.clear();
    }
    std::printf("add: %.2f ns; into a std::vector with room: %.2f ns\n\n", by_list / count * 1e9,
                by_vector / count * 1e9);
    return true;
}

bool print_threads(unsigned threads, std::uint64_t per_us) {
    libraries all(threads);
    const std::vector<way> ways = all.ways();
    bodies empty(10'000);
    const std::vector<double> of_empty = measure(ways, empty, 200);
    if (of_empty.empty()) return false;
    std::printf("%u threads, an empty job:", threads);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        std::printf(" %s %.1f ns%s", names[i], of_empty[i] / 10'000 * 1e9,
                    i + 1 != ways.size() ? "," : "\n");
    }
    for (const double us : {0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
        const auto steps = static_cast<std::uint64_t>(us * static_cast<double>(per_us));
        // About 1 ms each: short enough to run undisturbed now and then.
        bodies some(static_cast<std::size_t>(1'000 / us), body{steps, 1});
        const std::vector<double> best = measure(ways, some, 100);
        if (best.empty()) return false;
        std::printf("%u threads, %4.1f us:", threads, us);
        for (std::size_t i = 1; i < ways.size(); ++i) {
            std::printf(" %s %.0f %%%s", names[i], 100 * best[0] / (best[i] * threads),
                        i + 1 != ways.size() ? "," : "\n");
        }
    }
    std::printf("\n");
    return true;
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const std::uint64_t per_us = steps_per_microsecond();
    const bool good = print_adds() && print_threads(1, per_us) && print_threads(2, per_us);
    if (!good) std::fprintf(stderr, "job_lists: a wrong sum.\n");
    return good ? 0 : 1;
}
