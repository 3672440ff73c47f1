// A suspended task goes on once, when all that it awaits is complete, or with the first of it, or
// when it is cancelled; and each edge is given back once, by the one to whom it belongs (A1 to A3).
#include "core/slots/await_words.hpp"
#include "core/slots/words.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using namespace braid::detail;

constexpr std::uint32_t gen = 7;
constexpr std::uint64_t first_id = 10;  // above came_armed

/// A task that awaits `count` others, each by an edge.
template <std::uint32_t count, bool first_is_enough>
struct suspended {
    struct edge {
        atomic<std::uint8_t> await;
        atomic<std::uint32_t> next;
        // Plain here, so that Relacy sees a use of what is not the caller's any more.
        plain<std::uint32_t> next_predecessor;
        plain<int> to, given;
    };
    struct predecessor {
        atomic<std::uint64_t> open, successors;
        plain<int> wrote;
    };
    edge edges[count];
    predecessor from[count];
    atomic<std::uint32_t> waits_for, list;
    atomic<std::uint64_t> came;
    atomic<std::uint32_t> cancelled;
    plain<int> body, resumed, firsts;
    mutex shard;
    bool listed = false;  // guarded by `shard`

    void before() {
        for (predecessor& p : from) open_words(p.open, p.successors, gen, 1);
        list.store(no_edge, std::memory_order::relaxed);
        cancelled.store(0, std::memory_order::relaxed);
    }
    void after() {
        require(resumed == 1, "the task goes on");
        require(firsts <= 1, "one is the first");
        for (edge& e : edges) require(e.given == 1, "each edge is given back");
    }

    /// Does what begin_suspension(), await_task() and suspend() do.
    void suspend(bool may_end_early) {
        body = 1;
        came.store(came_arming, std::memory_order::relaxed);
        waits_for.store(1, std::memory_order::release);
        for (std::uint32_t i = 0; i < count; ++i) link(i);
        std::uint32_t shares = 1;
        if (first_is_enough && !arm_first(came)) shares += tear();
        if (may_end_early) {
            shard.lock();
            listed = true;
            shard.unlock();
            if (cancelled.load(std::memory_order::relaxed) != 0) shares += tear();
        }
        if (drop_waits(waits_for, shares)) resume();
    }
    void link(std::uint32_t i) {
        edge& e = edges[i];
        e.await.store(edge_awaited, std::memory_order::relaxed);
        e.to = 1;
        if (!push_edge(from[i].successors, gen, waits_for, i, e.next)) {
            give(i);
            if (first_is_enough) first_came(came, first_id + i);
            return;
        }
        e.next_predecessor = list.load(std::memory_order::relaxed);
        list.store(i, std::memory_order::release);
    }
    void complete(std::uint32_t i) {
        from[i].wrote = 1;
        const std::uint32_t e = first_edge(close_and_take(from[i].successors, gen));
        if (e != no_edge) notify(e);
    }
    /// Does what notify_awaiting() does.
    void notify(std::uint32_t i) {
        require(edges[i].to == 1, "the edge is seen whole");
        if (!notify_edge(edges[i].await)) return give(i);
        std::uint32_t shares = 1;
        if (first_is_enough) {
            const arrived how = first_came(came, first_id + i);
            if (how != arrived::later) firsts = firsts + 1;
            if (how == arrived::first_of_armed) shares += tear();
        }
        if (drop_waits(waits_for, shares)) resume();
    }
    /// Does what end_waits_of() does.
    void cancel() {
        cancelled.store(1, std::memory_order::relaxed);
        shard.lock();
        const std::uint32_t shares = listed ? tear() : 0;
        shard.unlock();
        if (shares != 0 && drop_waits(waits_for, shares)) resume();
    }
    std::uint32_t tear() {
        std::uint32_t torn = 0;
        std::uint32_t i = list.exchange(no_edge, std::memory_order::acq_rel);
        while (i != no_edge) {
            const std::uint32_t next = edges[i].next_predecessor;
            if (tear_edge(edges[i].await)) {
                ++torn;
            } else {
                give(i);
            }
            i = next;
        }
        return torn;
    }
    void give(std::uint32_t i) {
        require(edges[i].given == 0, "an edge is given back once");
        edges[i].given = 1;
        edges[i].to = 2;
        edges[i].next_predecessor = no_edge;
    }
    void resume() {
        require(body == 1, "who goes on with the task sees what its body wrote");
        require(resumed == 0, "it goes on once");
        resumed = 1;
        const std::uint64_t first = came.load(std::memory_order::relaxed);
        const bool ended_early = cancelled.load(std::memory_order::relaxed) != 0;
        if (!first_is_enough && !ended_early) {
            for (predecessor& p : from) require(p.wrote == 1, "it sees what it awaited");
        }
        if (first_is_enough) {
            require(first > came_armed || ended_early, "the first is named");
            if (first > came_armed) {
                require(from[first - first_id].wrote == 1, "it sees what the first wrote");
            }
        }
        for (std::uint32_t i = list.exchange(no_edge, std::memory_order::acq_rel); i != no_edge;) {
            const std::uint32_t next = edges[i].next_predecessor;
            give(i);
            i = next;
        }
    }
};

/// Two predecessors end while the task arms.
template <bool first_is_enough>
struct two_awaited : rl::test_suite<two_awaited<first_is_enough>, 3> {
    suspended<2, first_is_enough> task;

    void before() { task.before(); }
    void after() { task.after(); }
    void thread(unsigned index) {
        if (index == 2) {
            task.suspend(false);
        } else {
            task.complete(index);
        }
    }
};

/// The first is enough: the other is complete only after the task has gone on.
struct one_of_two : rl::test_suite<one_of_two, 2> {
    suspended<2, true> task;

    void before() { task.before(); }
    void after() {
        require(task.resumed == 1, "the first is enough");
        task.complete(1);
        task.after();
    }
    void thread(unsigned index) {
        if (index == 0) task.complete(0);
        if (index == 1) task.suspend(false);
    }
};

/// One predecessor and a cancellation.
struct cancelled_wait : rl::test_suite<cancelled_wait, 3> {
    suspended<1, false> task;

    void before() { task.before(); }
    void after() { task.after(); }
    void thread(unsigned index) {
        if (index == 0) task.complete(0);
        if (index == 1) task.cancel();
        if (index == 2) task.suspend(true);
    }
};

/// The first of two is enough, and a cancellation.
struct cancelled_race : rl::test_suite<cancelled_race, 4> {
    suspended<2, true> task;

    void before() { task.before(); }
    void after() { task.after(); }
    void thread(unsigned index) {
        if (index < 2) task.complete(index);
        if (index == 2) task.cancel();
        if (index == 3) task.suspend(true);
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<two_awaited<false>>("await: all of two", 3);
    good = good && explore_randomly<two_awaited<false>>("await: all of two", 200'000);
    good = good && explore_bounded<two_awaited<true>>("await: the first of two", 3);
    good = good && explore_randomly<two_awaited<true>>("await: the first of two", 200'000);
    good = good && explore_bounded<one_of_two>("await: one of two", 4);
    good = good && explore_bounded<cancelled_wait>("await: cancelled", 3);
    good = good && explore_randomly<cancelled_wait>("await: cancelled", 200'000);
    good = good && explore_bounded<cancelled_race>("await: a race cancelled", 2);
    good = good && explore_randomly<cancelled_race>("await: a race cancelled", 200'000);
    return good ? 0 : 1;
}
