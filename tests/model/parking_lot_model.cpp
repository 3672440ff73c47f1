// A set() of an automatic event is never lost in a waiter whose time is up: two wait, one of them
// with a deadline, and each set() lets one through. A waiter that sleeps on although the event is
// set is a deadlock to Relacy.
#include "base/parker.hpp"
#include "core/seats/parking_lot.hpp"
#include "core/task/event_word.hpp"

#include "relacy_policy.hpp"

BRAID_NAMESPACE_BEGIN
template <>
struct mutex_of<braid_model::policy> {
    using type = braid_model::mutex;
};
BRAID_NAMESPACE_END

namespace {

using namespace braid_model;
using namespace braid::detail;

using lot = basic_parking_lot<policy, 1>;
using record = basic_wait_record<policy>;

/// Thread 0 is patient, thread 1 runs out of time when it likes, thread 2 sets the event once. The
/// hasty one sets it again when it has taken it, so the patient one comes through in any case.
struct hasty_and_patient : rl::test_suite<hasty_and_patient, 3> {
    static constexpr std::uint64_t key = 7;

    lot parked;
    policy::atomic<std::uint32_t> word{0};
    braid::basic_parker<policy> parker[2];
    policy::atomic<bool> patient_through{false};
    plain<int> written;

    void after() {
        require(patient_through.load(std::memory_order_relaxed), "the patient came through");
    }

    void set() {
        if (!set_event(word)) return;
        parked.wake(
            key, 1, [](record&) { return true; }, [&](unsigned seat) { parker[seat].notify(); });
    }

    bool wait(unsigned seat, bool has_deadline) {
        record own;
        const auto arm = [&] { return !take_or_mark_event(word, false); };
        const auto seat_number = static_cast<std::uint16_t>(seat);
        if (!parked.enter(own, key, seat_number, arm)) return true;
        while (true) {
            if (own.done.load(std::memory_order_acquire)) {
                if (take_event(word, false)) return true;
                if (!parked.enter(own, key, seat_number, arm)) return true;
            }
            if (!parker[seat].park(has_deadline ? 1 : INT64_MAX) && has_deadline) break;
        }
        return parked.leave(own) && take_event(word, false);
    }

    void thread(unsigned index) {
        if (index == 0) {
            wait(0, false);
            require(written == 1, "what was written before the set() is seen");
            patient_through.store(true, std::memory_order_relaxed);
        } else if (index == 1) {
            if (wait(1, true)) set();
        } else {
            written = 1;
            set();
        }
    }
};

}  // namespace

int main() {
    // The fair searches do not come to an end here: a thread may wake for nothing for ever.
    return explore_randomly<hasty_and_patient>("parking lot: one with a deadline, one without",
                                               1'000'000)
               ? 0
               : 1;
}
