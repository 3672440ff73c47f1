#include "core/wait/wait_list.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

wait_list::wait_list(part* last)
    : last_(last), at_(last), next_(last != nullptr ? last->ids.size : 0) {
    (void)any_open([&](task_id id) {
        filter_[hash(id) / 64] |= std::uint64_t{1} << hash(id) % 64;
        return false;
    });
    (void)advance();
}

bool wait_list::has(task_id id) const {
    if ((filter_[hash(id) / 64] >> hash(id) % 64 & 1) == 0) return false;
    for (const part* p = last_; p != nullptr; p = p->before) {
        for (std::size_t i = 0; i < p->ids.size; ++i) {
            if (p->ids.data[i] == id) return static_cast<bool>(id);
        }
    }
    return false;
}

bool wait_list::advance() {
    while (at_ != nullptr) {
        for (; next_ != 0; --next_) {
            // acquire: pairs with the release in parking_lot::wake().
            if (at_->records[next_ - 1].done.load(acquire)) continue;
            target_ = {.task = at_->ids.data[next_ - 1], .list = this};
            return true;
        }
        at_ = at_->before;
        next_ = at_ != nullptr ? at_->ids.size : 0;
    }
    return false;
}

bool wait_list::enter(wait_room& rt, std::uint16_t seat, std::uint16_t depth, bool limited) {
    const bool is_in = std::exchange(entered_, true);
    each_left([&](wait_record& r, task_id id) {
        if (is_in) return move_to(rt, r, seat, depth);
        r.limited = limited;
        r.depth = depth;
        const wait_target one{.task = id};
        const bool open = rt.lot().enter(r, one.key(), seat, [&] { return one.arm(rt.slots); });
        if (!open) r.done.store(true, relaxed);  // the task was complete before the wait
    });
    return advance();
}

/// Changes a record that is in the lot. If the record left the lot and entered it again, nobody
/// would receive a failure that comes in between.
void wait_list::move_to(wait_room& rt, wait_record& r, std::uint16_t seat, std::uint16_t depth) {
    (void)rt.lot().change(r, [&] {
        r.seat = seat;
        r.depth = depth;
    });
}

void wait_list::leave(wait_room& rt) {
    entered_ = false;
    each_left([&](wait_record& r, task_id) { (void)rt.lot().leave(r); });
}

void wait_list::stay() {
    for (part* p = last_; p != nullptr; p = p->before) {
        for (std::size_t i = 0; i < p->ids.size; ++i) p->records[i].stays.store(true, relaxed);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
