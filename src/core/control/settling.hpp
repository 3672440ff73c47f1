#pragma once

#include "core/control/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime::settling {
public:
    explicit settling(const runtime& rt) : rt_(rt), own_(rt.bound() && is_own(*rt.bound())) {
        // relaxed: a thread that sees what this call has settled sees it, too.
        if (!own_) rt_.settling_.fetch_add(1, relaxed);
    }
    ~settling() {
        // release: pairs with the acquire in destroy(); the last touch of the scheduler.
        if (!own_) rt_.settling_.fetch_sub(1, release);
    }
    settling(const settling&) = delete;
    settling& operator=(const settling&) = delete;

private:
    const runtime& rt_;
    const bool own_;  // a thread of the scheduler's is joined
};

}  // namespace detail
BRAID_NAMESPACE_END
