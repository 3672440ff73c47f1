// A wait that can never end, because what it waits for needs this very thread to go on. Asked once,
// when the thread is about to sleep.
#include "braid/core/scope.hpp"
#include "core/wait/search.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Two looks say "none" in most cases: a task that nobody has started, and that is no join, has
/// neither a body on a stack nor children that run.
const running_task* frame_of(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps) {
    const std::uint32_t index = index_of(id.value);
    const slot& s = rt.slot_at(index);
    const bool is_join = s.has(flag_empty | flag_own_kind);
    const bool has_children = index_of(s.open.load(relaxed)) > 1;
    if (s.runner.load(relaxed) == UINT16_MAX && !is_join && !has_children) return nullptr;
    if (!rt.is_open(id)) return nullptr;
    const unsigned depth = s.depth.load(relaxed);
    for (const running_task* t = w.top; t != nullptr; t = t->below) {
        if (steps != nullptr) ++*steps;
        if (t->slot == index) return t;
        // Only what is deeper can be below it.
        if (rt.slot_at(t->slot).depth.load(relaxed) > depth && rt.descends(t->slot, id)) return t;
    }
    return nullptr;
}

namespace {

/// A task that `id` waits for, directly or not, and that needs this thread's stack. Looks at 64
/// tasks at most: a help to a program that made a cycle by mistake, not a promise.
const running_task* needed_frame(const wait_room& rt, const wait_seat& w, task_id id) {
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    for (unsigned i = 0; i < count; ++i) {
        if (const running_task* t = frame_of(rt, w, list[i])) return t;
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
    } else if (target.all_of != nullptr) {
        for (const running_task* t = w.top; t != nullptr && frame == nullptr; t = t->below) {
            if (scope_of(rt.slot_at(t->slot).environment.load(relaxed)) == target.all_of) frame = t;
        }
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
