#include "core/life/completion_lists.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void completion_lists::list_and_arm(std::uint32_t index, std::uint32_t as, std::uint32_t shares) {
    shard& in = shard_of(index);
    completion_facts& own = completion_at(slots.at(index));
    const locked lock(in.lock);
    own.next = in.first;
    own.before = no_index;
    if (in.first != no_index) completion_at(slots.at(in.first)).before = index;
    in.first = index;
    own.listed = true;
    arm_completion(slots.at(index).open, slots.at(index).generation(), as, shares);
}

void completion_lists::unlist(std::uint32_t index) {
    shard& in = shard_of(index);
    completion_facts& own = completion_at(slots.at(index));
    const locked lock(in.lock);
    if (own.listed) unlink(in, own);
}

void completion_lists::unlink(shard& in, completion_facts& own) {
    own.listed = false;
    if (own.before != no_index) {
        completion_at(slots.at(own.before)).next = own.next;
    } else {
        in.first = own.next;
    }
    if (own.next != no_index) completion_at(slots.at(own.next)).before = own.before;
}

void completion_lists::ask_all_of(life_seat& w, const scope_state& of) {
    for (shard& in : lists_) {
        // No lock is held here: with a chooser, another thread may run whenever a completion is put
        // into a queue.
        for (std::uint32_t i = take_asked(in, of); i != no_index;) {
            const std::uint32_t index = i;
            i = completion_at(slots.at(i)).next;  // read before the completion may end
            put_completion(w, index);
        }
    }
}

/// Removes from this list the scope's completions that the caller must ask, and returns them linked
/// by `next`. Each is asked only once, so it need not stay in the list. The share that
/// ask_completion() took keeps its slot from being recycled.
std::uint32_t completion_lists::take_asked(shard& in, const scope_state& of) {
    std::uint32_t first = no_index;
    std::uint32_t* last = &first;
    const locked lock(in.lock);
    for (std::uint32_t i = in.first, next = no_index; i != no_index; i = next) {
        slot& s = slots.at(i);
        completion_facts& own = completion_at(s);
        next = own.next;
        if (scope_of(s.environment.load(relaxed)) != &of) continue;
        if (!ask_completion(s.open, s.generation())) continue;
        unlink(in, own);
        own.next = no_index;
        *last = i;
        last = &own.next;
    }
    return first;
}

// seq_cst: the phase was set to `discarding` before these loads, and defer() arms a completion
// before it checks the phase. All four accesses are seq_cst. So this scan finds the completion, or
// its defer() sees the new phase.
void completion_lists::ask_all(life_seat& w) {
    for (std::uint32_t index = 0; index < slots.count(); ++index) {
        if (is_outside(slots.at(index))) ask(w, slots.id_of(index));
    }
}

void completion_lists::ask(life_seat& w, task_id id, bool late) {
    slot& s = slots.at(id);
    const std::uint32_t generation = generation_of(id.value);
    const bool asks =
        late ? ask_late_completion(s.open, generation) : ask_completion(s.open, generation);
    if (!asks) return;
    completion_at(s).asked_late = late;
    put_completion(w, index_of(id.value));
}

void completion_lists::put_completion(life_seat& w, std::uint32_t index) {
    // relaxed: 0 only says that the completion may be run, like any task that waits for nothing.
    slots.at(index).waits_for.store(0, relaxed);
    enqueue(w, index);
}

}  // namespace detail
BRAID_NAMESPACE_END
