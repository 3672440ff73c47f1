// One operation, `count` times, on one thread: budget_tests WORKLOAD COUNT [resting|recording].
// budget_test.py runs it under callgrind at two counts; the difference is the price of the
// operation alone. With a third word there is a recorder, which rests or records.
#include <braid/async.hpp>
#include <braid/braid.hpp>
#include <braid/core/decision.hpp>
#include <braid/device.hpp>
#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>
#include <braid/profile/recorder.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

long ran = 0;

/// Makes tasks, then runs them as a worker would. The newest runs first, so the stop comes last.
template <class Make>
void make_and_run(braid::scheduler& s, Make&& make) {
    braid::event stop(s);
    s.post([&] { stop.set(); });
    make();
    s.work_until(stop);
}
void post(braid::scheduler& s, long count) {
    make_and_run(s, [&] {
        for (long i = 0; i < count; ++i) s.post([] { ++ran; });
    });
}
void spawn(braid::scheduler& s, long count) {
    make_and_run(s, [&] {
        for (long i = 0; i < count; ++i) s.spawn([] { ++ran; });
    });
}
/// As spawn(), from a task that knows its worker.
void spawn_inside(braid::scheduler& s, long count) {
    make_and_run(s, [&] {
        s.post([count](braid::task_context& task) {
            for (long i = 0; i < count; ++i) task.spawn([] { ++ran; });
        });
    });
}
/// As spawn(), each task with an edge from the one before, all linked before the first may run.
void chain(braid::scheduler& s, long count) {
    make_and_run(s, [&] {
        braid::task_builder first = s.begin({}, braid::empty);
        braid::task_id last = first.id();
        for (long i = 0; i < count; ++i) last = s.spawn({.after = {last}}, [] { ++ran; });
        first.finish();
    });
}
void batch(braid::scheduler& s, long count) {
    s.wait(s.spawn_batch({}, static_cast<std::size_t>(count), [](std::size_t) { ++ran; }));
}
/// Made, run inside the wait, completed.
void spawn_and_wait(braid::scheduler& s, long count) {
    for (long i = 0; i < count; ++i) s.wait(s.spawn([] { ++ran; }));
}
/// Posted to a scope from inside a task, run inside the scope's wait.
void scope_post(braid::scheduler& s, long count) {
    constexpr long block = 500;
    for (long done = 0; done < count; done += block) {
        braid::scope all(s);
        all.spawn({}, [&all] {
            for (long i = 0; i < block; ++i) all.post([] { ++ran; });
        });
        all.wait();
    }
}

/// `leaves` leaves below one join after another, halved.
long halve(braid::fork_context c, long leaves) {
    if (leaves == 1) return 1;
    const auto [left, right] = braid::join(
        c, [leaves](braid::fork_context inner) { return halve(inner, leaves / 2); },
        [leaves](braid::fork_context inner) { return halve(inner, leaves - leaves / 2); });
    return left + right;
}
/// The same without a context.
long halve_plain(long leaves) {
    if (leaves == 1) return 1;
    const auto [left, right] = braid::join([leaves] { return halve_plain(leaves / 2); },
                                           [leaves] { return halve_plain(leaves - leaves / 2); });
    return left + right;
}
void join(braid::scheduler& s, long count) {
    ran += braid::fork_join(s, "join", [&](braid::fork_context c) { return halve(c, count); });
}
void join_plain(braid::scheduler& s, long count) {
    ran += braid::fork_join(s, "join", [&] { return halve_plain(count); });
}
/// Each a loop of its own, entered from outside.
void loop(braid::scheduler& s, long count) {
    for (long i = 0; i < count; ++i) {
        braid::parallel_for(s, 2, [i](std::size_t n) { ran += n == 0 && i >= 0; });
    }
}
/// Each an outermost join, from a task that is entered once.
void join_outermost(braid::scheduler& s, long count) {
    braid::fork_join(s, "join", [count](braid::fork_context c) {
        for (long i = 0; i < count; ++i) braid::join(c, [] { ++ran; }, [] {});
    });
}

/// Each a node of three predecessors, in a graph that is run again and again.
void graph(braid::scheduler& s, long count) {
    constexpr long width = 10, nodes = 500;
    braid::graph g(s);
    std::vector<braid::graph_node> all;
    for (long i = 0; i < nodes; ++i) {
        all.push_back(g.add([] { ++ran; }));
        for (long n = 0; n < 3 && i >= width; ++n) {
            const long before = i / width * width - width + (i + n) % width;
            g.precede(all[static_cast<std::size_t>(before)], all.back());
        }
    }
    for (long i = 0; i < count; i += nodes) g.run_and_wait();
}

/// Each an event that is set, for which one of so many coroutines waits: it goes on, and waits
/// again.
template <long Waiting>
void set_among(braid::scheduler& s, long count) {
    const auto waits = [](braid::event& own) -> braid::co<> {
        while (co_await braid::as_result(own)) ++ran;
    };
    std::vector<std::unique_ptr<braid::event>> events;
    braid::scope all(s);
    make_and_run(s, [&] {
        for (long i = 0; i < Waiting; ++i) {
            events.push_back(std::make_unique<braid::event>(s, braid::reset::automatic));
            braid::co_spawn(s, {.within = &all}, waits(*events.back()));
        }
    });
    for (long done = 0; done < count; done += Waiting) {
        make_and_run(s, [&] {
            const long some = std::min(Waiting, count - done);
            // In no order that the waits came in: 7,927 is prime.
            for (long i = 0; i < some; ++i) {
                events[static_cast<std::size_t>(i * 7927 % some)]->set();
            }
        });
    }
    all.cancel();
    all.wait();
}

/// Each a task that submits to a processor which is done at once, and the wait for it.
void submit(braid::scheduler& s, long count) {
    braid::device::fake at_once(s, {});
    const braid::device::kernel counts{"counts", [](const braid::device::group&) { ++ran; }};
    for (long i = 0; i < count; ++i) {
        s.wait(s.spawn([&](braid::task_context& task) {
            at_once.submit(task, {.kernel = counts, .groups = {1}});
        }));
    }
}
/// Each a read, asked for and awaited by one coroutine: urgent, so that no other thread reads, and
/// with a chooser, so that no other thread stands in for this one meanwhile.
void read_file(braid::scheduler& s, long count) {
    const braid::file from("/proc/self/exe");
    braid::file_reader io(s, {.back_end = braid::file_back_end::threads});
    const auto reads = [](braid::file_reader& by, const braid::file& of, long n) -> braid::co<> {
        std::byte to[16];
        for (long i = 0; i < n; ++i) {
            const braid::read_result got =
                co_await by.read(of, 0, to, {.priority = braid::priority_level::high});
            ran += got.bytes == sizeof to;
        }
    };
    s.wait(braid::co_spawn(s, {}, reads(io, from, count)).id());
}

/// Takes the first that it is offered.
class first_of_all final : public braid::chooser {
    std::size_t choose(braid::decision_kind, const braid::alternative*, std::size_t) override {
        return 0;
    }
};

constexpr struct {
    const char* name;
    void (*run)(braid::scheduler&, long);
} workloads[] = {{"post", post},
                 {"spawn", spawn},
                 {"spawn_inside", spawn_inside},
                 {"chain", chain},
                 {"batch", batch},
                 {"spawn_and_wait", spawn_and_wait},
                 {"scope_post", scope_post},
                 {"join", join},
                 {"join_plain", join_plain},
                 {"join_outermost", join_outermost},
                 {"loop", loop},
                 {"graph", graph},
                 {"submit", submit},
                 {"read_file", read_file},
                 {"set_among_60", set_among<60>},
                 {"set_among_6000", set_among<6000>}};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::fputs("usage: budget_tests WORKLOAD COUNT [resting|recording]\n", stderr);
        return 2;
    }
    const long count = std::strtol(argv[2], nullptr, 10);
    const char* const observed = argc == 4 ? argv[3] : "";
    struct nowhere final : braid::profile::capture_sink {
        bool take(std::span<const std::byte>) override { return true; }
    } sink;
    // What its own thread does is not counted: it has nothing to do before the process ends.
    braid::profile::recorder recorder(
        {.ring_records = 1 << 18, .flush_every = braid::nanoseconds{INT64_MAX / 4}});
    if (std::strcmp(observed, "recording") == 0 && !recorder.start(sink)) return 2;
    for (const auto& workload : workloads) {
        if (std::strcmp(argv[1], workload.name) != 0) continue;
        {
            // One seat: nobody steals, nobody sleeps, and the count is the same every time.
            first_of_all first;
            braid::scheduler s{{.workers = 0,
                                .ring = 1 << 16,
                                .observer = *observed != '\0' ? &recorder : nullptr,
                                .chooser = workload.run == read_file ? &first : nullptr}};
            workload.run(s, count);
        }
        std::_Exit(ran == count ? 0 : 1);
    }
    std::fprintf(stderr, "budget_tests: there is no workload '%s'\n", argv[1]);
    return 2;
}
