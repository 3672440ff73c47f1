#include "core/slots/slot_table.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

slot_table::slot_table(const scheduler_options& o, accounted_memory& memory)
    : memory_(memory), slots_(memory, memory_tag::slot) {
    if (o.deadlock.lines) lines_ = memory.make<source_lines>(memory);
}

slot_table::~slot_table() { memory_.unmake(lines_); }

/// Called if this thread's cache has no slot. Before a task is refused, and, if memory has a
/// budget, before more memory is taken, a slot from failed_ is used again. That slot no longer says
/// how its last task failed.
[[gnu::noinline]] std::uint32_t slot_table::take_slowly(pool_cache& own, bool may_block) {
    std::uint32_t index = no_index;
    if (memory_.has_budget() && !failed_.empty()) {
        index = slots_.take(own, false);
        if (index == no_index) index = failed_.take_oldest(slots_, may_block);
    }
    if (index == no_index) index = slots_.take(own, may_block);
    return index != no_index ? index : failed_.take_oldest(slots_, may_block);
}

[[gnu::noinline]] void slot_table::give_failed(pool_cache& own, std::uint32_t index) {
    // A slot in its last generation is retired, so it needs no place in the list.
    if (slots_[index].generation() == last_generation) return;
    if (!slots_[index].has(flag_posted)) index = failed_.add(slots_, index);
    if (index != no_index) give(own, index, slots_[index].generation());
}

task_state slot_table::state_of(task_id id) const {
    const std::uint32_t index = index_of(id.value);
    const std::uint32_t generation = generation_of(id.value);
    if (generation == 0 || !slots_.contains(index)) return task_state::unknown;
    return state_in(slots_[index].successors, generation);
}

std::uint8_t slot_table::level_of(const slot& s) const {
    // acquire: pairs with inherit_priority(), which stores the level before it clears the flag. So
    // if the flag is cleared, the load below reads that level.
    const bool category = (s.flags.load(acquire) & flag_category) != 0;
    const std::uint8_t level = s.level.load(relaxed);
    // inherit_priority() may have come too late, and have cleared the flag of a later task in this
    // slot. `level` is then a category, so the value is limited to the highest level.
    return category ? level_by_category_[level].load(relaxed)
                    : std::min(level, static_cast<std::uint8_t>(priority_level::high));
}

/// Links the child to its parent, with the skew-binary jump pointer of Myers (1983). The pointer
/// takes O(1) to make, and a climb along such pointers takes O(log depth).
void slot_table::link_parent(slot& child, std::uint32_t parent_index) const {
    const slot& parent = at(parent_index);
    const std::uint32_t jump = parent.jump.load(relaxed);
    std::uint32_t target = parent_index;
    if (jump != no_index) {
        const slot& far = at(jump);
        const std::uint32_t farther = far.jump.load(relaxed);
        if (farther != no_index) {
            const int near_step = parent.depth.load(relaxed) - far.depth.load(relaxed);
            const int far_step = far.depth.load(relaxed) - at(farther).depth.load(relaxed);
            if (near_step == far_step) target = farther;
        }
    }
    child.parent.store(parent_index, release);  // pairs with needs::parent_of()
    child.jump.store(target, relaxed);
    child.depth.store(static_cast<std::uint16_t>(parent.depth.load(relaxed) + 1), relaxed);
}

bool slot_table::descends(std::uint32_t index, task_id ancestor) const {
    const unsigned depth = at(ancestor).depth.load(relaxed);
    for (unsigned steps = 0; steps < 64; ++steps) {
        const slot& s = slots_[index];
        if (s.depth.load(relaxed) <= depth) break;
        const std::uint32_t jump = s.jump.load(relaxed);
        const bool far = jump != no_index && has(jump) && at(jump).depth.load(relaxed) >= depth;
        index = far ? jump : s.parent.load(relaxed);
        if (index == no_index || !has(index)) return false;
    }
    return id_of(index) == ancestor;
}

}  // namespace detail
BRAID_NAMESPACE_END
