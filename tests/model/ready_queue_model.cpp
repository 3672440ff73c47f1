// Every pushed task is taken exactly once, by any thread, and its claimer sees it whole (I1, I2).
#include "core/ready/ready_queue.hpp"

#include "relacy_policy.hpp"

#include <cstddef>

namespace {

using namespace braid_model;
using queue = braid::detail::basic_ready_queue<policy>;

/// A ring of `Cells`, `Tasks` tasks with ids from 1; each task is plain memory that its creator
/// writes and its claimer reads and overwrites: two claimers of one task race on it.
template <std::size_t Cells, unsigned Tasks>
struct tasks_in_ring {
    queue ready;
    queue::cell cells[Cells];
    plain<int> task[Tasks + 1];
    unsigned left_over = 0;  // pushes that found no room: run by their creator

    void attach() { ready.attach(cells, Cells); }
    void push(std::uint64_t id) {
        task[id] = 1;
        if (!ready.push(id)) {
            require(task[id] == 1, "a refused task stays with its creator");
            task[id] = 2;
            ++left_over;
        }
    }
    void run(std::uint64_t id) {
        if (id == 0) return;
        require(task[id] == 1, "claimed once, and seen as it was built");
        task[id] = 2;
    }
    void take_newest() {
        const std::uint64_t id = ready.newest();
        if (id != 0 && ready.take_newest()) run(id);
    }
    void take_oldest() {
        std::uint64_t id = 0;
        if (ready.take_oldest(&id, 1) != 0) run(id);
    }
    /// At rest, as the owner.
    void finish() {
        while (const std::uint64_t id = ready.pop()) run(id);
        for (unsigned i = 1; i <= Tasks; ++i) require(task[i] == 2, "nothing is lost");
        require(!ready.maybe_work(), "an empty ring shows no work");
    }
};

/// The owner pushes more than fits, pops in between and goes round the ring; two threads steal.
template <std::size_t Cells, unsigned Tasks>
struct two_thieves : rl::test_suite<two_thieves<Cells, Tasks>, 3>, tasks_in_ring<Cells, Tasks> {
    void before() { this->attach(); }
    void after() { this->finish(); }
    void thread(unsigned index) {
        if (index != 0) {
            this->run(this->ready.steal());
            this->run(this->ready.steal());
            return;
        }
        for (unsigned id = 1; id <= Tasks; ++id) {
            this->push(id);
            if (id % 3 == 0) this->run(this->ready.pop());
        }
    }
};

/// One thread steals, another claims a certain task from the middle, newest first and oldest first.
template <std::size_t Cells, unsigned Tasks>
struct thief_and_claimer : rl::test_suite<thief_and_claimer<Cells, Tasks>, 3>,
                           tasks_in_ring<Cells, Tasks> {
    void before() { this->attach(); }
    void after() { this->finish(); }
    void thread(unsigned index) {
        const auto wanted = [](std::uint64_t id) { return id == 2 || id == 3; };
        switch (index) {
            case 0:
                for (unsigned id = 1; id <= Tasks; ++id) {
                    this->push(id);
                    if (id == 3) this->take_newest();
                }
                this->take_oldest();
                this->run(this->ready.pop());
                break;
            case 1:
                this->run(this->ready.steal());
                break;
            case 2:
                this->run(this->ready.claim_newest_if(wanted, SIZE_MAX));
                this->run(this->ready.claim_oldest_if(wanted, SIZE_MAX));
                break;
        }
    }
};

/// A thief takes several at once and puts what it does not run into a queue of its own, from which
/// a second one steals; a third thread steals from the first queue, too.
template <std::size_t Cells, unsigned Tasks>
struct thief_with_a_queue : rl::test_suite<thief_with_a_queue<Cells, Tasks>, 3>,
                            tasks_in_ring<Cells, Tasks> {
    queue own;
    queue::cell own_cells[Cells];

    void before() {
        this->attach();
        own.attach(own_cells, Cells);
    }
    void after() {
        while (const std::uint64_t id = own.pop()) this->run(id);
        this->finish();
        require(!own.maybe_work(), "an empty ring shows no work");
    }
    void thread(unsigned index) {
        switch (index) {
            case 0:
                for (unsigned id = 1; id <= Tasks; ++id) this->push(id);
                this->run(this->ready.pop());
                break;
            case 1:
                for (unsigned n = 0; n < 2; ++n) {
                    std::uint64_t ids[3];
                    const std::size_t count = this->ready.steal(ids, 3);
                    if (count == 0) continue;
                    this->run(ids[0]);
                    own.refill(ids + 1, count - 1);
                    while (const std::uint64_t id = own.pop()) this->run(id);
                }
                break;
            case 2:
                this->run(own.steal());
                this->run(this->ready.steal());
                break;
        }
    }
};

/// Q3: a thread that announces itself and then sees no work is seen by the next push.
template <class Suite, std::size_t Cells, unsigned Tasks>
struct beside_a_sleeper : rl::test_suite<Suite, 2>, tasks_in_ring<Cells, Tasks> {
    atomic<std::uint32_t> asleep;
    bool woken = false, saw_work = false;

    void before() {
        this->attach();
        woken = saw_work = false;
    }
    void after() {
        require(woken || saw_work, "one of the two sees the other");
        this->finish();
    }
    void announce_and_look() {
        asleep.fetch_add(1, std::memory_order::seq_cst);
        saw_work = this->ready.maybe_work();
    }
    void look_for_sleepers() { woken = asleep.load(std::memory_order::seq_cst) != 0; }
};

struct push_beside_a_sleeper : beside_a_sleeper<push_beside_a_sleeper, 2, 3> {
    void thread(unsigned index) {
        if (index != 0) return announce_and_look();
        // The first and second come and go: the ring has been round and its indices moved.
        push(1);
        push(2);
        run(ready.pop());
        run(ready.pop());
        push(3);
        look_for_sleepers();
    }
};

/// With a task above the one that stays: bottom_ goes up by two exchanges and down by a pop, and
/// the sleeper may read what the pop wrote.
struct pop_beside_a_sleeper : beside_a_sleeper<pop_beside_a_sleeper, 4, 2> {
    void thread(unsigned index) {
        if (index != 0) return announce_and_look();
        push(1);
        look_for_sleepers();
        push(2);
        run(ready.pop());
    }
};

/// For what a thief puts into its queue; a further thief takes it.
struct refill_beside_a_sleeper : beside_a_sleeper<refill_beside_a_sleeper, 2, 1> {
    void thread(unsigned index) {
        if (index != 0) {
            announce_and_look();
            run(ready.steal());
            return;
        }
        task[1] = 1;
        const std::uint64_t id = 1;
        ready.refill(&id, 1);
        look_for_sleepers();
    }
};

/// The thief of a refilled queue may have read its indices a lap before.
struct refill_again : rl::test_suite<refill_again, 2>, tasks_in_ring<1, 2> {
    void before() { attach(); }
    void after() { finish(); }
    void thread(unsigned index) {
        if (index != 0) return run(ready.steal());
        for (std::uint64_t id = 1; id <= 2; ++id) {
            task[id] = 1;
            ready.refill(&id, 1);
            run(ready.pop());
        }
    }
};

}  // namespace

int main() {
    bool good = explore_all<push_beside_a_sleeper>("ready queue: announce, then look");
    good = good && explore_all<pop_beside_a_sleeper>("ready queue: announce while the owner pops");
    good =
        good && explore_all<refill_beside_a_sleeper>("ready queue: announce while a thief refills");
    good = good && explore_all<refill_again>("ready queue: refilled again");
    good =
        good && explore_randomly<thief_with_a_queue<4, 4>>("ready queue: several at once", 300'000);
    good =
        good && explore_randomly<thief_with_a_queue<8, 7>>("ready queue: several at once", 300'000);
    good = good && explore_bounded<two_thieves<2, 4>>("ready queue: 2 cells, two thieves", 2);
    good =
        good && explore_randomly<two_thieves<2, 6>>("ready queue: 2 cells, two thieves", 300'000);
    good =
        good && explore_randomly<two_thieves<4, 9>>("ready queue: 4 cells, two thieves", 300'000);
    good = good && explore_bounded<thief_and_claimer<2, 4>>("ready queue: 2 cells, claimer", 2);
    good =
        good && explore_randomly<thief_and_claimer<2, 5>>("ready queue: 2 cells, claimer", 300'000);
    good =
        good && explore_randomly<thief_and_claimer<4, 7>>("ready queue: 4 cells, claimer", 300'000);
    return good ? 0 : 1;
}
