// Joins that become public: each job runs once, with what its owner wrote; a request is answered;
// no thief sleeps beside a public job.
#include "base/parker.hpp"
#include "braid/core/fork_stack.hpp"
#include "core/seats/sleepers.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using window = braid::detail::basic_fork_window<policy>;
using sleepers = braid::detail::basic_sleepers<policy>;
using braid::detail::searcher;

/// Claims what `at` shows, if there is anything. Returns its height, or -1.
int steal(window& jobs) {
    const window::word seen = jobs.look();
    if (window::empty(seen) || !jobs.claim(seen)) return -1;
    return static_cast<int>(window::tail(seen));
}

/// The owner publishes `Jobs` jobs twice at the same heights and comes back to each, newest first.
template <unsigned Jobs, unsigned Thieves>
struct each_runs_once : rl::test_suite<each_runs_once<Jobs, Thieves>, Thieves + 1> {
    window jobs;
    plain<int> payload[Jobs], result[Jobs];
    atomic<int> done[Jobs];

    void thread(unsigned index) {
        if (index == 0) return owner();
        for (int look = 0; look < 3; ++look) {
            const int at = steal(jobs);
            if (at < 0) continue;
            const auto i = static_cast<unsigned>(at);
            const int given = payload[i];
            result[i] = given + 1;
            payload[i] = -1;
            done[i].store(given, std::memory_order::release);
        }
    }
    void owner() {
        for (int round = 1; round <= 2; ++round) {
            for (unsigned i = 0; i < Jobs; ++i) payload[i] = round * 10;
            jobs.publish(Jobs);
            for (unsigned i = Jobs; i-- != 0;) {
                if (jobs.take_back(i)) {
                    require(payload[i] == round * 10, "a job that was taken back has not run");
                    continue;
                }
                while (done[i].load(std::memory_order::acquire) != round * 10) policy::relax();
                require(result[i] == round * 10 + 1, "a stolen job has run, once");
                jobs.forget(i);
            }
        }
    }
};

/// Thieves that ask, sleep, and run one job each. The owner joins over and over, privately unless
/// it is asked, until each of them has got one; that one never does is a deadlock to Relacy.
template <int Thieves>
struct a_request_is_answered : rl::test_suite<a_request_is_answered<Thieves>, Thieves + 1> {
    window jobs;
    sleepers asleep;
    braid::basic_parker<policy> parker[Thieves];
    int end_of_stack = 0;
    atomic<int*> limit;
    atomic<bool> asked;
    atomic<int> got;

    void before() { limit.store(&end_of_stack, std::memory_order::relaxed); }
    void thread(unsigned index) {
        if (index == 0) {
            owner();
        } else {
            thief(index - 1);
        }
    }
    void owner() {
        for (int before = 0; before < Thieves;) {
            policy::relax();
            if (limit.load(std::memory_order::relaxed) != nullptr) continue;  // private, and over
            braid::detail::answer_request(limit, asked, &end_of_stack);
            jobs.publish(1);
            if (asleep.should_wake()) wake_one();
            if (jobs.take_back(0)) continue;
            while (got.load(std::memory_order::acquire) == before) policy::relax();
            ++before;
            jobs.forget(0);
        }
    }
    void wake_one() {
        for (unsigned seat = 0; seat < Thieves; ++seat) {
            if (!asleep.asleep(seat, searcher::idle) || !asleep.take(seat)) continue;
            return parker[seat].notify();
        }
    }
    void thief(unsigned seat) {
        searcher now = searcher::none;
        const auto look = [this] {
            if (!window::empty(jobs.look())) return true;
            braid::detail::ask_for_branches(limit, asked);
            return false;
        };
        while (steal(jobs) < 0) {
            if (now == searcher::none) asleep.begin_search(searcher::idle);
            now = asleep.rest(seat, searcher::idle, searcher::idle, look,
                              [&] { parker[seat].park(); });
        }
        // Like leave_search(): who sleeps on relies on a request that this thread makes for it.
        if (now != searcher::none && asleep.end_search(now) && look()) wake_one();
        got.fetch_add(1, std::memory_order::release);
    }
};

/// An outermost job, public at once: its owner does nothing more until somebody has run it.
struct no_thief_sleeps_beside_a_job : rl::test_suite<no_thief_sleeps_beside_a_job, 3> {
    window jobs;
    sleepers asleep;
    braid::basic_parker<policy> parker[2];
    atomic<int> left;

    void before() { left.store(2, std::memory_order::relaxed); }
    void thread(unsigned index) {
        if (index == 2) {
            for (int n = 0; n < 2; ++n) {
                jobs.publish(1);
                if (asleep.should_wake()) wake_one();
            }
            return;
        }
        searcher now = searcher::none;
        while (steal(jobs) < 0) {
            if (now == searcher::none) asleep.begin_search(searcher::idle);
            now = asleep.rest(
                index, searcher::idle, searcher::idle,
                [this] { return !window::empty(jobs.look()); },
                [this, index] { parker[index].park(); });
        }
        if (now != searcher::none && asleep.end_search(now) && !window::empty(jobs.look())) {
            wake_one();
        }
        left.fetch_sub(1, std::memory_order::relaxed);
    }
    void wake_one() {
        for (unsigned seat = 0; seat < 2; ++seat) {
            if (!asleep.asleep(seat, searcher::idle) || !asleep.take(seat)) continue;
            return parker[seat].notify();
        }
    }
    void after() { require(left.load(std::memory_order::relaxed) == 0, "both jobs have run"); }
};

}  // namespace

int main() {
    bool good = explore_all<each_runs_once<1, 1>>("fork: one job, one thief");
    good = good && explore_bounded<each_runs_once<2, 1>>("fork: two jobs, one thief", 3);
    good = good && explore_randomly<each_runs_once<2, 2>>("fork: two jobs, two thieves", 300'000);
    good = good && explore_randomly<a_request_is_answered<1>>("fork: request", 300'000);
    good = good && explore_randomly<a_request_is_answered<2>>("fork: two requests", 300'000);
    good = good && explore_randomly<no_thief_sleeps_beside_a_job>("fork: sleep", 300'000);
    return good ? 0 : 1;
}
