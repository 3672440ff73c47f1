// braid::scheduler::explain(). Any thread may call it. It never waits for a seat.
#include "braid/core/scheduler.hpp"
#include "core/control/seat_lease.hpp"
#include "core/explain/explanation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

BRAID_NAMESPACE_BEGIN

namespace {

/// The calling thread's seat. A thread without a seat gets a guest seat if one is free now and the
/// scheduler is not frozen. Otherwise get() returns null.
class seat_at_hand {
public:
    explicit seat_at_hand(detail::runtime& rt) : rt_(rt), seat_(rt.bound()) {
        if (seat_ == nullptr && !rt.frozen().on()) lease();
        if (seat_ != nullptr) pass_.emplace(rt, *seat_);
    }
    ~seat_at_hand() {
        if (seat_ != nullptr) complete_held_back(rt_, *seat_);
        if (leased_) give_back();
    }
    seat_at_hand(const seat_at_hand&) = delete;
    seat_at_hand& operator=(const seat_at_hand&) = delete;
    detail::whole_seat* get() const { return seat_; }

private:
    void lease() {
        seat_ = static_cast<detail::whole_seat*>(rt_.try_lease_guest(detail::lease::call));
        leased_ = seat_ != nullptr;
        // A safepoint that sets `shut_out` after this check waits until the seat is returned.
        if (leased_ && rt_.without_seat().shut_out.load(seq_cst)) give_back();
    }
    void give_back() {
        rt_.flush_scope_ends(*seat_);
        rt_.return_guest(*std::exchange(seat_, nullptr));
        leased_ = false;
    }

    detail::runtime& rt_;
    detail::whole_seat* seat_;
    bool leased_ = false;
    std::optional<detail::gate_pass> pass_;
};

}  // namespace

task_explanation scheduler::explain(task_id id) const {
    detail::sentence to;
    {
        const seat_at_hand seat(*rt_);
        detail::explanation(*rt_, seat.get(), to).write(id);
    }
    task_explanation said;
    std::copy_n(to.text(), std::min(to.size(), sizeof said.text - 1), said.text);
    return said;
}

std::size_t explain_all(scheduler& s, void (*say)(void* user, task_id id, const char* text),
                        void* user) {
    const detail::runtime& rt = s.internals();
    if (!BRAID_EXPECT(rt.options.assertion, say != nullptr,
                      "explain_all() needs a function to which it says what tasks do")) {
        return 0;
    }
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < rt.slots.count(); ++i) {
        const task_id id = rt.slots.id_of(i);
        if (!detail::is_open_task(rt, id)) continue;
        ++count;
        say(user, id, s.explain(id).text);
    }
    return count;
}

BRAID_NAMESPACE_END
