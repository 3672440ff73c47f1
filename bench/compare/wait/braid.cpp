#include "wait/wait.hpp"

#include <braid/core/scheduler.hpp>

#include <memory>
#include <vector>

namespace bench::wait {
namespace {

double one_child(braid::scheduler& scheduler) {
    const std::uint64_t before = counted();
    double ns = 0;
    // In a task, as nested work is.
    scheduler.wait(scheduler.spawn({}, [&](braid::task_context& task) {
        ns = time_ns([&] {
            for (std::size_t i = 0; i < children; ++i) {
                task.wait(task.spawn({}, [] { count_one(); }));
            }
        });
    }));
    check_equal(counted() - before, children, "children");
    return ns / children;
}

void nest(braid::task_context& task, std::size_t k) {
    count_one();
    if (k == 0) return;
    task.wait(task.spawn({}, [k](braid::task_context& child) { nest(child, k - 1); }));
}

double nested(braid::scheduler& scheduler) {
    const std::uint64_t before = counted();
    const double ns = time_ns([&] {
        scheduler.wait(scheduler.spawn({}, [](braid::task_context& t) { nest(t, depth); }));
    });
    check_equal(counted() - before, depth + 1, "nested tasks");
    return ns / depth;
}

double chain(braid::scheduler& scheduler, std::vector<braid::task_id>& ids) {
    const std::uint64_t before = counted();
    const double ns = time_ns([&] {
        for (std::size_t i = 0; i < chain_length; ++i) {
            ids[i] = scheduler.spawn({}, [&ids, i](braid::task_context& task) {
                if (i != 0) task.wait(ids[i - 1]);
                count_one();
            });
        }
        scheduler.wait(ids.back());
    });
    check_equal(counted() - before, chain_length, "tasks of the chain");
    return ns / chain_length;
}

double two_waits(braid::scheduler& scheduler, std::int64_t us) {
    return two_bodies(us, [&](auto body) {
        const braid::task_id a = scheduler.spawn({}, body), b = scheduler.spawn({}, body);
        scheduler.wait(a);
        scheduler.wait(b);
    });
}

/// For a task that comes after both: so the wait needs both, and runs one of them.
double one_wait(braid::scheduler& scheduler, std::int64_t us) {
    return two_bodies(us, [&](auto body) {
        const braid::task_id both[] = {scheduler.spawn({}, body), scheduler.spawn({}, body)};
        scheduler.wait(scheduler.spawn({.after_all = both}, braid::empty));
    });
}

double wait_for_all(braid::scheduler& scheduler, std::int64_t us) {
    return two_bodies(us, [&](auto body) {
        const braid::task_id a = scheduler.spawn({}, body), b = scheduler.spawn({}, body);
        braid::wait_all(scheduler, {a, b});
    });
}

template <class Measure>
std::function<measure()> with_workers(int workers, Measure round) {
    return [=] {
        auto scheduler =
            std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = workers});
        return [=] { return round(*scheduler); };
    };
}

}  // namespace

void add_braid(suite& s) {
    s.at("wait.child.t1").add("braid", with_workers(0, one_child));
    s.at("wait.child.t2").add("braid", with_workers(1, one_child));
    s.at("wait.nested").add("braid", with_workers(0, nested));
    const auto ids = std::make_shared<std::vector<braid::task_id>>(chain_length);
    s.at("wait.chain").add("braid", with_workers(0, [ids](braid::scheduler& of) {
                               return chain(of, *ids);
                           }));
    for (const std::int64_t us : two_us) {
        s.at(with_number("wait.two", us))
            .add("braid", with_workers(1, [us](braid::scheduler& of) { return two_waits(of, us); }))
            .add("braid one wait",
                 with_workers(1, [us](braid::scheduler& of) { return one_wait(of, us); }))
            .add("braid wait_all",
                 with_workers(1, [us](braid::scheduler& of) { return wait_for_all(of, us); }));
    }
    for (const std::int64_t us : gaps_us) {
        s.at(with_number("wait.gap", us)).add("braid", with_workers(1, [us](braid::scheduler& of) {
                                                  return after_gap(
                                                      us, [&](auto body) { of.post(body); });
                                              }));
    }
}

}  // namespace bench::wait
