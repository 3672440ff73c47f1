#pragma once

#include "core/seats/seats_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Enters the serial gate for one operation of a thread that is in a blocking region. With a
/// chooser, such a thread takes no part in the gate otherwise.
class gate_pass {
public:
    gate_pass(const seats_room& rt, seats_seat& w) {
        if (!w.outside_gate) return;
        gate_ = rt.serial();
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
