// Each job is taken once, in order, and after what its sync point waits for, whose writes it sees;
// no thread is lost between leaving a shut sync point and being called back (F1, F2, F3).
#include "job_list/job_feed.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using feed_under_test = braid::detail::basic_job_feed<policy>;
using braid::detail::sync_point;

/// Jobs 0 1 | signal | 2 | synchronize | signal, synchronize | 3 4, and a sync point behind which
/// nothing comes. Job 2 may end first: the second sync point waits for 0 and 1 as well.
struct submission {
    static constexpr std::uint32_t jobs = 5, points = 3;
    static constexpr sync_point syncs[points] = {{2, 3}, {3, 3}, {4, 5}};

    feed_under_test feed;
    feed_under_test::counter pending[points + 1];
    plain<int> ran[jobs];

    static std::uint32_t awaited_by(std::uint32_t job) { return job >= 3 ? 3 : 0; }

    void run(std::uint32_t job) {
        for (std::uint32_t i = 0; i < awaited_by(job); ++i) {
            require(ran[i] == 1, "what is awaited has ended, and is visible");
        }
        require(ran[job] == 0, "each job runs once");
        ran[job] = 1;
    }
};

/// Does what the threads of job_runner.cpp do; a call goes to any thread that is free.
template <unsigned Threads>
struct taken : rl::test_suite<taken<Threads>, Threads> {
    submission all;
    atomic<std::uint32_t> called, left, over;

    void before() {
        all.feed.prepare(submission::jobs, submission::syncs, submission::points, all.pending, 0);
        all.feed.begin();
    }
    void after() {
        for (auto& n : all.ran) require(n == 1, "each job has run");
        require(over.load(std::memory_order::relaxed) == 1, "the end was reported, once");
        require(called.load(std::memory_order::relaxed) == 0, "who was called came");
        // What is counted as idle now are those that left and were not called.
        std::uint32_t idle = 0;
        while (all.feed.take_idle()) ++idle;
        require(idle == left.load(std::memory_order::relaxed), "no thread is lost or doubled");
    }

    void report(std::uint32_t segment, std::uint32_t count, bool free) {
        const auto made = all.feed.finish(segment, count);
        if (made.over) over.fetch_add(1, std::memory_order::relaxed);
        if (!made.opened) return;
        const std::uint32_t n = all.feed.call_idle(free);
        left.fetch_sub(n, std::memory_order::relaxed);
        called.fetch_add(n, std::memory_order::relaxed);
    }
    void part() {
        std::uint32_t segment = 0, count = 0;
        while (true) {
            std::uint32_t job = 0;
            while (all.feed.take(job)) {
                const std::uint32_t its = all.feed.segment_of(job, segment);
                if (its != segment && count != 0) report(segment, std::exchange(count, 0), false);
                segment = its;
                all.run(job);
                ++count;
            }
            if (count != 0) report(segment, std::exchange(count, 0), true);
            if (all.feed.can_take()) continue;
            if (all.feed.all_taken()) return;
            left.fetch_add(1, std::memory_order::relaxed);
            if (all.feed.leave_shut()) return;
            left.fetch_sub(1, std::memory_order::relaxed);
        }
    }
    void thread(unsigned) {
        part();
        while (true) {
            std::uint32_t n = called.load(std::memory_order::relaxed);
            if (n == 0) return;
            if (called.compare_exchange_strong(n, n - 1, std::memory_order::acq_rel,
                                               std::memory_order::relaxed)) {
                part();
            }
        }
    }
};

/// One thread opens the sync point and takes no further job yet, while the other looks for one. The
/// first goes on with one of the two jobs behind it, or has a job between in hand, with one behind.
template <bool Free>
struct opens_or_leaves : rl::test_suite<opens_or_leaves<Free>, 2> {
    static constexpr sync_point syncs[1] = {{1, Free ? 1 : 2}};
    feed_under_test feed;
    feed_under_test::counter pending[2];
    plain<int> called, left, took;

    void before() {
        feed.prepare(3, syncs, 1, pending, 0);
        feed.begin();
        std::uint32_t job = 0;
        require(feed.take(job) && job == 0, "the first");
        require(Free || (feed.take(job) && job == 1), "the one between");
    }
    void after() {
        require(called == left, "a thread that leaves is called, and no other");
        require(took + left == 1, "nobody leaves a job that nobody is called for");
    }
    void thread(unsigned index) {
        if (index == 0) {
            require(feed.finish(0, 1).opened, "nothing else holds it shut");
            called = static_cast<int>(feed.call_idle(Free));
            return;
        }
        std::uint32_t job = 0;
        while (!feed.take(job)) {
            if (feed.can_take()) continue;
            if (feed.all_taken()) return;
            if (!feed.leave_shut()) continue;
            left = 1;
            return;
        }
        took = 1;
    }
};

/// A thread that counts too far at a shut sync point takes no job away, and gives none twice.
struct too_far : rl::test_suite<too_far, 3> {
    static constexpr sync_point syncs[1] = {{1, 2}};
    feed_under_test feed;
    feed_under_test::counter pending[2];
    plain<int> ran[4];

    void before() {
        feed.prepare(4, syncs, 1, pending, 0);
        feed.begin();
        std::uint32_t job = 0;
        require(feed.take(job) && job == 0, "the first");
    }
    void after() {
        std::uint32_t job = 0;
        while (feed.take(job)) ran[job] = ran[job] + 1;
        for (unsigned i = 1; i < 4; ++i) require(ran[i] == 1, "each once");
    }
    void thread(unsigned index) {
        if (index == 0) {
            feed.finish(0, 1);
            return;
        }
        std::uint32_t job = 0;
        if (feed.take(job)) ran[job] = ran[job] + 1;
    }
};

}  // namespace

int main() {
    bool good = explore_all<opens_or_leaves<true>>("job_feed: opened or called");
    good = good && explore_all<opens_or_leaves<false>>("job_feed: opened with a job in hand");
    good = good && explore_all<too_far>("job_feed: counted too far");
    good = good && explore_bounded<taken<2>>("job_feed: two threads", preemptions(3));
    good = good && explore_randomly<taken<2>>("job_feed: two threads", 300'000);
    good = good && explore_randomly<taken<3>>("job_feed: three threads", 300'000);
    return good ? 0 : 1;
}
