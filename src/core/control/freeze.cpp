// freeze() and resume(). In a frozen scheduler, each thread of the scheduler and of its modules
// rests between two tasks, and the program's own threads rest inside their waits.
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Returns true if the seat's thread runs tasks now or may begin one. Only the scheduler's own
/// threads and the program's threads inside a wait do so.
bool is_awake(const whole_seat& w) {
    // seq_cst: pairs with wait_loop::begin() and help_once().
    if (!is_own(w) && !w.inside.load(seq_cst)) return false;
    return !w.at_rest.load(seq_cst);  // pairs with park()
}

}  // namespace

/// Freezes the scheduler for the calling thread, but does not wait until it rests. Returns false if
/// another thread keeps it frozen until `deadline`.
bool runtime::take_frozen(whole_seat* self, std::int64_t deadline) {
    while (!frozen().take()) {
        if (deadline != INT64_MAX) {
            if (active_policy::now() >= deadline) return false;
            parker().park(active_policy::now() + 50'000);
            continue;
        }
        // Two threads that freeze at once would wait for each other to rest. So the later one rests
        // until resume().
        if (self != nullptr) {
            rest_while_frozen(*self);
            continue;
        }
        constexpr static atomic<bool> always{true};
        auto* const module = this_thread_state.module_wait;
        if (module != nullptr) module->store(&always, seq_cst);  // as wait_loop::begin()
        frozen().wait_until_over();
        if (module != nullptr) module->store(nullptr, release);
    }
    return true;
}

const char* runtime::freeze(std::int64_t deadline) {
    whole_seat* const self = bound();
    if (!take_frozen(self, deadline)) return "a thread that has frozen the scheduler";
    const bool uses_gate = serial != nullptr && self != nullptr;
    if (uses_gate) serial->leave(self->index);  // the others need the gate to come to rest
    const char* awake = nullptr;
    parker here;
    const auto wait_a_little = [&](const char* who) {
        if (active_policy::now() >= deadline) awake = who;
        if (awake == nullptr) here.park(active_policy::now() + 50'000);
    };
    for (unsigned i = 0; awake == nullptr && i < seat_count(); ++i) {
        const whole_seat& w = seat_at(i);
        while (awake == nullptr && &w != self && is_awake(w)) wait_a_little(w.report.name);
    }
    // Threads of modules are checked after the seats; see own_thread::rests_in_wait().
    while (awake == nullptr && holders().any_runs_code()) {
        wait_a_little("a thread of a queue, or one with a rate");
    }
    if (uses_gate) serial->enter(self->index);
    if (awake != nullptr) resume();
    return awake;
}

void runtime::resume() {
    if (!frozen().release()) return;
    lot().wake(
        frozen().key(), UINT32_MAX, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
    for (unsigned i = 0; i < seat_count(); ++i) {
        const whole_seat& w = seat_at(i);
        if (!is_own(w) && w.inside.load(seq_cst)) notify(i);  // as is_awake()
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
