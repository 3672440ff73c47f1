// Exactly one of those that try settles a completion; the one who finishes it has seen what the
// winner and the hint wrote; an id of an earlier generation changes nothing (C1 to C4).
#include "core/life/completion_word.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using namespace braid::detail;

constexpr std::uint32_t gen = 7;

/// A completion in its slot, which is used again at once when the first one has ended.
struct record {
    atomic<std::uint64_t> open;
    plain<int> facts, result, asked, finished, reused, read;
    bool claimed = false;

    void arm(std::uint32_t as = 0) {
        facts = 1;
        arm_completion(open, gen, completion_deferred | as);
    }
    /// By somebody who has written something before.
    void settle_what_was_read() {
        read = 1;
        settle_at_once();
    }
    /// By somebody who asks whether it is settled, and goes on with what was read.
    void ask_whether_settled() {
        if (state_of_completion(open, gen) != completion_now::settled) return;
        require(read == 1, "who finds it settled sees what came before");
    }
    /// By a child, whose share is counted.
    void end_child() {
        if (drop_completion(open)) finish();
    }
    /// By somebody who has the id.
    void settle(int with) {
        if (!claim(with)) return;
        if (drop_completion(open)) finish();
    }
    /// At once, where nobody looks.
    void settle_at_once() {
        if (!claim_and_drop_completion(open, gen)) return settle(1);
        claimed_with(1);
        finish();
    }
    bool claim(int with) {
        if (!claim_completion(open, gen)) return false;
        claimed_with(with);
        return true;
    }
    void claimed_with(int with) {
        require(!claimed, "one settles it");
        require(facts == 1, "the winner sees what was armed");
        claimed = true;
        result = with;
    }
    /// By somebody who cancels, or by its deadline; `lets_go`: the hint's answer.
    void ask(bool lets_go, bool late = false) {
        if (!(late ? ask_late_completion(open, gen) : ask_completion(open, gen))) return;
        require(facts == 1, "the hint is seen whole");
        require(asked == 0, "it is asked once");
        asked = 1;
        const bool settles = lets_go && claim(2);
        if (drop_completion(open, settles ? 2 : 1)) finish();
    }
    /// By somebody who shows what is open.
    void look() {
        if (!hold_completion(open, gen)) return;
        require(facts == 1, "a row is seen whole");
        if (drop_completion(open)) finish();
    }
    void finish() {
        require(claimed && result != 0, "who finishes sees the result");
        require(finished == 0, "it is finished once");
        require(asked == 0 || asked == 1, "who finishes sees what the hint did");
        finished = 1;
        facts = 2;  // the slot is used again
        arm_completion(open, gen + 1, completion_awaited);
    }
    void after() {
        require(finished == 1, "it is finished");
        require(open.load(std::memory_order::relaxed) ==
                    join_word(gen + 1, completion_open | completion_awaited | 1),
                "an id of the first generation does nothing to the second");
    }
};

/// Armed and settled at once, while somebody else settles it and a cancellation asks.
struct outside_first : rl::test_suite<outside_first, 3> {
    record it;

    void before() { it.open.store(join_word(gen - 1, 0), std::memory_order::relaxed); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.arm();
        if (index == 1) {
            it.ask(true);
        } else {
            it.settle_at_once();
        }
    }
};

/// Two outside and one that cancels, of one that is armed; then each tries again with the old id.
struct all_at_once : rl::test_suite<all_at_once, 3> {
    record it;

    void before() { it.arm(); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.settle_at_once();
        if (index == 1) it.settle(1);
        if (index == 2) it.ask(true);
        require(!claim_completion(it.open, gen), "settled for good");
        if (index == 0) it.ask(true);
    }
};

/// The hint says no, somebody looks, and somebody outside settles.
struct looked_at : rl::test_suite<looked_at, 3> {
    record it;

    void before() { it.arm(); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.settle_at_once();
        if (index == 1) it.ask(false);
        if (index == 2) it.look();
    }
};

/// Somebody outside settles it, at once or while it is looked at, and somebody else polls.
struct polled : rl::test_suite<polled, 3> {
    record it;

    void before() { it.arm(); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.settle_what_was_read();
        if (index == 1) it.ask_whether_settled();
        if (index == 2) it.look();
    }
};

/// One that has a child is asked and goes on: whichever share goes last, it ends.
struct with_child : rl::test_suite<with_child, 3> {
    record it;

    void before() {
        it.arm();
        add_open_work(it.open, gen);
    }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.settle(1);
        if (index == 1) it.ask(false);
        if (index == 2) it.end_child();
    }
};

/// A cancellation does not ask a shielded one, the deadline does.
struct shielded : rl::test_suite<shielded, 3> {
    record it;

    void before() { it.arm(completion_shielded); }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) it.settle_at_once();
        if (index == 1) require(!ask_completion(it.open, gen), "no cancellation asks it");
        if (index == 2) it.ask(true, true);
    }
};

/// A discarding shutdown begins while one is armed: one of the two sees the other, as in
/// completions_room::arm() and completion_lists::ask_all().
struct discarded : rl::test_suite<discarded, 2> {
    record it;
    atomic<std::uint32_t> phase;

    void before() {
        it.open.store(join_word(gen - 1, 0), std::memory_order::relaxed);
        phase.store(0, std::memory_order::relaxed);
    }
    void after() { it.after(); }
    void thread(unsigned index) {
        if (index == 0) {
            it.arm();
            if (phase.load(std::memory_order::seq_cst) == 1) it.ask(true);
        } else {
            phase.store(1, std::memory_order::seq_cst);
            const std::uint64_t word = it.open.load(std::memory_order::seq_cst);
            if ((index_of(word) & completion_open) != 0) it.ask(true);
        }
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<outside_first>("completion: outside first", 3);
    good = good && explore_randomly<outside_first>("completion: outside first", 300'000);
    good = good && explore_bounded<all_at_once>("completion: all at once", 3);
    good = good && explore_randomly<all_at_once>("completion: all at once", 300'000);
    good = good && explore_bounded<looked_at>("completion: looked at", 3);
    good = good && explore_randomly<looked_at>("completion: looked at", 300'000);
    good = good && explore_bounded<polled>("completion: polled", 3);
    good = good && explore_randomly<polled>("completion: polled", 300'000);
    good = good && explore_bounded<with_child>("completion: with a child", 3);
    good = good && explore_bounded<shielded>("completion: shielded", 3);
    good = good && explore_all<discarded>("completion: discarded");
    return good ? 0 : 1;
}
