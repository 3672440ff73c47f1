// Leases a seat to a foreign thread (a thread that has no seat of its own) for the duration of a
// call.
#include "core/seats/threads_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void threads_room::set_guests(seats_seat* spare, seats_seat* post) {
    spare_guest_ = spare;
    post_seat_ = post;
    if (post != nullptr) post->outside_gate = true;
}

threads_room::guests_look threads_room::look_at_guests() {
    guests_look seen;
    for (unsigned i = 0; i < seat_count(); ++i) {
        seats_seat& w = seat_at(i);
        if (w.kind != seat_kind::guest || &w == post_seat_ || &w == spare_guest_) continue;
        ++seen.count;
        if (!w.leased && seen.free == nullptr) seen.free = &w;
        if (w.leased && !w.waits && !w.for_good) ++seen.inside;
    }
    return seen;
}

seats_seat* threads_room::free_guest(const guests_look& seen) {
    if (seen.free != nullptr) return seen.free;
    return add_seat(seat_kind::guest, seen.count, "guest");
}

seats_seat* threads_room::take_guest(lease how) {
    const guests_look seen = look_at_guests();
    const bool allowed = how == lease::good || how == lease::bodies ||
                         seen.inside < static_cast<unsigned>(std::max(1, options.guests));
    seats_seat* found = allowed ? free_guest(seen) : nullptr;
    if (found == nullptr && how == lease::call && !spare_guest_->leased) found = spare_guest_;
    if (found == nullptr) return nullptr;
    found->leased = true;
    found->spare = found == spare_guest_;
    found->for_good = how == lease::good;
    found->stack_low = 0;
    return found;
}

bool threads_room::is_shut_out() {
    return without_seat().shut_out.load(relaxed) && !frozen().is_by_this_thread();
}

void threads_room::replace_spare(seats_seat& w) {
    const locked lock(without_seat().lock);
    w.spare = false;
    seats_seat* const other = free_guest(look_at_guests());
    if (other == nullptr) return;
    spare_guest_ = other;
    without_seat().returned.notify_all();
}

seats_seat* threads_room::lease_guest() {
    seats_seat* w = nullptr;
    {
        const locked lock(without_seat().lock);
        // This wait ends. The thread on the spare seat does not wait itself, or makes another seat
        // the spare one first. So it returns the seat.
        while (is_shut_out() || (w = take_guest(lease::call)) == nullptr) {
            without_seat().returned.wait(without_seat().lock);
        }
    }
    sit_down_as_guest(*w);
    return w;
}

seats_seat* threads_room::try_lease_guest(lease how) {
    seats_seat* w = nullptr;
    {
        const locked lock(without_seat().lock);
        while (how == lease::bodies && is_shut_out()) {
            without_seat().returned.wait(without_seat().lock);
        }
        w = take_guest(how);
    }
    if (w == nullptr) return nullptr;
    sit_down_as_guest(*w);
    return w;
}

void threads_room::sit_down_as_guest(seats_seat& w) {
    w.at_rest.store(false, relaxed);
    if (serial != nullptr) serial->note_unchosen();
    sit_down(w);
}

void threads_room::return_guest(seats_seat& w) {
    if (!w.for_good) stand_up(w);
    // Notifies before it releases the lock. A thread that ends the scheduler checks under this lock
    // that the seat was returned, and then frees the scheduler's memory.
    const locked lock(without_seat().lock);
    w.leased = w.for_good = false;
    w.at_rest.store(true, relaxed);
    without_seat().returned.notify_all();
}

void threads_room::note_guest_waits(seats_seat& w, bool waits) {
    const locked lock(without_seat().lock);
    w.waits = waits;
    if (waits) without_seat().returned.notify_all();
}

seats_seat* threads_room::enter_post_seat() {
    // acquire: pairs with leave_post_seat(), so that each thread sees what the previous thread
    // wrote to the seat.
    // seq_cst: pairs with a safepoint, which first sets `shut_out` and then checks whether a
    // foreign thread is in a call.
    if (post_seat_ == nullptr || post_taken_.exchange(true, seq_cst)) return nullptr;
    if (!without_seat().shut_out.load(seq_cst)) return post_seat_;
    leave_post_seat();
    return nullptr;
}

void threads_room::leave_post_seat() {
    post_taken_.store(false, release);  // pairs with enter_post_seat()
}

bool threads_room::anybody_inside(bool waits_too) {
    if (!waits_too && post_taken_.load(seq_cst)) return true;  // pairs with enter_post_seat()
    const locked lock(without_seat().lock);
    for (unsigned i = 0; i < seat_count(); ++i) {
        const seats_seat& w = seat_at(i);
        const bool leased = w.leased && !w.for_good;
        const bool inside = w.inside.load(acquire);  // pairs with ~long_call()
        if (waits_too ? leased || inside : leased && !inside) return true;
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
