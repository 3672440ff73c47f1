// A wait that can never end, because what it waits for needs this very thread to go on. Asked once,
// when the thread is about to sleep.
#include "braid/core/scope.hpp"
#include "core/wait/search.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

/// The innermost task that a body of this frame keeps open, other than the frame's own. A branch of
/// a join that was stolen keeps the task open that it is part of.
std::uint32_t keeps_open(const wait_room& rt, const wait_seat& w, const running_task& t) {
    const slot& s = rt.slot_at(t.slot);
    const bool own = s.runner.load(relaxed) == w.index || s.has(flag_posted);
    return own ? s.parent.load(relaxed) : t.slot;
}

const scope_state* scope_at(const wait_room& rt, const running_task& t) {
    return scope_of(rt.slot_at(t.slot).environment.load(relaxed));
}

/// What needs `b` to end needs `a` to end, too, but for a wait for `b` itself.
bool stands_for(const wait_room& rt, const wait_seat& w, const running_task& a,
                const running_task& b) {
    const scope_state* const in = scope_at(rt, b);
    if (in != nullptr && in != scope_at(rt, a)) return false;
    const std::uint32_t of_b = keeps_open(rt, w, b);
    if (of_b == no_index) return true;
    const std::uint32_t of_a = keeps_open(rt, w, a);
    return of_a != no_index && rt.descends(of_a, rt.id_of(of_b));
}

/// A task on the stack for which `is_needed(task)`, among those that stand for all of it.
template <class Test>
bool any_on_stack(const wait_seat& w, unsigned* steps, Test&& is_needed) {
    constexpr unsigned most = 64;
    unsigned count = 0;
    const auto look = [&](const running_task* from, const running_task* to) {
        for (const running_task* t = from; t != to && count != most; t = t->below) {
            ++count;
            if (is_needed(*t)) return true;
        }
        return false;
    };
    bool found = look(w.top, w.cover.top);
    for (const stack_part* p = w.cover.parts; p != nullptr && !found && count != most;) {
        found = look(p->from, p->to);
        p = p->below;
    }
    if (steps != nullptr) *steps += count;
    return found;
}

/// The topmost of them, for the message.
template <class Test>
const running_task* topmost(const wait_seat& w, Test&& is_needed) {
    const running_task* t = w.top;
    while (t != nullptr && !is_needed(*t)) t = t->below;
    return t;
}

}  // namespace

stack_cover cover_stack(const wait_room& rt, const wait_seat& w, stack_part& own) {
    const stack_cover& outer = w.cover;
    if (w.top == nullptr || w.top == outer.top) return outer;
    const running_task& top = *w.top;
    const stack_part* const last = outer.parts;
    own = {&top, outer.top, last};
    if (top.below != outer.top) return {&top, &own};
    if (keeps_open(rt, w, top) == no_index && scope_at(rt, top) == nullptr) return {&top, last};
    if (last == nullptr || last->from->below != last->to) return {&top, &own};
    if (stands_for(rt, w, *last->from, top)) return {&top, last};
    if (stands_for(rt, w, top, *last->from)) own.below = last->below;
    return {&top, &own};
}

/// A task itself is on this stack only if this seat has begun it: where it has, the stack is
/// walked.
bool needs_stack(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps) {
    const std::uint32_t index = index_of(id.value);
    const slot& s = rt.slot_at(index);
    const std::uint16_t runner = s.runner.load(relaxed);
    const bool is_join = s.has(flag_empty | flag_own_kind);
    const bool has_children = index_of(s.open.load(relaxed)) > 1;
    if (runner == UINT16_MAX && !is_join && !has_children) return false;
    if (!rt.is_open(id)) return false;
    if (runner == w.index) {
        return topmost(w, [&](const running_task& t) {
                   if (steps != nullptr) ++*steps;
                   return t.slot == index || rt.descends(t.slot, id);
               }) != nullptr;
    }
    return any_on_stack(w, steps, [&](const running_task& t) {
        const std::uint32_t open = keeps_open(rt, w, t);
        return open != no_index && rt.descends(open, id);
    });
}

bool needs_stack(const wait_room& rt, const wait_seat& w, const scope_state& all, unsigned* steps) {
    return any_on_stack(w, steps, [&](const running_task& t) { return scope_at(rt, t) == &all; });
}

namespace {

/// The task on this thread's stack that a task needs which `id` waits for, directly or not. Looks
/// at 64 tasks at most: a help to a program that made a cycle by mistake, not a promise.
const running_task* needed_frame(const wait_room& rt, const wait_seat& w, task_id id) {
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    for (unsigned i = 0; i < count; ++i) {
        if (needs_stack(rt, w, list[i])) {
            return topmost(w, [&](const running_task& t) { return rt.descends(t.slot, list[i]); });
        }
        rt.any_predecessor(list[i], [&](task_id from) {
            if (count == limit) return true;
            if (std::find(list, list + count, from) == list + count) list[count++] = from;
            return false;
        });
    }
    return nullptr;
}

}  // namespace

bool waits_for_itself(wait_room& rt, const wait_seat& w, const wait_target& target) {
    const running_task* frame = nullptr;
    if (target.task) {
        frame = needed_frame(rt, w, target.task);
    } else if (target.all_of != nullptr && needs_stack(rt, w, *target.all_of)) {
        frame = topmost(w, [&](const running_task& t) { return scope_at(rt, t) == target.all_of; });
    }
    if (frame == nullptr) return false;
    const char* const waits = rt.slot_at(w.top->slot).name;
    const char* const needed = rt.slot_at(frame->slot).name;
    unsigned depth = 0;
    for (const running_task* t = frame; t != nullptr; t = t->below) ++depth;
    if (depth <= w.unneeded_from) {
        // Not the program's mistake. It goes on waiting: to return would say that the task is
        // complete.
        rt.log(
            log_level::error,
            "%s: task '%s' waits for what needs task '%s', which lies below it on the same stack "
            "because no thread could stand in; raise max_reserves",
            rt.options().name, waits != nullptr ? waits : "", needed != nullptr ? needed : "");
        return false;
    }
    rt.log(log_level::error,
           "%s: task '%s' waits for what needs task '%s', on top of which it waits",
           rt.options().name, waits != nullptr ? waits : "", needed != nullptr ? needed : "");
    return !BRAID_EXPECT(rt.options().assertion, false,
                         "a task cannot wait for itself, its parent, its own scope or graph, or "
                         "one that its wait is buried under");
}

}  // namespace detail
BRAID_NAMESPACE_END
