// No thread sleeps while a task is visible and nobody searches (I5). Publishers never run what they
// publish, as if a long body held them: what they publish must find another thread by itself.
#include "base/parker.hpp"
#include "core/ready/ready_queue.hpp"
#include "core/seats/sleepers.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using queue = braid::detail::basic_ready_queue<policy>;
using braid::detail::searcher;

/// `Publishers` push `Each` tasks; there is one worker for every task, and it runs one task, as if
/// that were long. A worker that sleeps on while a task lies there is a deadlock to Relacy.
template <unsigned Publishers, unsigned Each>
struct one_worker_per_task
    : rl::test_suite<one_worker_per_task<Publishers, Each>, Publishers + Publishers * Each> {
    static constexpr unsigned workers = Publishers * Each;

    braid::detail::basic_sleepers<policy> asleep;
    braid::basic_parker<policy> parker[workers];
    queue ready[Publishers];
    queue::cell cells[Publishers][4];
    plain<int> task[workers + 1];

    void before() {
        for (unsigned i = 0; i < Publishers; ++i) ready[i].attach(cells[i], 4);
    }
    void after() {
        for (unsigned i = 1; i <= workers; ++i) require(task[i] == 2, "every task has run");
        require(!asleep.anybody_asleep(), "nobody is counted as asleep");
        require(!asleep.anybody_searching(), "nobody is counted as searching");
    }

    void wake_one() {
        for (unsigned seat = 0; seat < workers; ++seat) {
            if (!asleep.asleep(seat, searcher::idle) || !asleep.take(seat)) continue;
            parker[seat].notify();
            return;
        }
    }
    bool work_visible() const {
        for (const queue& q : ready) {
            if (q.maybe_work()) return true;
        }
        return false;
    }

    void publish(unsigned publisher) {
        for (unsigned n = 0; n < Each; ++n) {
            const unsigned id = 1 + publisher * Each + n;
            task[id] = 1;
            ready[publisher].push(id);
            if (asleep.should_wake()) wake_one();
        }
    }
    void work(unsigned seat) {
        searcher now = searcher::none;
        while (true) {
            for (queue& q : ready) {
                const std::uint64_t id = q.steal();
                if (id == 0) continue;
                if (now != searcher::none && asleep.end_search(now) && work_visible()) wake_one();
                require(task[id] == 1, "taken once, seen whole");
                task[id] = 2;
                return;
            }
            if (now == searcher::none) asleep.begin_search(searcher::idle);
            now = asleep.rest(
                seat, searcher::idle, searcher::idle, [&] { return work_visible(); },
                [&] { parker[seat].park(); });
        }
    }
    void thread(unsigned index) {
        if (index < Publishers) {
            publish(index);
        } else {
            work(index - Publishers);
        }
    }
};

/// A worker that runs one task and is then busy for good; waiters that need none of the tasks and
/// wait until all have run. The one that learns of a task which nobody else can run calls a
/// reserve, here: runs it in its name. That two waiters trust each other, or a worker that is gone,
/// is a deadlock.
template <unsigned Tasks, unsigned Waiters>
struct waiters_need_nothing : rl::test_suite<waiters_need_nothing<Tasks, Waiters>, 2 + Waiters> {
    braid::detail::basic_sleepers<policy> asleep;
    braid::basic_parker<policy> parker[1 + Waiters];
    queue ready;
    queue::cell cells[4];
    policy::atomic<unsigned> left{0};

    void before() {
        ready.attach(cells, 4);
        left.store(Tasks, std::memory_order_relaxed);
    }
    void after() {
        require(left.load(std::memory_order_relaxed) == 0, "every task has run");
        require(!asleep.anybody_searching(), "nobody is counted as searching");
        asleep.begin_search(searcher::idle);
        require(asleep.idle_one_searching(), "no waiter was counted as idle or the other way");
    }

    bool wake(searcher kind) {
        while (true) {
            const unsigned seat = asleep.first_asleep(kind);
            if (seat == asleep.capacity) return false;
            if (!asleep.take(seat)) continue;
            parker[seat].notify();
            return true;
        }
    }
    void wake_one() {
        if (!wake(searcher::idle)) wake(searcher::waiter);
    }
    bool run_one() {
        if (ready.steal() == 0) return false;
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            for (auto& p : parker) p.notify();
        }
        return true;
    }
    void end_search(searcher& now) {
        const searcher was = std::exchange(now, searcher::none);
        if (was != searcher::none && asleep.end_search(was) && ready.maybe_work()) wake_one();
    }

    void publish() {
        for (unsigned id = 1; id <= Tasks; ++id) {
            ready.push(id);
            if (asleep.should_wake()) wake_one();
        }
    }
    void work() {
        searcher now = searcher::none;
        while (left.load(std::memory_order_acquire) != 0 && !run_one()) {
            if (now == searcher::none) asleep.begin_search(searcher::idle);
            now = asleep.rest(
                0, searcher::idle, searcher::idle, [&] { return ready.maybe_work(); },
                [&] { parker[0].park(); });
        }
        end_search(now);
    }
    void wait(unsigned seat) {
        searcher now = searcher::none;
        while (left.load(std::memory_order_acquire) != 0) {
            if (now == searcher::waiter) {
                now = searcher::none;
                if (asleep.end_search(searcher::waiter) && ready.maybe_work() &&
                    !wake(searcher::idle)) {
                    run_one();
                    continue;
                }
            }
            const auto look = [&] { return !asleep.idle_one_searching() && ready.maybe_work(); };
            now = asleep.rest(seat, searcher::waiter, searcher::none, look,
                              [&] { parker[seat].park(); });
        }
        end_search(now);
    }
    void thread(unsigned index) {
        if (index == 0) {
            publish();
        } else if (index == 1) {
            work();
        } else {
            wait(index - 1);
        }
    }
};

}  // namespace

int main() {
    using one = one_worker_per_task<1, 1>;
    using two = one_worker_per_task<1, 2>;
    using pair = one_worker_per_task<2, 1>;
    bool good = explore_bounded<one>("sleepers: one publisher, one worker", 4);
    good = good && explore_randomly<one>("sleepers: one publisher, one worker", 300'000);
    good = good && explore_randomly<two>("sleepers: one publisher, two workers", 300'000);
    good = good && explore_randomly<pair>("sleepers: two publishers, two workers", 300'000);
    good = good && explore_randomly<one_worker_per_task<1, 3>>("sleepers: one publisher, 3 workers",
                                                               200'000);
    good = good && explore_randomly<waiters_need_nothing<2, 1>>(
                       "sleepers: a worker for one of two tasks, a waiter", 200'000);
    good = good && explore_randomly<waiters_need_nothing<2, 2>>(
                       "sleepers: a worker for one of two tasks, two waiters", 200'000);
    return good ? 0 : 1;
}
