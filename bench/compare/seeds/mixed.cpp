// Six long tasks (3 ms) of little importance lie in the queue; then, each millisecond, comes an
// urgent one (20 µs). How long until an urgent one is over? Two threads execute; the posting
// thread only posts. Tasks cannot be interrupted, so a priority alone waits for a long task to
// end.
#include "seeds/handmade_queue.hpp"
#include "seeds/job_lists.hpp"
#include "seeds/seeds.hpp"
#include "seeds/task_manager.hpp"
#include "seeds/task_queue.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/queue/queue.hpp>

#include <algorithm>

namespace bench::seeds {
namespace {

constexpr unsigned long_tasks = 6, urgent_tasks = 8;

enum class statistic { median, worst };

struct urgent {
    std::int64_t posted = 0;
    std::atomic<std::int64_t> over{0};
};

void run_long(void*) {
    count_one();
    busy_for(3'000'000);
}
void run_urgent(void* data) {
    count_one();
    busy_for(20'000);
    static_cast<urgent*>(data)->over.store(now(), std::memory_order_release);
}

/// State has post_long(job), post_urgent(job) and wait().
template <class State>
std::function<measure()> rival_of(statistic wanted) {
    return [=] {
        return [=, state = std::make_shared<State>()] {
            const std::uint64_t before = counted();
            urgent list[urgent_tasks];
            for (unsigned i = 0; i < long_tasks; ++i) state->post_long({run_long, nullptr});
            for (urgent& u : list) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                u.posted = now();
                state->post_urgent({run_urgent, &u});
            }
            state->wait();
            check_equal(counted() - before, long_tasks + urgent_tasks, "tasks executed");
            std::vector<double> us;
            for (const urgent& u : list) {
                us.push_back(
                    static_cast<double>(u.over.load(std::memory_order_acquire) - u.posted) / 1000);
            }
            return wanted == statistic::median ? median(us)
                                               : *std::max_element(us.begin(), us.end());
        };
    };
}

struct one_deque {
    task_queue all{2};
    void post_long(job j) {
        all.push([j] { j(); });
    }
    void post_urgent(job j) {
        all.push([j] { j(); });
    }
    void wait() { all.wait(); }
};
struct two_deques {
    task_queue slow{1}, quick{1};
    void post_long(job j) {
        slow.push([j] { j(); });
    }
    void post_urgent(job j) {
        quick.push([j] { j(); });
    }
    void wait() { slow.wait(), quick.wait(); }
};
struct two_rings {
    handmade_queue slow{1}, quick{1};
    void post_long(job j) { slow.push(j); }
    void post_urgent(job j) { quick.push(j); }
    void wait() { slow.drain(), quick.drain(); }
};
struct two_lists {
    job_lists threads{2};
    std::vector<std::shared_ptr<job_lists::list>> lists;
    void post(job j, int priority) {
        lists.push_back(std::make_shared<job_lists::list>(priority));
        lists.back()->add(j);
        threads.submit(lists.back());
    }
    void post_long(job j) { post(j, 0); }
    void post_urgent(job j) { post(j, 2); }
    void wait() {
        for (const auto& l : lists) threads.wait(*l);
        lists.clear();
    }
};
struct heap {
    task_manager manager{2};
    std::vector<task_manager::id> ids;
    void post_long(job j) { ids.push_back(manager.add(j, {.priority = 0})); }
    void post_urgent(job j) { ids.push_back(manager.add(j, {.priority = 2})); }
    void wait() {
        for (const auto id : ids) manager.wait(id);
        ids.clear();
    }
};

struct braid_priority {
    braid::scheduler scheduler{{.workers = 2}};
    braid::scope all{scheduler};
    void post_long(job j) {
        all.spawn({.priority = braid::priority_level::low}, [j] { j(); });
    }
    void post_urgent(job j) {
        all.spawn({.priority = braid::priority_level::high}, [j] { j(); });
    }
    void wait() { all.wait(); }
};
struct braid_queue {
    braid::scheduler scheduler{{.workers = 1}};
    braid::queue slow{scheduler, {.name = "slow", .threads = 1}};
    braid::scope all{scheduler};
    void post_long(job j) {
        slow.push([j] { j(); });
    }
    void post_urgent(job j) {
        all.post([j] { j(); });
    }
    void wait() { all.wait(), slow.drain(); }
};
struct braid_background {
    braid::scheduler scheduler{{.workers = 1}};
    braid::scope all{scheduler};
    void post_long(job j) {
        all.spawn({.runs_as = braid::task_class::background}, [j] { j(); });
    }
    void post_urgent(job j) {
        all.post([j] { j(); });
    }
    void wait() { all.wait(); }
};

void add_row(suite& s, const char* name, statistic wanted) {
    s.at(name, "us", "urgent tasks of 20 us beside long ones of 3 ms: from post to end")
        .add("braid queue", rival_of<braid_queue>(wanted))
        .add("braid background", rival_of<braid_background>(wanted))
        .add("braid priority", rival_of<braid_priority>(wanted))
        .add("000 two rings", rival_of<two_rings>(wanted))
        .add("002 priority", rival_of<two_lists>(wanted))
        .add("003 priority", rival_of<heap>(wanted))
        .add("004 one deque", rival_of<one_deque>(wanted))
        .add("004 two deques", rival_of<two_deques>(wanted));
}

}  // namespace

void add_mixed(suite& s) {
    add_row(s, "seeds.mixed.median", statistic::median);
    add_row(s, "seeds.mixed.worst", statistic::worst);
}

}  // namespace bench::seeds
