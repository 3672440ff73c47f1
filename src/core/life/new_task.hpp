#pragma once
// The first step of every task, and all of it for a plain one, which has no options but a name and
// a scope. Inline: a plain task is opened without the branches that others need.

#include "core/life/life_room.hpp"
#include "core/task/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Null: no memory (or, if it must not block, no slot at hand).
[[gnu::always_inline]] inline slot* life_room::new_task(life_seat& w, const first_words& with,
                                                        bool may_block) noexcept {
    const std::uint32_t index = take_slot(w, may_block);
    if (index == no_index) return nullptr;
    slot& s = slot_at(index);
    s.name = with.name;
    s.module = 0;
    s.flags.store(with.flags, relaxed);
    s.level.store(with.level, relaxed);
    s.next.store(index, relaxed);  // see index_of()
    s.environment.store(with.environment, relaxed);
    open_words(s.open, s.successors, s.generation() + 1, 1);
    return &s;
}

[[gnu::always_inline]] inline draft life_room::open_plain(life_seat& w, scope* within,
                                                          const char* name, draft_kind kind) {
    if (!accepts_from(w)) return {};
    const task_environment* environment = nullptr;
    if (within != nullptr) {
        environment = &within->internals().environment;
    } else if (w.top != nullptr) {
        environment = slot_at(w.top->slot).environment.load(relaxed);
    }
    const std::uint16_t flags = kind == draft_kind::posted ? flag_posted : 0;
    slot* const s = new_task(w, {name, flags, normal_level, environment});
    if (s == nullptr) return {};
    seat_counters::add(w.counters.created);
    count_creation(w, environment);
    return {s->storage, &w.whole};
}

}  // namespace detail
BRAID_NAMESPACE_END
