#include "core/life/suspension_lists.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void suspension_lists::list_suspended(std::uint32_t index) {
    shard& in = shard_of(index);
    detail_block& d = details.at(slots.at(index));
    d.listed = true;
    const locked lock(in.lock);
    d.next = in.first;
    d.before = no_index;
    if (in.first != no_index) details.at(slots.at(in.first)).before = index;
    in.first = index;
}

void suspension_lists::unlist_suspended(std::uint32_t index) {
    shard& in = shard_of(index);
    const locked lock(in.lock);
    unlink(in, details.at(slots.at(index)));
}

void suspension_lists::unlink(shard& in, detail_block& d) {
    d.listed = false;
    if (d.before != no_index) {
        details.at(slots.at(d.before)).next = d.next;
    } else {
        in.first = d.next;
    }
    if (d.next != no_index) details.at(slots.at(d.next)).before = d.before;
}

/// Tears the edges of the scope's tasks in this list. Removes each task of which it has torn an
/// edge, and returns these tasks linked by `next`. `before` says how many shares of the task's
/// `waits_for` the caller must drop. Until then the task stays suspended.
std::uint32_t suspension_lists::take_ended(life_seat& w, shard& in, const scope_state& of) {
    std::uint32_t first = no_index;
    std::uint32_t* last = &first;
    const locked lock(in.lock);
    for (std::uint32_t i = in.first, next = no_index; i != no_index; i = next) {
        slot& s = slots.at(i);
        detail_block& d = details.at(s);
        next = d.next;
        if (scope_of(s.environment.load(relaxed)) != &of) continue;
        const std::uint32_t shares = edges.tear(w.edges, s);
        if (shares == 0) continue;
        unlink(in, d);
        d.next = no_index;
        d.before = shares;
        *last = i;
        last = &d.next;
    }
    return first;
}

}  // namespace detail
BRAID_NAMESPACE_END
