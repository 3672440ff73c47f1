// Detects a wait that can never end, because what it waits for needs this very thread to go on. A
// wait checks this once, when its thread is about to sleep. A wait for several tasks also checks
// this before it runs any task.
#include "braid/core/scope.hpp"
#include "core/wait/search.hpp"

#include <algorithm>
#include <climits>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

const scope_state* scope_at(const wait_room& rt, const running_task& t) {
    return scope_of(rt.slots.at(t.slot).environment.load(relaxed));
}

/// Returns the topmost task on the stack for which `is_needed(task)` is true, or null if there is
/// none. Checks `most` tasks at most.
template <class Test>
const running_task* topmost(const wait_seat& w, Test&& is_needed, unsigned most = UINT_MAX) {
    const running_task* t = w.top;
    for (; t != nullptr && most != 0 && !is_needed(*t); --most) t = t->below;
    return most != 0 ? t : nullptr;
}

/// Returns true if `is_needed(task)` is true for one of the topmost tasks. `is_needed` considers
/// the ancestors of the task, too. So most often the first check answers for all tasks below it.
template <class Test>
bool any_near(const wait_seat& w, Test&& is_needed) {
    constexpr unsigned near = 64;
    return topmost(w, is_needed, near) != nullptr;
}

}  // namespace

/// The awaited task itself can be on this stack only if this seat has begun it. Only in that case
/// does this function check the whole stack.
bool needs_stack(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps) {
    const std::uint32_t index = index_of(id.value);
    const slot& s = rt.slots.at(index);
    const std::uint16_t runner = s.runner.load(relaxed);
    const bool is_join = s.has(flag_empty | flag_own_kind);
    const bool has_children = index_of(s.open.load(relaxed)) > 1;
    if (runner == UINT16_MAX && !is_join && !has_children) return false;
    if (!rt.slots.is_open(id)) return false;
    const auto is_below = [&](const running_task& t) {
        if (steps != nullptr) ++*steps;
        return rt.slots.descends(t.slot, id);
    };
    return runner == w.index ? topmost(w, is_below) != nullptr : any_near(w, is_below);
}

bool needs_stack(const wait_room& rt, const wait_seat& w, const scope_state& all, unsigned* steps) {
    return any_near(w, [&](const running_task& t) {
        if (steps != nullptr) ++*steps;
        return scope_at(rt, t) == &all;
    });
}

namespace {

/// Returns the first task for which `test(task)` is true among `id` and what it directly or
/// indirectly waits for, or an empty id. Checks 64 tasks at most: this helps to find a cycle that a
/// program made by mistake, but may miss one.
template <class Test>
task_id first_needed(const wait_room& rt, task_id id, bool over_awaits, Test&& test) {
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    const auto is_full_with = [&](task_id from) {
        if (count == limit) return true;
        if (std::find(list, list + count, from) == list + count) list[count++] = from;
        return false;
    };
    for (unsigned at = 0; at < count; ++at) {
        if (test(list[at])) return list[at];
        // A suspended task may need only one of several tasks that it awaits, or none if a
        // cancellation ends its await.
        if (!over_awaits && rt.details.may_be_suspended(rt.slots.at(list[at]))) continue;
        rt.edges.any_predecessor(list[at], is_full_with);
    }
    return {};
}

const running_task* needed_frame(const wait_room& rt, const wait_seat& w, task_id id,
                                 bool over_awaits) {
    const task_id needed =
        first_needed(rt, id, over_awaits, [&](task_id one) { return needs_stack(rt, w, one); });
    if (!needed) return nullptr;
    return topmost(w, [&](const running_task& t) { return rt.slots.descends(t.slot, needed); });
}

/// Returns the task whose captures the waiting code is destroying, or null if there is none or the
/// wait does not need the end of that task. Only the innermost destructor counts, and only if no
/// body runs on top of it. A destructor further down the stack is not always the program's mistake.
/// Its own wait may have run this body because no reserve thread could stand in, or its task may
/// have ended in one of the thread's waits.
const ending_task* needed_end(const wait_room& rt, const wait_seat& w, const wait_target& target) {
    const ending_task* const e = w.ends;
    if (e == nullptr || e->depth != w.depth) return nullptr;
    if (target.all_of != nullptr) {
        const task_environment* const in = rt.slots.at(e->slot).environment.load(relaxed);
        return scope_of(in) == target.all_of ? e : nullptr;
    }
    const auto is_part_of = [&](task_id one) { return rt.slots.descends(e->slot, one); };
    return target.task && first_needed(rt, target.task, false, is_part_of) ? e : nullptr;
}

bool report_wait_of_destructor(const wait_room& rt, const ending_task& e) {
    const char* const name = rt.slots.at(e.slot).name;
    rt.report.log(
        log_level::error,
        "%s: what task '%s' held waits, as it is destroyed, for what needs the end of that task",
        rt.options.name, name != nullptr ? name : "");
    return !BRAID_EXPECT(rt.options.assertion, false,
                         "a destructor of what a task held cannot wait for that task, its parent "
                         "or its scope");
}

}  // namespace

bool waits_for_itself(wait_room& rt, const wait_seat& w, const wait_target& target,
                      bool over_awaits) {
    if (const ending_task* const end = needed_end(rt, w, target); end != nullptr) {
        return report_wait_of_destructor(rt, *end);
    }
    const running_task* frame = nullptr;
    if (target.task) {
        frame = needed_frame(rt, w, target.task, over_awaits);
    } else if (target.all_of != nullptr && needs_stack(rt, w, *target.all_of)) {
        frame = topmost(w, [&](const running_task& t) { return scope_at(rt, t) == target.all_of; });
    }
    if (frame == nullptr) return false;
    const char* const waits = rt.slots.at(w.top->slot).name;
    const char* const needed = rt.slots.at(frame->slot).name;
    unsigned depth = 0;
    for (const running_task* t = frame; t != nullptr; t = t->below) ++depth;
    if (depth <= w.unneeded_from.load(relaxed)) {
        // This is not the program's mistake. The wait goes on, because a return would mean that the
        // task is complete.
        rt.report.log(
            log_level::error,
            "%s: task '%s' waits for what needs task '%s', which lies below it on the same stack "
            "because no thread could stand in; raise max_reserves",
            rt.options.name, waits != nullptr ? waits : "", needed != nullptr ? needed : "");
        return false;
    }
    rt.report.log(log_level::error,
                  "%s: task '%s' waits for what needs task '%s', on top of which it waits",
                  rt.options.name, waits != nullptr ? waits : "", needed != nullptr ? needed : "");
    return !BRAID_EXPECT(rt.options.assertion, false,
                         "a task cannot wait for itself, its parent, its own scope or graph, or "
                         "one that its wait is buried under");
}

}  // namespace detail
BRAID_NAMESPACE_END
