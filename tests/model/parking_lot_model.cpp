// A set() of an automatic event is never lost in a waiter whose time is up: two wait, one of them
// with a deadline, and each set() lets one through. A waiter that sleeps on although the event is
// set is a deadlock to Relacy.
#include "base/parker.hpp"
#include "core/event_word.hpp"
#include "core/parking_lot.hpp"

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

using lot = basic_parking_lot<policy>;
using record = basic_wait_record<policy>;

/// Waiters 0 … Waiters − 1 are patient; one more runs out of time when it likes. Each set() must
/// let one through, so as many are made as there are patient ones, and one more whenever the hasty
/// one has taken one.
template <unsigned Patient>
struct hasty_and_patient : rl::test_suite<hasty_and_patient<Patient>, Patient + 2> {
    static constexpr std::uint64_t key = 7;

    lot parked;
    policy::atomic<std::uint32_t> word{0};
    braid::basic_parker<policy> parker[Patient + 1];
    policy::atomic<unsigned> through{0};
    policy::atomic<bool> hasty_over{false};
    plain<int> written;

    void after() {
        require(through.load(std::memory_order_relaxed) >= Patient, "the patient came through");
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
        if (index < Patient) {
            wait(index, false);
            require(written == 1, "what was written before the set() is seen");
            through.fetch_add(1, std::memory_order_relaxed);
        } else if (index == Patient) {
            if (wait(Patient, true)) {
                through.fetch_add(1, std::memory_order_relaxed);
                set();  // it was meant for a patient one
            }
        } else {
            written = 1;
            for (unsigned n = 0; n < Patient; ++n) {
                set();
                // The next one would be the same set() while nobody has taken this one.
                while (n + 1 < Patient && (word.load(std::memory_order_acquire) & 1) != 0) {
                    policy::relax();
                }
            }
        }
    }
};

}  // namespace

int main() {
    using one = hasty_and_patient<1>;
    bool good = explore_bounded<one>("parking lot: one with a deadline, one without", 2);
    good = good && explore_randomly<one>("parking lot: one with a deadline, one without", 100'000);
    good = good &&
           explore_randomly<hasty_and_patient<2>>("parking lot: one with, two without", 50'000);
    return good ? 0 : 1;
}
