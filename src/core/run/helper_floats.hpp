#pragma once
// While a user thread runs tasks, it computes with the floating-point control of the thread that
// made the scheduler (C32).

#include "base/platform/platform.hpp"
#include "core/run/run_seat.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class helper_floats {
public:
    helper_floats() = default;
    /// Called before each task that the thread runs. Only the first call in this object's life
    /// costs anything.
    void use(const run_seat& w, std::uint64_t wanted) {
        if (used_) return;
        used_ = true;
        if (w.depth != 0 || (w.kind != seat_kind::main && w.kind != seat_kind::guest)) return;
        own_ = platform::float_control();
        changed_ = own_ != wanted;
        if (changed_) platform::set_float_control(wanted);
    }
    ~helper_floats() {
        if (changed_) platform::set_float_control(own_);
    }
    helper_floats(const helper_floats&) = delete;
    helper_floats& operator=(const helper_floats&) = delete;

private:
    std::uint64_t own_ = 0;
    bool used_ = false;
    bool changed_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
