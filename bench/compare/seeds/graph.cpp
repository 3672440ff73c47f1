// The 64 × 64 graph with nodes of one microsecond. What a design cannot say is said with what
// it has: an empty parent for several dependencies (003), a sync point (002) or a drain (000,
// 004) per layer.
#include "graph/graph.hpp"

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

using graph::layers;
using graph::nodes;
using graph::width;

struct node {
    graph::value* values;
    unsigned i;
    static void run(void* data) {
        const auto& n = *static_cast<const node*>(data);
        busy_for(1'000);
        graph::compute(n.values, n.i);
    }
    job work() { return {run, this}; }
};
using node_list = std::vector<node>;

template <class State>
std::function<measure()> rival_of(unsigned threads, void (*run)(State&, node_list&)) {
    return [=] {
        return [=, state = std::make_shared<State>(threads)] {
            graph::values v{};
            node_list list;
            for (unsigned i = 0; i < nodes; ++i) list.push_back({v.data(), i});
            const double ns = time_ns([&] { run(*state, list); });
            graph::check(v);
            return ns / nodes;
        };
    };
}

struct nobody {
    explicit nobody(unsigned) {}
};
void serial(nobody&, node_list& list) {
    for (node& n : list) node::run(&n);
}

void handmade(handmade_queue& q, node_list& list) {
    for (unsigned i = 0; i < nodes; ++i) {
        q.push(list[i].work());
        if (i % width == width - 1) q.drain();
    }
}

void queued(task_queue& q, node_list& list) {
    for (unsigned i = 0; i < nodes; ++i) {
        q.push([n = &list[i]] { node::run(n); });
        if (i % width == width - 1) q.wait();
    }
}

void locked(locked_pool& pool, node_list& list) {
    std::vector<locked_pool::entry> batch(nodes);
    for (unsigned i = 0; i < nodes; ++i) {
        batch[i].work = list[i].work();
        if (i < width) continue;
        for (const unsigned p : graph::predecessors(i)) batch[p].permits.push_back(i);
        batch[i].waits_for = graph::fan_in;
    }
    pool.run(batch);
}

void lists(job_lists& threads, node_list& list) {
    const auto all = std::make_shared<job_lists::list>(0);
    for (unsigned i = 0; i < nodes; ++i) {
        all->add(list[i].work());
        if (i % width == width - 1) all->synchronize();
    }
    threads.submit(all);
    threads.wait(*all);
}

void managed(task_manager& m, node_list& list) {
    std::vector<task_manager::id> ids(nodes);
    const task_manager::id all = m.begin_add();
    for (unsigned i = 0; i < nodes; ++i) {
        task_manager::id before = task_manager::none;
        if (i >= width) {
            before = m.begin_add();
            for (const unsigned p : graph::predecessors(i)) m.add_child(before, ids[p]);
        }
        ids[i] = m.add(list[i].work(), {.parent = all, .dependency = before});
        if (before != task_manager::none) m.finish_add(before);
    }
    m.finish_add(all);
    m.wait(all);
}

struct braid_state {
    explicit braid_state(unsigned threads)
        : scheduler({.workers = static_cast<int>(threads) - 1}) {}
    braid::scheduler scheduler;
    std::array<braid::task_id, nodes> ids;
};
void spawned(braid_state& s, node_list& list) {
    braid::scope all(s.scheduler);
    for (unsigned i = 0; i < nodes; ++i) {
        const auto work = [n = &list[i]] { node::run(n); };
        if (i < width) {
            s.ids[i] = all.spawn({}, work);
            continue;
        }
        const auto& p = graph::predecessors(i);
        s.ids[i] = all.spawn({.after = {s.ids[p[0]], s.ids[p[1]], s.ids[p[2]]}}, work);
    }
    all.wait();
}

}  // namespace

void add_graph(suite& s) {
    s.at("seeds.graph", "ns/node", "64 x 64 graph of 1 us nodes on two threads")
        .add("serial", rival_of<nobody>(1, serial))
        .add("braid", rival_of<braid_state>(2, spawned))
        .add("000 ring", rival_of<handmade_queue>(1, handmade))
        .add("001 locked", rival_of<locked_pool>(2, locked))
        .add("002 lists", rival_of<job_lists>(2, lists))
        .add("003 manager", rival_of<task_manager>(1, managed))
        .add("004 deque", rival_of<task_queue>(2, queued));
}

}  // namespace bench::seeds
