#pragma once

#include "core/seats/seats_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Enters the serial gate for one operation, if the calling thread is outside it, and leaves the
/// gate at the end. With a chooser, a thread in a blocking region is outside the gate. It has to be
/// inside while it uses the scheduler.
class gate_pass {
public:
    gate_pass(const seats_room& rt, seats_seat& w) {
        if (!w.outside_gate) return;
        gate_ = rt.serial;
        seat_ = &w;
        gate_->note_unchosen();
        gate_->enter(w.index);
        w.outside_gate = false;
    }
    ~gate_pass() {
        if (gate_ == nullptr) return;
        seat_->outside_gate = true;
        gate_->leave(seat_->index);
    }
    gate_pass(const gate_pass&) = delete;
    gate_pass& operator=(const gate_pass&) = delete;

private:
    gate* gate_ = nullptr;
    seats_seat* seat_ = nullptr;
};

}  // namespace detail
BRAID_NAMESPACE_END
