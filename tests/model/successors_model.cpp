// A successor starts exactly once and sees every predecessor; a task completes exactly once and
// sees every share; a stale id changes nothing and still says "over" truthfully (I1, I2, I3).
#include "base/parker.hpp"
#include "core/slots/words.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using namespace braid::detail;
using braid::task_state;

struct words {
    atomic<std::uint64_t> open;
    atomic<std::uint64_t> successors;
};

/// Two predecessors run while the successor is built behind both of them.
struct two_edges : rl::test_suite<two_edges, 3> {
    words from[2];
    atomic<std::uint32_t> waits_for, next[2];
    plain<int> wrote[2], started, built, to[2];

    void before() {
        for (words& w : from) open_words(w.open, w.successors, 7, 1);
        waits_for.store(1, std::memory_order::relaxed);  // the builder's
    }
    void after() { require(started == 1, "the successor has started"); }

    void start() {
        require(built == 1, "the successor is seen whole");
        for (auto& w : wrote) require(w == 1, "what a predecessor wrote is visible");
        require(started == 0, "the successor starts once");
        started = 1;
    }
    void thread(unsigned index) {
        if (index == 2) {
            for (std::uint32_t e = 0; e < 2; ++e) {
                to[e] = 1;
                push_edge(from[e].successors, 7, waits_for, e, next[e]);
            }
            built = 1;
            if (drop_wait(waits_for)) start();
            return;
        }
        wrote[index] = 1;
        require(drop_open_work(from[index].open), "the only share is the last");
        std::uint32_t e = first_edge(close_and_take(from[index].successors, 7));
        while (e != no_edge) {
            const std::uint32_t after = next[e].load(std::memory_order::relaxed);
            require(to[e] == 1, "the edge is seen whole");
            if (drop_wait(waits_for)) start();
            e = after;
        }
    }
};

/// A predecessor that runs meanwhile, and one that nobody knows before it is linked, and that ends
/// at once then.
struct unknown_one : rl::test_suite<unknown_one, 3> {
    words from[2];
    atomic<std::uint32_t> waits_for, next[2], armed;
    plain<int> wrote[2], started, built;

    void before() {
        for (words& w : from) open_words(w.open, w.successors, 7, 1);
        waits_for.store(1, std::memory_order::relaxed);  // the builder's
        armed.store(0, std::memory_order::relaxed);
    }
    void after() { require(started == 1, "the successor has started"); }

    void start() {
        require(built == 1, "the successor is seen whole");
        for (auto& w : wrote) require(w == 1, "what a predecessor wrote is visible");
        require(started == 0, "the successor starts once");
        started = 1;
    }
    void end(unsigned index) {
        const std::uint64_t head = close_and_take(from[index].successors, 7);
        if (first_edge(head) != no_edge && drop_wait(waits_for)) start();
    }
    void thread(unsigned index) {
        if (index == 0) {
            wrote[0] = 1;
            end(0);
        } else if (index == 1) {
            wrote[1] = 1;
            // The later one of the two ends it.
            if (armed.exchange(1, std::memory_order::acq_rel) == 1) end(1);
        } else {
            push_edge(from[0].successors, 7, waits_for, 0, next[0]);
            push_first_edge(from[1].successors, 7, waits_for, 1, next[1]);
            built = 1;
            if (armed.exchange(1, std::memory_order::acq_rel) == 1) end(1);
            if (drop_wait(waits_for)) start();
        }
    }
};

/// One predecessor with two successors that are linked by two threads, and a waiter.
struct two_builders : rl::test_suite<two_builders, 3> {
    words from;
    atomic<std::uint32_t> waits_for[2], next[2];
    plain<int> wrote, started[2];

    void before() {
        open_words(from.open, from.successors, 7, 1);
        for (auto& count : waits_for) count.store(1, std::memory_order::relaxed);
    }
    void after() {
        for (auto& s : started) require(s == 1, "each successor has started");
    }
    void start(std::uint32_t successor) {
        require(wrote == 1, "what the predecessor wrote is visible");
        require(started[successor] == 0, "a successor starts once");
        started[successor] = 1;
    }
    void thread(unsigned index) {
        if (index < 2) {
            push_edge(from.successors, 7, waits_for[index], index, next[index]);
            if (drop_wait(waits_for[index])) start(index);
            return;
        }
        wrote = 1;
        std::uint32_t e = first_edge(close_and_take(from.successors, 7));
        while (e != no_edge) {
            const std::uint32_t after = next[e].load(std::memory_order::relaxed);
            if (drop_wait(waits_for[e])) start(e);
            e = after;
        }
    }
};

/// The task runs while two others try to give it a child, which they run themselves.
struct children : rl::test_suite<children, 3> {
    words task;
    plain<int> wrote[3], completed;
    bool added[3];

    void before() {
        open_words(task.open, task.successors, 7, 1);
        added[0] = true;
        added[1] = added[2] = false;
    }
    void after() { require(completed == 1, "the task has completed"); }

    void complete() {
        require(completed == 0, "a task completes once");
        for (unsigned i = 0; i < 3; ++i) {
            require(!added[i] || wrote[i] == 1, "what a share wrote is visible at the end");
        }
        completed = 1;
        close_and_take(task.successors, 7);
    }
    void thread(unsigned index) {
        if (index != 0) {
            added[index] = add_open_work(task.open, 7);
            if (!added[index]) return;
            require(state_in(task.successors, 7) == task_state::open, "open while it has shares");
        }
        wrote[index] = 1;
        const bool only = index == 0 && drop_only_open_work(task.open);
        if (only || drop_open_work(task.open)) complete();
    }
};

/// One thread waits, one asks, one links: who hears "over" sees what the task wrote.
struct waiters : rl::test_suite<waiters, 4> {
    words task;
    atomic<std::uint32_t> waits_for, next;
    braid::basic_parker<policy> sleeper;
    plain<int> wrote;

    void before() {
        open_words(task.open, task.successors, 7, 1);
        waits_for.store(1, std::memory_order::relaxed);
    }
    void thread(unsigned index) {
        switch (index) {
            case 0:
                wrote = 1;
                if ((static_cast<std::uint32_t>(close_and_take(task.successors, 7)) & waited_bit) !=
                    0) {
                    sleeper.notify();
                }
                break;
            case 1:
                if (mark_waited(task.successors, 7)) sleeper.park();
                require(wrote == 1, "a waiter sees what the task wrote");
                break;
            case 2:
                if (state_in(task.successors, 7) == task_state::done) {
                    require(wrote == 1, "who reads done sees what the task wrote");
                }
                break;
            case 3:
                if (!push_edge(task.successors, 7, waits_for, 0, next)) {
                    require(wrote == 1, "who links too late sees what the task wrote");
                }
                break;
        }
    }
};

/// The slot is used again at once, and once more by a task nobody knows: ids of the first one.
struct stale_ids : rl::test_suite<stale_ids, 2> {
    words task;
    atomic<std::uint32_t> waits_for, next;
    plain<int> wrote;

    void before() {
        open_words(task.open, task.successors, 7, 1);
        waits_for.store(1, std::memory_order::relaxed);
    }
    void after() {
        require(generation_of(task.open.load(std::memory_order::relaxed)) == 9,
                "the generation is the last one's");
        require(index_of(task.open.load(std::memory_order::relaxed)) == 1, "no stale share");
    }
    void thread(unsigned index) {
        if (index == 0) {
            wrote = 1;
            require(drop_open_work(task.open), "the only share is the last");
            close_and_take(task.successors, 7);
            open_words(task.open, task.successors, 8, 1);
            close_unused(task.successors, 8);
            open_words(task.open, task.successors, 9, 1);
            require(first_edge(close_and_take(task.successors, 9)) == no_edge, "no stale edge");
            return;
        }
        if (!push_edge(task.successors, 7, waits_for, 0, next)) {
            require(wrote == 1, "who links too late sees what the task wrote");
        }
        if (!mark_waited(task.successors, 7)) require(wrote == 1, "so does a waiter");
        if (state_in(task.successors, 7) == task_state::done) require(wrote == 1, "and a reader");
    }
};

/// The slot goes to a second thread, which opens it, and back to the first, which ends that task
/// unheard of: ids of the first task read "over" from stores of both.
struct reused_elsewhere : rl::test_suite<reused_elsewhere, 3> {
    words task;
    atomic<std::uint32_t> given, returned;
    plain<int> wrote;

    void before() { open_words(task.open, task.successors, 7, 1); }
    void thread(unsigned index) {
        switch (index) {
            case 0:
                wrote = 1;
                close_and_take(task.successors, 7);
                given.store(1, std::memory_order::release);
                while (returned.load(std::memory_order::acquire) == 0) policy::relax();
                close_unused(task.successors, 8);
                break;
            case 1:
                while (given.load(std::memory_order::acquire) == 0) policy::relax();
                open_words(task.open, task.successors, 8, 1);
                returned.store(1, std::memory_order::release);
                break;
            case 2:
                if (state_in(task.successors, 7) == task_state::done) {
                    require(wrote == 1, "over, by any store that says so, shows what was written");
                }
                break;
        }
    }
};

/// A failed task's slot is used again by a task that is cancelled, and by one that succeeds. Who
/// asks for one of them learns how that one ended, or nothing, and never how another one did.
struct failed_slot : rl::test_suite<failed_slot, 3> {
    words task;
    atomic<std::uint16_t> flags;
    atomic<std::uint32_t> given;

    void before() {
        open_words(task.open, task.successors, 7, 1);
        flags.store(0, std::memory_order::relaxed);
        given.store(0, std::memory_order::relaxed);
    }
    void thread(unsigned index) {
        switch (index) {
            case 0:
                mark_failure(flags, flag_failed);
                close_and_take(task.successors, 7);
                require(failure_in(task.successors, flags, 7) == flag_failed, "it is remembered");
                given.store(1, std::memory_order::release);
                break;
            case 1:
                while (given.load(std::memory_order::acquire) == 0) policy::relax();
                flags.store(0, std::memory_order::relaxed);
                open_words(task.open, task.successors, 8, 1);
                mark_failure(flags, flag_cancel);
                close_and_take(task.successors, 8);
                flags.store(0, std::memory_order::relaxed);
                open_words(task.open, task.successors, 9, 1);
                close_and_take(task.successors, 9);
                break;
            case 2: {
                const std::uint16_t first = failure_in(task.successors, flags, 7);
                require(first == 0 || first == flag_failed, "how the first one ended");
                const std::uint16_t second = failure_in(task.successors, flags, 8);
                require(second == 0 || second == flag_cancel, "how the second one ended");
                require(failure_in(task.successors, flags, 9) == 0, "the last one succeeds");
                break;
            }
        }
    }
};

/// A stale share: it comes before the end, and then the end waits for it, or not at all.
struct stale_share : rl::test_suite<stale_share, 2> {
    words task;
    plain<int> reused;

    void before() { open_words(task.open, task.successors, 7, 1); }
    void after() {
        require(task.open.load(std::memory_order::relaxed) == join_word(8, 1), "no stale share");
        require(reused == 1, "the slot was used again once");
    }
    void end_share() {
        if (!drop_open_work(task.open)) return;
        close_and_take(task.successors, 7);
        open_words(task.open, task.successors, 8, 1);
        reused = 1;
    }
    void thread(unsigned index) {
        if (index != 0) {
            if (!add_open_work(task.open, 7)) return;
            require(state_in(task.successors, 7) == task_state::open, "a share keeps it open");
        }
        end_share();
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<two_edges>("successors: two edges", 3);
    good = good && explore_randomly<two_edges>("successors: two edges", 300'000);
    good = good && explore_bounded<unknown_one>("successors: unknown one", 3);
    good = good && explore_randomly<unknown_one>("successors: unknown one", 300'000);
    good = good && explore_bounded<two_builders>("successors: two builders", 3);
    good = good && explore_randomly<two_builders>("successors: two builders", 300'000);
    good = good && explore_bounded<children>("successors: children", 3);
    good = good && explore_randomly<children>("successors: children", 300'000);
    good = good && explore_bounded<waiters>("successors: waiters", preemptions(1));
    good = good && explore_randomly<waiters>("successors: waiters", 1'000'000);
    good = good && explore_all<stale_ids>("successors: stale ids");
    good = good && explore_randomly<stale_ids>("successors: stale ids", 300'000);
    good = good && explore_bounded<reused_elsewhere>("successors: reused elsewhere", 3);
    good = good && explore_bounded<failed_slot>("successors: failed slot", 3);
    good = good && explore_randomly<failed_slot>("successors: failed slot", 300'000);
    good = good && explore_all<stale_share>("successors: stale share");
    return good ? 0 : 1;
}
