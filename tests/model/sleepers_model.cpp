// No thread sleeps while a task is visible and nobody searches (I5). Publishers never run what they
// publish, as if a long body held them: what they publish must find another thread by itself.
#include "base/parker.hpp"
#include "core/ready_queue.hpp"
#include "core/sleepers.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using queue = braid::detail::basic_ready_queue<policy>;

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
            if (!asleep.asleep(seat)) continue;
            if (asleep.take(seat)) parker[seat].notify();
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
        bool searching = false;
        while (true) {
            for (queue& q : ready) {
                const std::uint64_t id = q.steal();
                if (id == 0) continue;
                if (searching && asleep.end_search() && work_visible()) wake_one();
                require(task[id] == 1, "taken once, seen whole");
                task[id] = 2;
                return;
            }
            if (!searching) asleep.begin_search();
            searching = asleep.rest(
                seat, true, [&] { return work_visible(); }, [&] { parker[seat].park(); });
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
    return good ? 0 : 1;
}
