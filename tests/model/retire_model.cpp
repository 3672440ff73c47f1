// The processor ends a submission, is lost with it and runs it again, its time is up and somebody
// cancels it, all at once: how it ended is decided once, and its completion settled once, with that
// (D1); and its record is not used again before the processor has let go of it (D2). The words of
// the ticket and of the completion are the library's; the queue of a processor with room for one
// submission, and its one record, are made here.
#include "core/life/completion_word.hpp"
#include "device/ticket_words.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using namespace braid::detail;
using namespace braid::device::detail;

constexpr std::uint32_t gen = 7;

/// One of a list of names, which Relacy can write only as a number.
template <class Name>
class named {
public:
    named(Name value = Name{}) : value_(static_cast<int>(value)) {}
    operator Name() const { return static_cast<Name>(value_.get()); }
    named& operator=(Name value) {
        value_ = static_cast<int>(value);
        return *this;
    }

private:
    plain<int> value_;
};

/// What ticket_words.hpp decides by. Guarded by the lock, but for what settle() reads of one whose
/// ending is decided.
struct facts {
    named<stage> at;
    named<ending> how;
    plain<std::uint32_t> done;  // generation of the completion; 0: it has no id yet
    plain<int> reruns_left;
    plain<bool> is_unwanted, asked_early;
};

struct processor {
    mutex lock;
    facts it;
    plain<int> queued, at_back_end, unsettled, starting;
    // The model's own, which nobody races for.
    int starts = 0, most_starts = 0, decisions = 0, reused = 0;
    bool asked_without_id = false;

    atomic<std::uint64_t> open;
    atomic<std::uint32_t> time_is_up;
    named<ending> result;  // as the task gets it
    plain<int> completed;

    void before(int reruns) {
        open.store(join_word(gen - 1, 0), std::memory_order::relaxed);
        time_is_up.store(0, std::memory_order::relaxed);
        it.reruns_left = reruns;
        most_starts = 1 + reruns;
        it.at = stage::held;
    }
    void after() {
        retire();  // what is left in flight
        go_on();
        require(decisions == 1, "its ending was decided");
        require(completed == 1, "its task is complete");
        require(!asked_without_id || result != ending::completed, "the core's question is kept");
        require(it.at == stage::over || reused == 1, "the processor has let go of it");
    }

    // ---- submit(): the core may ask before this knows the id
    void submit() {
        arm_completion(open, gen, completion_deferred);
        lock.lock();
        it.done = gen;
        if (it.asked_early && end_early()) unsettled = 1;
        if (it.at == stage::held) put_in_queue();
        lock.unlock();
        go_on();
    }
    void put_in_queue() {
        it.at = stage::queued;
        queued = 1;
    }

    // ---- schedule.cpp
    void go_on() {
        while (true) {
            lock.lock();
            if (unsettled == 1) {
                unsettled = 0;
                lock.unlock();
                settle();
            } else if (queued == 1 && starting == 0) {
                require(it.how == ending::open, "what has ended is not started");
                require(!it.is_unwanted, "what nobody wants is not started again");
                require(starts < most_starts, "it runs again as often as it may");
                ++starts;
                queued = 0;
                it.at = stage::in_flight;
                starting = 1;
                lock.unlock();
                start();
            } else {
                lock.unlock();
                return;
            }
        }
    }
    /// The back end has it from here on, and lets go of it once.
    void start() {
        lock.lock();
        at_back_end = 1;
        lock.unlock();
        lock.lock();
        starting = 0;
        lock.unlock();
    }
    void retire() { end(attempt::went_well); }
    void lose() { end(attempt::lost); }
    void end(attempt with) {
        lock.lock();
        const bool had = at_back_end == 1;
        at_back_end = 0;
        lock.unlock();
        if (had) ended(with);
    }
    void ended(attempt with) {
        lock.lock();
        require(it.at == stage::in_flight, "it is let go of while it is in flight");
        if (with == attempt::went_well) {
            finish(ending::completed);
        } else if (takes_rerun(it, true)) {
            put_in_queue();
        } else {
            finish(ending::failed);
        }
        lock.unlock();
        go_on();
    }
    void finish(ending with) {
        const letting_go what = let_go(it, with);
        if (what.was_queued) queued = 0;
        if (what.settles()) {
            require(unsettled == 0, "it is settled once");
            unsettled = 1;
        }
        if (what.decides) ++decisions;
    }
    void settle() {
        require(it.how != ending::open, "what is settled has an ending");
        if (claim_and_drop_completion(open, it.done)) {
            settled_with(it.how);
            return complete();
        }
        require(claim_completion(open, it.done), "who has decided it settles it");
        settled_with(it.how);
        if (drop_completion(open)) complete();
    }

    // ---- the core: a deadline, or a cancellation
    void pass_deadline() {
        time_is_up.store(1, std::memory_order::relaxed);
        ask();
    }
    void ask() {
        if (!ask_completion(open, gen)) return;
        lock.lock();
        if (it.done == 0U) asked_without_id = true;
        const bool lets_go = is_asked(it, gen) && end_early();
        lock.unlock();
        go_on();
        if (lets_go) {
            require(claim_completion(open, gen), "who gets the answer that it ended settles it");
            settled_with(it.how);
        }
        if (drop_completion(open, lets_go ? 2 : 1)) complete();
    }
    bool end_early() {
        // The time is looked at where it matters, as each look makes more schedules.
        const bool late =
            it.how == ending::open && time_is_up.load(std::memory_order::relaxed) != 0;
        const answer what = ask_to_end(it, late);
        if (what == answer::lets_go) finish(late ? ending::timed_out : ending::cancelled);
        if (what == answer::timed_out) ++decisions;
        return what == answer::lets_go || what == answer::timed_out;
    }
    void settled_with(ending with) {
        require(result == ending::open, "its completion is settled once");
        result = with;
    }
    /// The next submission may have the record, if the processor has let go of this one.
    void complete() {
        require(completed == 0, "its task is complete once");
        require(result != ending::open, "who completes it sees how it ended");
        completed = 1;
        lock.lock();
        if (it.at == stage::over) {
            require(it.how == result, "a ticket says how the task ended");
            it.at = stage::unused;
            it.how = ending::open;
            it.done = gen + 1;
            reused = 1;
        }
        lock.unlock();
    }
};

/// One in flight is late, and lost with its processor, which runs it again.
template <int reruns, bool late>
struct in_flight : rl::test_suite<in_flight<reruns, late>, 3> {
    processor it;

    void before() {
        it.before(reruns);
        it.submit();
    }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.retire();
        if (index == 1) late ? it.pass_deadline() : it.ask();
        if (index == 2) {
            it.lose();
            it.retire();
        }
    }
};

/// All four: of the two that ask one does.
struct all_at_once : rl::test_suite<all_at_once, 4> {
    processor it;

    void before() {
        it.before(1);
        it.submit();
    }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.retire();
        if (index == 1) it.pass_deadline();
        if (index == 2) it.ask();
        if (index == 3) it.lose();
    }
};

/// The core asks while one is submitted.
struct asked_early : rl::test_suite<asked_early, 3> {
    processor it;

    void before() { it.before(0); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.submit();
        if (index == 1) it.ask();
        if (index == 2) {
            it.pass_deadline();
            it.retire();
        }
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<in_flight<1, true>>("retire: late, and run again", 3);
    good = good && explore_randomly<in_flight<1, true>>("retire: late, and run again", 200'000);
    good = good && explore_bounded<in_flight<1, false>>("retire: cancelled, and run again", 3);
    good = good && explore_bounded<in_flight<0, true>>("retire: late, and lost", 3);
    good = good && explore_bounded<all_at_once>("retire: all at once", preemptions(3));
    good = good && explore_randomly<all_at_once>("retire: all at once", 200'000);
    good = good && explore_bounded<asked_early>("retire: asked while it is submitted", 3);
    good = good && explore_randomly<asked_early>("retire: asked while it is submitted", 200'000);
    return good ? 0 : 1;
}
