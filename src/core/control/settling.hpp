#pragma once

#include "core/control/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime::settling {
public:
    explicit settling(const runtime& rt) : settling(rt, rt.bound()) {}
    /// `bound` must be the calling thread's seat, or null if it has none.
    settling(const runtime& rt, const whole_seat* bound) : rt_(rt), own_(keeps(bound)) {
        // relaxed: a thread that sees what this call has settled sees this count, too.
        if (!own_) rt_.settling_.fetch_add(1, relaxed);
    }
    ~settling() {
        // release: pairs with the acquire in destroy(). This is the last access to the scheduler.
        if (!own_) rt_.settling_.fetch_sub(1, release);
    }
    settling(const settling&) = delete;
    settling& operator=(const settling&) = delete;

private:
    /// Returns true if the scheduler cannot be freed during the call even without the count.
    /// destroy() joins the scheduler's own threads, and waits until a body that runs on another
    /// thread has ended.
    static bool keeps(const whole_seat* w) {
        return w != nullptr && (is_own(*w) || w->top != nullptr);
    }

    const runtime& rt_;
    const bool own_;
};

}  // namespace detail
BRAID_NAMESPACE_END
