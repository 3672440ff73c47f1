// A processor whose units have a small memory of their own: a range that is larger is cut into jobs
// that fit, and a kernel touches copies of what it names and nothing else.
#include <braid/braid.hpp>
#include <braid/device.hpp>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

struct particle {
    float place, speed;
};
struct wind {
    float strength;
};

// Runs once a job: all groups of one run on one unit.
void move_job(const braid::device::group& g) {
    const float strength = g.read<wind>(0)[0].strength;
    const std::span<const particle> before = g.read<particle>(1);
    const std::span<particle> after = g.write<particle>(0);
    for (std::size_t i = 0; i < before.size(); ++i) {
        const float speed = before[i].speed + strength;
        after[i] = {before[i].place + speed, speed};
    }
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::device::local_store units(scheduler, {.units = 2, .store_bytes = 64 << 10});
    const braid::device::kernel move{"move", &move_job};

    const std::vector<particle> before(100'000, particle{1, 2});
    std::vector<particle> after(before.size());
    const wind today{0.5F};

    // A particle lies in the store twice, as input and as output; each job has the wind besides.
    const auto cut = units.split(2 * sizeof(particle), before.size(), sizeof(wind));
    const auto moved = scheduler.spawn({.name = "move"}, [&](braid::task_context& task) {
        for (std::size_t job = 0; job < cut.jobs; ++job) {
            const braid::index_range part = cut[job];
            units.submit(task, {.kernel = move,
                                .reads = {std::span(&today, 1),
                                          std::span(before).subspan(part.begin, part.size())},
                                .writes = {std::span(after).subspan(part.begin, part.size())}});
        }
    });

    // Complete when all jobs are: what they have written is back in the program's memory.
    bool right = false;
    scheduler.wait(scheduler.spawn({.name = "check", .after = {moved}}, [&] {
        right = true;
        for (const particle& p : after) right = right && p.place == 3.5F && p.speed == 2.5F;
    }));
    std::printf("%zu particles in %zu jobs of up to %zu: %llu ran on the units\n", cut.items,
                cut.jobs, cut.in_a_job, static_cast<unsigned long long>(units.report().completed));
    return right && units.report().completed == cut.jobs ? EXIT_SUCCESS : EXIT_FAILURE;
}
