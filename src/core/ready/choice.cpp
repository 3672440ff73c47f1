// If there is a chooser, it decides here which ready task runs next.
#include "core/ready/ready_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Offers the tasks of all levels and not only of the highest. Without a chooser, another thread
/// may start a lower task while this thread starts the highest. Only one thread runs at a time, so
/// an offered task is still ready when it is taken.
task_id ready_room::choose_ready(ready_seat& w, id_test wanted) {
    gather_for_choice();
    ready_choices& choices = serial->ready();
    choices.begin_offer();
    each_direct(w, [&](std::uint32_t i) {
        const task_id id = slots.id_of(i);
        if (wanted(id.value)) choices.offer_other(id.value, identity(id));
    });
    choices.offer_wanted(wanted);
    if (choices.offered() == 0) {
        note_no_masked_task(w);
        return {};
    }
    const std::size_t n =
        serial->choose(decision_kind::next_task, choices.names(), choices.offered());
    const task_id chosen{choices.id_at(n)};
    const ready_choices::task taken = choices.take(n);
    if (taken.urgent) count_taken(high_level);
    if (taken.id == 0) take_out_direct(w, chosen);
    return chosen;
}

/// Replaces push_ready() if there is a chooser. Adds the task to the list of choices, and lets
/// another thread run first if the chooser wants that.
void ready_room::enqueue_for_choice(ready_seat& w, std::uint32_t index) {
    const task_id id = slots.id_of(index);
    const unsigned level = slots.level_of(slots.at(index));
    const bool urgent = level == high_level;
    if (!serial->ready().add({id.value, identity(id), urgent})) {
        push_ready(w, id, level);
    } else {
        if (urgent) high_ready_.fetch_add(1, relaxed);
        if (asleep().should_wake()) wake_one();
    }
    serial->preempt(w.index);
}

namespace {

template <class Move>
void move_all(ready_queue& from, const Move& move) {
    while (from.claim_oldest_if(move, 1) != 0) {
    }
}

}  // namespace

/// Moves the tasks of the rings and overflow lists into the list of choices. A task is in a ring or
/// overflow list if it comes from try_post(), if it is a node that ends without running, or if
/// there was no memory in the list of choices.
void ready_room::gather_for_choice() {
    ready_choices& choices = serial->ready();
    const unsigned seats = seat_count();
    for (unsigned level = level_count; level-- != 0;) {
        const auto move = [&](std::uint64_t entry) {
            return choices.add({entry, identity({entry}), level == high_level});
        };
        for (unsigned i = 0; i < seats; ++i) move_all(seat_at(i).ready[level], move);
        task_list& list = overflow_[level];
        const locked lock(list.lock);
        const auto is_moved = [&](std::uint32_t i) { return move(slots.id_of(i).value); };
        while (!list.empty() && list.take_first(slots, is_moved) != no_index) {
        }
    }
}

bool ready_room::take_from_choices(task_id id) {
    const ready_choices::task taken = serial->ready().take_task(id.value);
    if (taken.urgent) count_taken(high_level);
    return taken.id != 0;
}

}  // namespace detail
BRAID_NAMESPACE_END
