// Which ready task is next, where a chooser decides.
#include "core/ready/lists.hpp"
#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

constexpr auto high = static_cast<unsigned>(priority_level::high);

/// Clears the hint, which direct_task() does too: a thread for which there seems to be a task does
/// not sleep.
void note_no_masked_task(runtime& rt, const worker& w) {
    const std::lock_guard lock(rt.masked.mutex);
    for (std::uint32_t i = rt.masked.first; i != no_index; i = rt.slot_at(i).next.load(relaxed)) {
        if (rt.may_run_on(rt.slot_at(i), w)) return;
    }
    // relaxed: set again, under the lock, by the thread that appends.
    rt.masked_for.fetch_and(~w.mask, relaxed);
}

}  // namespace

void runtime::let_another_go_on() const {
    const worker* const w = bound();
    if (w == nullptr) return serial()->note_unchosen();
    serial()->preempt(w->index);
}

/// All levels are offered: while one thread starts the highest task another one starts the next.
/// One thread runs at a time: what is offered is still ready when it is taken.
task_id runtime::choose_ready(worker& w, id_test wanted) {
    gather_for_choice();
    ready_choices& choices = serial()->ready();
    choices.begin_offer();
    const auto offer_from = [&](inbox& tasks) {
        const std::lock_guard lock(tasks.mutex);
        for (std::uint32_t i = tasks.first; i != no_index; i = slot_at(i).next.load(relaxed)) {
            const task_id id = id_of(i);
            if (may_run_on(slot_at(i), w) && wanted(id.value)) {
                choices.offer_other(id.value, identity(id));
            }
        }
    };
    offer_from(w.box);
    offer_from(masked);
    choices.offer_wanted(wanted);
    if (choices.offered() == 0) {
        note_no_masked_task(*this, w);
        return {};
    }
    const std::size_t n =
        serial()->choose(decision_kind::next_task, choices.names(), choices.offered());
    const task_id chosen{choices.id_at(n)};
    const ready_choices::task taken = choices.take(n);
    if (taken.urgent) high_ready.fetch_sub(1, relaxed);
    if (taken.id == 0) take_out(w, chosen);
    return chosen;
}

/// In place of push_ready() and of what follows it.
void runtime::enqueue_for_choice(worker& w, std::uint32_t index) {
    const task_id id = id_of(index);
    const unsigned level = level_of(slot_at(index));
    const bool urgent = level == high;
    if (!serial()->ready().add({id.value, identity(id), urgent})) {
        push_ready(w, id, level);
    } else {
        if (urgent) high_ready.fetch_add(1, relaxed);
        if (asleep().should_wake()) wake_one();
    }
    serial()->preempt(w.index);
}

/// Some lie in queues all the same: those of try_post(), nodes that end without running, and those
/// for which there was no memory in the list of choices.
void runtime::gather_for_choice() {
    ready_choices& choices = serial()->ready();
    const unsigned seats = seat_count();
    for (unsigned level = level_count; level-- != 0;) {
        const auto move = [&](std::uint64_t entry) {
            return choices.add({entry, identity({entry}), level == high});
        };
        for (unsigned i = 0; i < seats; ++i) {
            while (seat_at(i).ready[level].claim_oldest_if(move, 1) != 0) {
            }
        }
        const std::lock_guard lock(overflow[level].mutex);
        while (overflow[level].first != no_index && move(id_of(overflow[level].first).value)) {
            take_first(overflow[level], [](std::uint32_t) { return true; });
        }
    }
}

bool runtime::take_from_choices(task_id id) {
    const ready_choices::task taken = serial()->ready().take_task(id.value);
    if (taken.urgent) high_ready.fetch_sub(1, relaxed);
    return taken.id != 0;
}

/// Out of the line of those that wait for the resource, under its lock. There is one.
std::uint32_t runtime::take_chosen_heir(resource& r) {
    ready_choices& choices = serial()->ready();
    choices.begin_offer();
    for (std::uint32_t i = r.first_; i != no_index; i = slot_at(i).next.load(relaxed)) {
        choices.offer_other(i, identity(id_of(i)));
    }
    const std::size_t n =
        serial()->choose(decision_kind::resource, choices.names(), choices.offered());
    const auto heir = static_cast<std::uint32_t>(choices.id_at(n));
    const std::uint32_t next = slot_at(heir).next.load(relaxed);
    std::uint32_t before = no_index;
    for (std::uint32_t i = r.first_; i != heir; i = slot_at(i).next.load(relaxed)) before = i;
    if (before == no_index) {
        r.first_ = next;
    } else {
        slot_at(before).next.store(next, relaxed);
    }
    if (next == no_index) r.last_ = before;
    return heir;
}

/// From the tasks for certain threads.
void runtime::take_out(worker& w, task_id id) {
    for (inbox* const tasks : {&w.box, &masked}) {
        const std::lock_guard lock(tasks->mutex);
        if (take_first(*tasks, [&](std::uint32_t i) { return id_of(i) == id; }) != no_index) return;
    }
}
}  // namespace detail
BRAID_NAMESPACE_END
