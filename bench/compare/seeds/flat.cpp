#include "seeds/handmade_queue.hpp"
#include "seeds/job_lists.hpp"
#include "seeds/locked_pool.hpp"
#include "seeds/seeds.hpp"
#include "seeds/task_manager.hpp"
#include "seeds/task_queue.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>

namespace bench::seeds {
namespace {

struct size {
    const char* name;
    std::int64_t body_ns;
    unsigned jobs;
};
constexpr size sizes[] = {{"seeds.flat.0us", 0, 20'000},
                          {"seeds.flat.1us", 1'000, 5'000},
                          {"seeds.flat.10us", 10'000, 500}};

/// Counts itself, takes its time.
job job_of(const size& z) {
    return {[](void* data) {
                count_one();
                const auto& of = *static_cast<const size*>(data);
                if (of.body_ns != 0) busy_for(of.body_ns);
            },
            const_cast<size*>(&z)};
}

/// `run(state, job, count)`; ns per job.
template <class State>
std::function<measure()> rival_of(const size& z, unsigned threads,
                                  void (*run)(State&, job, unsigned)) {
    return [=, &z] {
        return [=, &z, state = std::make_shared<State>(threads)] {
            const std::uint64_t before = counted();
            const double ns = time_ns([&] { run(*state, job_of(z), z.jobs); });
            check_equal(counted() - before, z.jobs, "jobs executed");
            return ns / z.jobs;
        };
    };
}

struct nobody {
    explicit nobody(unsigned) {}
};
void serial(nobody&, job j, unsigned count) {
    for (unsigned i = 0; i < count; ++i) j();
}

void handmade(handmade_queue& q, job j, unsigned count) {
    for (unsigned i = 0; i < count; ++i) q.push(j);
    q.drain();
}

void locked(locked_pool& pool, job j, unsigned count) {
    std::vector<locked_pool::entry> batch(count, {.work = j});
    pool.run(batch);
}

void lists(job_lists& threads, job j, unsigned count) {
    const auto list = std::make_shared<job_lists::list>(0);
    for (unsigned i = 0; i < count; ++i) list->add(j);
    threads.submit(list);
    threads.wait(*list);
}

void managed(task_manager& m, job j, unsigned count) {
    const task_manager::id all = m.begin_add();
    for (unsigned i = 0; i < count; ++i) m.add(j, {.parent = all});
    m.finish_add(all);
    m.wait(all);
}

void queued(task_queue& q, job j, unsigned count) {
    for (unsigned i = 0; i < count; ++i) q.push([j] { j(); });
    q.wait();
}

struct braid_state {
    explicit braid_state(unsigned threads)
        : scheduler({.workers = static_cast<int>(threads) - 1}), tasks(scheduler) {}
    braid::scheduler scheduler;
    braid::scope tasks;
};
void posted(braid_state& b, job j, unsigned count) {
    for (unsigned i = 0; i < count; ++i) b.tasks.post([j] { j(); });
    b.tasks.wait();
}

}  // namespace

void add_flat(suite& s) {
    for (const size& z : sizes) {
        s.at(z.name, "ns/job", "independent jobs on two threads")
            .add("serial", rival_of<nobody>(z, 1, serial))
            .add("braid", rival_of<braid_state>(z, 2, posted))
            .add("000 ring", rival_of<handmade_queue>(z, 1, handmade))
            .add("001 locked", rival_of<locked_pool>(z, 2, locked))
            .add("002 lists", rival_of<job_lists>(z, 2, lists))
            .add("003 manager", rival_of<task_manager>(z, 1, managed))
            .add("004 deque", rival_of<task_queue>(z, 2, queued));
    }
}

}  // namespace bench::seeds
