#pragma once
// The end of a plain task, without the branches that others need: what it may skip, it never was.

#include "core/life/life_room.hpp"
#include "core/task/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

template <bool observed>
[[gnu::always_inline]] inline plain_end life_room::end_plain(life_seat& w, slot& s,
                                                             std::uint32_t index, bool posted) {
    if constexpr (observed) {
        if (!report_end(w, s, id_of(index), posted)) return {plain_end::open, 0};
    } else if (!posted && !drop_open_work(s.open)) {
        return {plain_end::open, 0};
    }
    if (s.detail.load(relaxed) != no_index || s.parent.load(relaxed) != no_index) {
        return {plain_end::not_closed, 0};
    }
    const std::uint32_t generation = s.generation();
    if (posted) {
        close_unused(s.successors, generation);
    } else {
        const std::uint64_t head = close_and_take(s.successors, generation);
        if (first_edge(head) != no_edge || (static_cast<std::uint32_t>(head) & waited_bit) != 0) {
            return {plain_end::closed, head};
        }
        // All that clean() would have to put back.
        s.births.store(0, relaxed);
        s.runner.store(UINT16_MAX, relaxed);
    }
    give_slot(w, index, generation);
    return {plain_end::complete, 0};
}

}  // namespace detail
BRAID_NAMESPACE_END
