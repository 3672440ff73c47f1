// The wait of a thread that has no seat. The thread leases a guest's seat while it waits. If it
// gets none, because all are taken or there is no memory, it sleeps until its wait can end or a
// seat is free.
#include "core/wait/wait_list.hpp"

#include <algorithm>
#include <utility>

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

/// Called with without_seat().lock held. A thread that ends a wait without a seat notifies under
/// this lock, and so does a thread that returns a seat. But nobody notifies when memory is free
/// again. So the sleep is short, and the caller then tries again to get a seat. Returns false if
/// the deadline has passed.
bool wait_room::sleep_outside(std::int64_t deadline) {
    constexpr std::int64_t look_again_ns = 2'000'000;
    const std::int64_t now = active_policy::now();
    if (now >= deadline) return false;
    without_seat().returned.wait_for(without_seat().lock, std::min(look_again_ns, deadline - now));
    return true;
}

namespace {

/// Does what sleep_without_seat() does, for a wait for several tasks.
outside sleep_for_list(wait_room& rt, wait_list& list, std::int64_t deadline, wait_seat*& seat) {
    if (!list.enter(rt, no_seat, 0, deadline != INT64_MAX)) return outside::over;
    bool in_time = true;
    {
        const locked lock(rt.without_seat().lock);
        while (in_time && seat == nullptr && list.advance()) {
            seat = static_cast<wait_seat*>(rt.take_guest(lease::wait));
            if (seat == nullptr) in_time = rt.sleep_outside(deadline);
        }
    }
    if (seat != nullptr && list.advance()) return outside::seated;  // its records stay in the lot
    list.leave(rt);
    if (!list.advance()) return outside::over;
    return in_time ? outside::again : outside::out_of_time;
}

/// Sleeps until the wait can end, a seat is free, or the time is up. If the thread gets a seat and
/// waits for a task, `record` stays in the lot. Otherwise nobody would receive a failure that comes
/// before the wait on that seat begins.
outside sleep_without_seat(wait_room& rt, const wait_target& target, std::int64_t deadline,
                           wait_seat*& seat, wait_record& record) {
    if (target.list != nullptr) return sleep_for_list(rt, *target.list, deadline, seat);
    const auto arm = [&] { return target.arm(rt.slots); };
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
    if (seat != nullptr && target.task) return outside::seated;
    if (rt.lot().leave(record) && target.take()) return outside::over;
    if (seat != nullptr) return outside::seated;
    return in_time ? outside::again : outside::out_of_time;
}

}  // namespace

/// Removes the record of the sleep without a seat from the lot. Passes the record's result to
/// `received`, unless the wait on the seat has received a result already.
void wait_room::receive_by(wait_record& record, outcome** received) {
    lot().leave(record);
    if (received != nullptr && *received == nullptr)
        *received = std::exchange(record.result, nullptr);
    outcomes.drop(record.result);
}

bool wait_room::wait_here(const wait_target& target, nanoseconds timeout, help policy,
                          outcome** received) {
    if (seats_seat* const own = bound()) {
        return wait(static_cast<wait_seat&>(*own), target, timeout, policy, received);
    }
    return wait_as_guest(target, timeout, policy, received);
}

/// This is not part of wait_here(), because the frame of wait_here() is below each task that a wait
/// runs, and must stay small.
[[gnu::noinline]] bool wait_room::wait_as_guest(const wait_target& target, nanoseconds timeout,
                                                help policy, outcome** received) {
    guest_lease guest{*this, static_cast<wait_seat*>(try_lease_guest(lease::wait))};
    if (guest.seat != nullptr) return wait(*guest.seat, target, timeout, policy, received);

    const std::int64_t deadline = deadline_after(active_policy::now(), timeout);
    wait_record record;
    outside how = outside::again;
    while (how == outside::again) {
        how = sleep_without_seat(*this, target, deadline, guest.seat, record);
    }
    if (how == outside::over) report_taken(target);
    if (how != outside::seated) {
        if (received != nullptr) *received = record.result;
        return how == outside::over;
    }
    sit_down_as_guest(*guest.seat);
    const nanoseconds left =
        timeout == no_limit ? no_limit : nanoseconds{deadline - active_policy::now()};
    const bool over = wait(*guest.seat, target, left, policy, received);
    if (target.task && target.list == nullptr) receive_by(record, received);
    return over;
}

}  // namespace detail
BRAID_NAMESPACE_END
