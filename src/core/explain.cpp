// braid::scheduler::explain(): for any thread, which does not wait for a seat.
#include "braid/core/scheduler.hpp"
#include "core/control/seat_lease.hpp"
#include "core/explain/explanation.hpp"

#include <algorithm>
#include <optional>

BRAID_NAMESPACE_BEGIN

namespace {

/// The calling thread's seat, or a guest's if one is free now.
class seat_at_hand {
public:
    explicit seat_at_hand(detail::runtime& rt) : rt_(rt), seat_(rt.bound()) {
        if (seat_ != nullptr || rt.frozen().on()) return;
        seat_ = static_cast<detail::whole_seat*>(rt.try_lease_guest(detail::lease::call));
        leased_ = seat_ != nullptr;
    }
    ~seat_at_hand() {
        if (!leased_) return;
        rt_.flush_scope_ends(*seat_);
        rt_.return_guest(*seat_);
    }
    seat_at_hand(const seat_at_hand&) = delete;
    seat_at_hand& operator=(const seat_at_hand&) = delete;
    detail::whole_seat* get() const { return seat_; }

private:
    detail::runtime& rt_;
    detail::whole_seat* seat_;
    bool leased_ = false;
};

}  // namespace

task_explanation scheduler::explain(task_id id) const {
    detail::sentence to;
    {
        const seat_at_hand seat(*rt_);
        std::optional<detail::gate_pass> pass;
        if (seat.get() != nullptr) pass.emplace(*rt_, *seat.get());
        detail::explanation(*rt_, seat.get(), to).write(id);
    }
    task_explanation said;
    std::copy_n(to.text(), std::min(to.size(), sizeof said.text - 1), said.text);
    return said;
}

BRAID_NAMESPACE_END
