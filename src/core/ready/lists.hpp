#pragma once
// Tasks in lists under a lock: inboxes, the list for all, background work.

#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class Fits>
std::uint32_t runtime::take_first(inbox& list, Fits&& fits) {
    std::uint32_t previous = no_index;
    for (std::uint32_t i = list.first; i != no_index; i = slot_at(i).next.load(relaxed)) {
        if (!fits(i)) {
            previous = i;
            continue;
        }
        const std::uint32_t next = slot_at(i).next.load(relaxed);
        if (previous == no_index) {
            list.first = next;
        } else {
            slot_at(previous).next.store(next, relaxed);
        }
        if (list.last == i) list.last = previous;
        list.size.fetch_sub(1, relaxed);
        return i;
    }
    return no_index;
}

template <class Wanted>
task_id runtime::take_background(Wanted&& wanted) {
    for (unsigned level = level_count; level-- != 0;) {
        const std::uint32_t i = take_first(background.ready[level], wanted);
        if (i != no_index) return id_of(i);
    }
    return {};
}

}  // namespace detail
BRAID_NAMESPACE_END
