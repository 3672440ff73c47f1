// A wait of a thread that takes no part: it leases a seat for as long, and where none can be had
// (all are taken, or no memory) it sleeps until what it waits for has come, or a seat is free.
#include "core/wait/wait_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

enum class outside : std::uint8_t { over, seated, out_of_time, again };

struct guest_lease {
    wait_room& rt;
    wait_seat* seat;
    ~guest_lease() {
        if (seat == nullptr) return;
        rt.flush_scope_ends(*seat);
        rt.return_guest(*seat);
    }
};

}  // namespace

/// Under without_seat().lock; who ends a wait without a seat, and who returns a seat, notify under
/// it. Memory comes back without a word, so this thread looks for a seat again now and then. False:
/// the time is up.
bool wait_room::sleep_outside(std::int64_t deadline) {
    constexpr std::int64_t look_again_ns = 2'000'000;
    const std::int64_t now = active_policy::now();
    if (now >= deadline) return false;
    without_seat().returned.wait_for(without_seat().lock, std::min(look_again_ns, deadline - now));
    return true;
}

namespace {

outside sleep_without_seat(wait_room& rt, const wait_target& target, std::int64_t deadline,
                           wait_seat*& seat, outcome** received) {
    wait_record record;
    const auto arm = [&] { return target.arm(rt); };
    if (!rt.lot().enter(record, target.key(), no_seat, arm)) return outside::over;
    bool in_time = true;
    {
        const locked lock(rt.without_seat().lock);
        // acquire: pairs with the release in parking_lot::wake().
        while (in_time && !record.done.load(acquire) && seat == nullptr) {
            seat = static_cast<wait_seat*>(rt.take_guest(lease::wait));
            if (seat == nullptr) in_time = rt.sleep_outside(deadline);
        }
    }
    const bool woken = rt.lot().leave(record);
    if (received != nullptr) *received = record.result;
    if (woken && target.take()) return outside::over;
    if (seat != nullptr) return outside::seated;
    return in_time ? outside::again : outside::out_of_time;
}

}  // namespace

bool wait_room::wait_here(const wait_target& target, nanoseconds timeout, help policy,
                          outcome** received) {
    if (seats_seat* const own = bound()) {
        return wait(static_cast<wait_seat&>(*own), target, timeout, policy, received);
    }
    return wait_as_guest(target, timeout, policy, received);
}

/// Apart from wait_here(), whose frame would lie below each task that a wait runs.
[[gnu::noinline]] bool wait_room::wait_as_guest(const wait_target& target, nanoseconds timeout,
                                                help policy, outcome** received) {
    guest_lease guest{*this, static_cast<wait_seat*>(try_lease_guest(lease::wait))};
    if (guest.seat != nullptr) return wait(*guest.seat, target, timeout, policy, received);

    const std::int64_t deadline = deadline_after(active_policy::now(), timeout);
    outside how = outside::again;
    while (how == outside::again) {
        how = sleep_without_seat(*this, target, deadline, guest.seat, received);
    }
    if (how == outside::over) report_taken(target);
    if (how != outside::seated) return how == outside::over;
    sit_down_as_guest(*guest.seat);
    const nanoseconds left =
        timeout == no_limit ? no_limit : nanoseconds{deadline - active_policy::now()};
    return wait(*guest.seat, target, left, policy, received);
}

}  // namespace detail
BRAID_NAMESPACE_END
