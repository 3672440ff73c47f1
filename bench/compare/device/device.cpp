#include "device/device.hpp"
#include "device/vulkan.hpp"
#include "time_of_parts.hpp"

#include <braid/braid.hpp>
#include <braid/device.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace bench::device {
namespace {

using braid::device::group;
using braid::device::kernel;

/// A scheduler and a processor on it.
template <class Processor>
struct machine {
    template <class... Arguments>
    explicit machine(int workers, Arguments&&... arguments)
        : scheduler(braid::scheduler_options{.workers = workers}),
          processor(scheduler, std::forward<Arguments>(arguments)...) {}
    braid::scheduler scheduler;
    Processor processor;
};

// ---- one submission ----------------------------------------------------------------------------

void count_group(const group& g) { ++g.write<std::int64_t>(0)[0]; }
constexpr kernel count{"count", &count_group};

constexpr int tasks = 500, parts = 64;

void add_submit(suite& s) {
    using fake = machine<braid::device::fake>;
    s.at("device.submit.fake", "ns", "a submission that takes no time, or a task")
        .add("braid",
             [] {
                 return [m = std::make_shared<fake>(0, braid::device::fake_options{})] {
                     return time_of_parts(
                         m->scheduler, tasks, parts,
                         [&](braid::task_context& task, std::int64_t& done) {
                             m->processor.submit(
                                 task, {.kernel = count, .writes = {std::span(&done, 1)}});
                         });
                 };
             })
        .add("child", [] {
            return [m = std::make_shared<fake>(0, braid::device::fake_options{})] {
                return time_of_parts(m->scheduler, tasks, parts,
                                     [](braid::task_context& task, std::int64_t& done) {
                                         task.spawn_child([&done] { ++done; });
                                     });
            };
        });
    s.at("device.submit.allocations", "calls",
         "heap allocations for 32,000 submissions, once it runs")
        .add("braid", [] {
            return [m = std::make_shared<fake>(0, braid::device::fake_options{})] {
                const auto some = [&] {
                    time_of_parts(m->scheduler, tasks, parts,
                                  [&](braid::task_context& task, std::int64_t& done) {
                                      m->processor.submit(
                                          task, {.kernel = count, .writes = {std::span(&done, 1)}});
                                  });
                };
                some();
                const std::uint64_t before = m->scheduler.allocations();
                some();
                const std::uint64_t taken = m->scheduler.allocations() - before;
                check_equal(taken, 0, "heap allocations");
                return static_cast<double>(taken);
            };
        });
}

// ---- many at once ------------------------------------------------------------------------------

constexpr int steps = 64, rounds = 50;

template <class Submit>
double ns_of_steps(braid::scheduler& b, std::span<const std::int64_t> done, Submit&& submit) {
    const std::int64_t before = done[0];
    const double ns = time_ns([&] {
        for (int i = 0; i < rounds; ++i) {
            b.wait(b.spawn([&](braid::task_context& task) { submit(task); }));
        }
    });
    for (const std::int64_t n : done) {
        if (n != before + rounds) throw wrong_answer("a step is missing");
    }
    return ns / (rounds * steps);
}

/// Destroyed in this order from below.
struct stepped {
    machine<braid::device::fake> on{0, braid::device::fake_options{}};
    std::array<std::int64_t, steps> done{};
    braid::device::sequence all{on.processor};
};

void add_batch(suite& s) {
    s.at("device.batch", "ns", "one of 64 submissions at once")
        .add("braid",
             [] {
                 auto m = std::make_shared<stepped>();
                 for (std::int64_t& n : m->done) {
                     m->all.add({.kernel = count, .writes = {std::span(&n, 1)}});
                 }
                 return [m] {
                     return ns_of_steps(m->on.scheduler, m->done, [&](braid::task_context& task) {
                         m->on.processor.submit(task, m->all);
                     });
                 };
             })
        .add("alone", [] {
            return [m = std::make_shared<stepped>()] {
                return ns_of_steps(m->on.scheduler, m->done, [&](braid::task_context& task) {
                    for (std::int64_t& n : m->done) {
                        m->on.processor.submit(task,
                                               {.kernel = count, .writes = {std::span(&n, 1)}});
                    }
                });
            };
        });
}

// ---- a chain -----------------------------------------------------------------------------------

constexpr int links = 100;

double us_of_chain(braid::scheduler& b, braid::device::processor& p, bool by_tickets) {
    std::int64_t done = 0;
    const auto link = [&](braid::task_context& task, braid::device::ticket after) {
        return p.submit(task, {.kernel = count, .writes = {std::span(&done, 1)}, .after = {after}});
    };
    const double ns = time_ns([&] {
        if (by_tickets) {
            b.wait(b.spawn([&](braid::task_context& task) {
                braid::device::ticket last;
                for (int i = 0; i < links; ++i) last = link(task, last);
            }));
        } else {
            braid::task_id last;
            for (int i = 0; i < links; ++i) {
                last =
                    b.spawn({.after = {last}}, [&](braid::task_context& task) { link(task, {}); });
            }
            b.wait(last);
        }
    });
    if (done != links) throw wrong_answer("a link is missing");
    return ns / 1e3;
}

void add_chain(suite& s) {
    using fake = machine<braid::device::fake>;
    const auto make = [] {
        return std::make_shared<fake>(
            1, braid::device::fake_options{.latency = braid::microseconds(20)});
    };
    row& r = s.at("device.chain", "us", "100 submissions of 20 us, one after the other");
    r.add("braid",
          [=] { return [m = make()] { return us_of_chain(m->scheduler, m->processor, true); }; });
    r.add("through cores",
          [=] { return [m = make()] { return us_of_chain(m->scheduler, m->processor, false); }; });
}

// ---- threads that a chain wakes ----------------------------------------------------------------

/// By units with threads of their own: what the fake runs, it runs on the cores.
void add_chain_wakes(suite& s) {
    using units = machine<braid::device::local_store>;
    const auto measured = [](bool by_tickets) {
        return [m = std::make_shared<units>(0), by_tickets] {
            const std::uint64_t before = m->scheduler.statistics().wakes;
            us_of_chain(m->scheduler, m->processor, by_tickets);
            return static_cast<double>(m->scheduler.statistics().wakes - before);
        };
    };
    s.at("device.chain.wakes", "wakes",
         "threads woken by 100 after each other, for which one waits")
        .add("braid", [=] { return measured(true); })
        .add("through cores", [=] { return measured(false); });
}

// ---- skinning ----------------------------------------------------------------------------------

// As the arena does it: four bones a vertex, a palette for each body. Never inlined, so that all
// come to the same bits.
constexpr std::size_t bodies = 256, per_body = 256, bones = 64, bodies_of_task = 4;

struct bone {
    float columns[4][4];
};
struct vertex {
    float position[3], normal[3];
    std::uint8_t bones[4], weights[4];
};
struct skinned_vertex {
    float position[3], normal[3];
};

[[gnu::noinline]] void skin_body(const bone* palette, const vertex* from, skinned_vertex* to,
                                 std::size_t vertices) {
    using vec4 = float __attribute__((vector_size(16)));
    for (std::size_t v = 0; v < vertices; ++v) {
        const vertex& in = from[v];
        vec4 sum[4] = {};
        for (int k = 0; k < 4 && in.weights[k] != 0; ++k) {
            const float weight = static_cast<float>(in.weights[k]) * (1.0F / 255.0F);
            for (int c = 0; c < 4; ++c) {
                const float* const column = palette[in.bones[k]].columns[c];
                sum[c] += vec4{column[0], column[1], column[2], column[3]} * weight;
            }
        }
        const vec4 p =
            sum[0] * in.position[0] + sum[1] * in.position[1] + sum[2] * in.position[2] + sum[3];
        const vec4 n = sum[0] * in.normal[0] + sum[1] * in.normal[1] + sum[2] * in.normal[2];
        to[v] = {{p[0], p[1], p[2]}, {n[0], n[1], n[2]}};
    }
}

/// A body each; of what was brought in, where that is a part.
void skin_group(const group& g) {
    skin_body(&g.read<bone>(0)[g.x() * bones], &g.read<vertex>(1)[g.x() * per_body],
              &g.write<skinned_vertex>(0)[g.x() * per_body], per_body);
}
constexpr kernel skin{"skin", &skin_group};
/// All that a unit has, in one group.
void skin_all(const group& g) {
    for (std::size_t body = 0; body < g.read<bone>(0).size() / bones; ++body) {
        skin_body(&g.read<bone>(0)[body * bones], &g.read<vertex>(1)[body * per_body],
                  &g.write<skinned_vertex>(0)[body * per_body], per_body);
    }
}
constexpr kernel skin_job{"skin", &skin_all};

struct crowd {
    braid::scheduler scheduler{braid::scheduler_options{.workers = 1}};
    braid::device::cpu cores{scheduler};
    braid::device::local_store units{scheduler, {.units = 2}};
    std::vector<bone> palettes{bodies * bones};
    std::vector<vertex> rest{bodies * per_body};
    std::vector<skinned_vertex> out{bodies * per_body}, right = out;

    crowd() {
        for (std::size_t i = 0; i < palettes.size(); ++i) {
            const auto f = static_cast<float>(i % 977) * 0.001F;
            palettes[i] = {{{1, f, 0, 0}, {0, 1, f, 0}, {f, 0, 1, 0}, {f, f, f, 0}}};
        }
        for (std::size_t i = 0; i < rest.size(); ++i) {
            const auto f = static_cast<float>(i % 991) * 0.01F;
            const auto b = static_cast<std::uint8_t>(i % (bones - 3));
            rest[i] = {{f, 1, -f},
                       {0, 1, 0},
                       {b, static_cast<std::uint8_t>(b + 1), static_cast<std::uint8_t>(b + 2),
                        static_cast<std::uint8_t>(b + 3)},
                       {100, 75, 50, 30}};
        }
        for (std::size_t i = 0; i < bodies; ++i) skin_one(i, right);
    }
    void skin_one(std::size_t body, std::vector<skinned_vertex>& to) {
        skin_body(&palettes[body * bones], &rest[body * per_body], &to[body * per_body], per_body);
    }
    template <class Run>
    double us(Run&& run) {
        std::memset(out.data(), 0, out.size() * sizeof out[0]);
        const double ns = time_ns([&] {
            scheduler.wait(scheduler.spawn([&](braid::task_context& task) { run(task); }));
        });
        if (std::memcmp(out.data(), right.data(), out.size() * sizeof out[0]) != 0) {
            throw wrong_answer("a vertex");
        }
        return ns / 1e3;
    }
    double us_through_cpu() {
        return us([&](braid::task_context& task) {
            cores.submit(task,
                         {.kernel = skin,
                          .reads = {std::span<const bone>(palettes), std::span<const vertex>(rest)},
                          .writes = {std::span(out)},
                          .groups = {bodies}});
        });
    }
    /// As a stage of the arena runs its parts.
    double us_of_tasks() {
        return us([&](braid::task_context& task) {
            scheduler.spawn_batch({.parent = task.id(), .never_waits = true},
                                  bodies / bodies_of_task, [&](std::size_t part) {
                                      for (std::size_t i = 0; i < bodies_of_task; ++i) {
                                          skin_one(part * bodies_of_task + i, out);
                                      }
                                  });
        });
    }
    double us_through_units() {
        return us([&](braid::task_context& task) {
            const auto cut = units.split(
                bones * sizeof(bone) + per_body * (sizeof(vertex) + sizeof(skinned_vertex)),
                bodies);
            for (std::size_t job = 0; job < cut.jobs; ++job) {
                const auto [first, last] = cut[job];
                units.submit(task,
                             {.kernel = skin_job,
                              .reads = {part_of<const bone>(palettes, first, last, bones),
                                        part_of<const vertex>(rest, first, last, per_body)},
                              .writes = {part_of<skinned_vertex>(out, first, last, per_body)}});
            }
        });
    }

private:
    template <class T, class Vector>
    static std::span<T> part_of(Vector& all, std::size_t first, std::size_t last,
                                std::size_t each) {
        return std::span<T>(all).subspan(first * each, (last - first) * each);
    }
};

void add_skinning(suite& s) {
    const auto add = [](row& r, const char* system, double (crowd::*us)()) {
        r.add(system,
              [us] { return [us, c = std::make_shared<crowd>()] { return ((*c).*us)(); }; });
    };
    row& cpu = s.at("device.cpu", "us", "256 bodies skinned, a group each, or by tasks of four");
    add(cpu, "braid", &crowd::us_through_cpu);
    add(cpu, "tasks", &crowd::us_of_tasks);
    row& store = s.at("device.local_store", "us", "256 bodies skinned by two units, or two cores");
    add(store, "braid", &crowd::us_through_units);
    add(store, "cpu", &crowd::us_through_cpu);
}

}  // namespace

void add(suite& s) {
    add_submit(s);
    add_batch(s);
    add_chain(s);
    add_chain_wakes(s);
    add_skinning(s);
    add_vulkan(s);
}

}  // namespace bench::device
