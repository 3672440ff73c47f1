#include "core/life/completion_lists.hpp"

#include <iterator>

BRAID_NAMESPACE_BEGIN
namespace detail {

void completion_lists::list_and_arm(std::uint32_t index, std::uint32_t shares) {
    shard& in = shard_of(index);
    completion_facts& own = completion_at(slot_at(index));
    const locked lock(in.lock);
    own.next = in.first;
    own.before = no_index;
    if (in.first != no_index) completion_at(slot_at(in.first)).before = index;
    in.first = index;
    arm_completion(slot_at(index).open, slot_at(index).generation(), shares);
}

void completion_lists::unlist(std::uint32_t index) {
    shard& in = shard_of(index);
    const completion_facts& own = completion_at(slot_at(index));
    const locked lock(in.lock);
    if (own.before != no_index) {
        completion_at(slot_at(own.before)).next = own.next;
    } else {
        in.first = own.next;
    }
    if (own.next != no_index) completion_at(slot_at(own.next)).before = own.before;
}

void completion_lists::ask_all_of(life_seat& w, const scope_state& of) {
    for (shard& in : lists_) {
        // Put into queues without the lock: with a chooser another thread may go on there.
        std::uint32_t asked[32];
        std::size_t count = 0;
        do {
            count = ask_some_of(in, of, asked);
            for (std::size_t n = 0; n < count; ++n) put_completion(w, asked[n]);
        } while (count == std::size(asked));
    }
}

std::size_t completion_lists::ask_some_of(shard& in, const scope_state& of,
                                          std::span<std::uint32_t> asked) {
    const locked lock(in.lock);
    std::size_t count = 0;
    for (std::uint32_t i = in.first; i != no_index && count != asked.size();
         i = completion_at(slot_at(i)).next) {
        slot& s = slot_at(i);
        if (scope_of(s.environment.load(relaxed)) != &of) continue;
        if (ask_completion(s.open, s.generation())) asked[count++] = i;
    }
    return count;
}

// seq_cst: the phase that says so was set before these loads, a completion is armed before its
// defer() looks at the phase, both seq_cst. One of the two sees the other.
void completion_lists::ask_all(life_seat& w) {
    for (std::uint32_t index = 0; index < slot_count(); ++index) {
        if (is_outside(slot_at(index))) ask(w, id_of(index));
    }
}

void completion_lists::ask(life_seat& w, task_id id, bool late) {
    slot& s = slot_at(id);
    if (!ask_completion(s.open, generation_of(id.value))) return;
    completion_at(s).asked_late = late;
    put_completion(w, index_of(id.value));
}

void completion_lists::put_completion(life_seat& w, std::uint32_t index) {
    // relaxed: it may be run as any task that waits for nothing.
    slot_at(index).waits_for.store(0, relaxed);
    enqueue(w, index);
}

}  // namespace detail
BRAID_NAMESPACE_END
