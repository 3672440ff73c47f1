// A binary tree of tasks, each half a microsecond long; only the root is known at the start.
// Documents 001 and 002 have no way to add work to a batch that runs.
#include "seeds/handmade_queue.hpp"
#include "seeds/seeds.hpp"
#include "seeds/task_manager.hpp"
#include "seeds/task_queue.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>

namespace bench::seeds {
namespace {

constexpr unsigned depth = 12, tasks = (2u << depth) - 1;
constexpr std::int64_t body_ns = 500;

void body() {
    count_one();
    busy_for(body_ns);
}

template <class State>
std::function<measure()> rival_of(void (*run)(State&)) {
    return [=] {
        return [=, state = std::make_shared<State>()] {
            const std::uint64_t before = counted();
            const double ns = time_ns([&] { run(*state); });
            check_equal(counted() - before, tasks, "tasks executed");
            return ns / tasks;
        };
    };
}

struct nobody {};
void serial(nobody&) {
    for (unsigned i = 0; i < tasks; ++i) body();
}

struct handmade_state {
    // Room for a whole level of the tree, so that no pusher has to help.
    handmade_queue queue{1, 2u << depth};
    struct node {
        handmade_state* self;
        unsigned left;
    } nodes[depth + 1];
};
void handmade_node(void* data) {
    const auto& n = *static_cast<handmade_state::node*>(data);
    body();
    if (n.left == 0) return;
    for (int i = 0; i < 2; ++i) {
        n.self->queue.push({handmade_node, &n.self->nodes[n.left - 1]});
    }
}
void handmade(handmade_state& s) {
    for (unsigned i = 0; i <= depth; ++i) s.nodes[i] = {&s, i};
    s.queue.push({handmade_node, &s.nodes[depth]});
    s.queue.drain();
}

struct managed_state {
    task_manager manager{1};
    task_manager::id all = task_manager::none;
    struct node {
        managed_state* self;
        unsigned left;
    } nodes[depth + 1];
};
void managed_node(void* data) {
    const auto& n = *static_cast<managed_state::node*>(data);
    body();
    if (n.left == 0) return;
    for (int i = 0; i < 2; ++i) {
        n.self->manager.add({managed_node, &n.self->nodes[n.left - 1]}, {.parent = n.self->all});
    }
}
void managed(managed_state& s) {
    for (unsigned i = 0; i <= depth; ++i) s.nodes[i] = {&s, i};
    s.all = s.manager.begin_add();
    s.manager.add({managed_node, &s.nodes[depth]}, {.parent = s.all});
    s.manager.finish_add(s.all);
    s.manager.wait(s.all);
}

struct queued_state {
    task_queue queue{2};
    void node(unsigned left) {
        body();
        for (int i = 0; left != 0 && i < 2; ++i) queue.push([this, left] { node(left - 1); });
    }
};
void queued(queued_state& s) {
    s.queue.push([&] { s.node(depth); });
    s.queue.wait();
}

struct braid_state {
    braid::scheduler scheduler{{.workers = 1}};
    braid::scope all{scheduler};
};
void posted_node(braid::task_context& task, unsigned left) {
    body();
    for (int i = 0; left != 0 && i < 2; ++i) {
        task.post([left](braid::task_context& t) { posted_node(t, left - 1); });
    }
}
void posted(braid_state& s) {
    s.all.post([](braid::task_context& t) { posted_node(t, depth); });
    s.all.wait();
}

}  // namespace

void add_tree(suite& s) {
    s.at("seeds.tree", "ns/task", "tasks of 0.5 us that make tasks, on two threads")
        .add("serial", rival_of<nobody>(serial))
        .add("braid", rival_of<braid_state>(posted))
        .add("000 ring", rival_of<handmade_state>(handmade))
        .add("003 manager", rival_of<managed_state>(managed))
        .add("004 deque", rival_of<queued_state>(queued));
}

}  // namespace bench::seeds
