#include "core/task/stable_ids.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

std::uint64_t stable_ids::next(const runtime& rt, const worker& w) {
    if (w.top != nullptr) {
        detail_block* const creator = rt.detail_of(rt.slots[w.top->slot]);
        if (creator != nullptr && creator->stable_id != 0) {
            return join(creator->stable_id, creator->creations.fetch_add(1, relaxed));
        }
        return next_root(of_name("try_post"));  // the only tasks without a detail_block
    }
    if (w.kind != seat_kind::guest) return next_root(of_name(w.name));
    // The seat goes to whoever comes: the thread itself has a name.
    char name[32] = {};
    platform::thread_name(name, sizeof name);
    return next_root(of_name(name));
}

std::uint64_t stable_ids::next_root(std::uint64_t name) {
    const std::lock_guard lock(mutex_);
    creations_by_name* row = roots_;
    while (row != roots_ + names - 1 && row->name != name && row->name != 0) ++row;
    row->name = row != roots_ + names - 1 ? name : of_name("others");
    return join(row->name, row->count++);
}

}  // namespace detail
BRAID_NAMESPACE_END
