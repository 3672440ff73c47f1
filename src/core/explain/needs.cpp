#include "core/explain/needs.hpp"

#include "braid/core/scope.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool needs::next(const need_node& of, need_cursor& cursor, dependent& found) const {
    found = {};
    return of.is_body() ? next_of_body(of, cursor, found) : next_of_end(of, cursor, found);
}

bool needs::holds(const need_node& of, const dependent& by, std::uint64_t& steps) const {
    dependent found;
    for (need_cursor c; next(of, c, found); ++steps) {
        if (found.node.is_same_as(by.node) && found.why == by.why) return true;
    }
    return false;
}

// ---- who needs the end of a task ---------------------------------------------------------------

bool needs::next_of_end(const need_node& of, need_cursor& cursor, dependent& found) const {
    constexpr std::uint8_t successors = 1, waiters = 2, scope_waiters = 3;
    if (cursor.part == 0) {
        cursor.part = successors;
        // acquire: pairs with push_edge(), which has written the edge.
        cursor.at = first_edge(rt_.slots.at(of.task).successors.load(acquire));
        if (parent_of(of.task, found)) return true;
    }
    if (cursor.part == successors) {
        if (next_successor(of.task, cursor, found)) return true;
        cursor = {.part = waiters};
    }
    if (cursor.part == waiters) {
        if (next_waiter(of.task, cursor, found)) return true;
        cursor = {.part = scope_waiters};
    }
    return next_scope_waiter(of.task, cursor, found);
}

bool needs::parent_of(task_id id, dependent& found) const {
    const std::uint32_t parent = rt_.slots.at(id).parent.load(acquire);
    if (parent == no_index || !rt_.slots.has(parent)) return false;
    found = {.node = {.task = rt_.slots.id_of(parent)}, .why = need::child};
    // The task has a share of its parent's work.
    return rt_.slots.is_open(id);
}

/// Returns true if the waiting task may go on without this predecessor, because a cancellation may
/// end its await or another predecessor may be enough.
bool needs::may_go_on_without(const edge& e, const slot& s, task_id id) const {
    if (e.await.load(acquire) == edge_fixed) return false;
    const detail_block* const d = rt_.details.find(s);
    if (d == nullptr || d->may_end_early.load(relaxed)) return true;
    if (!d->first_is_enough.load(relaxed)) return false;
    // One predecessor is complete, which is enough.
    if (d->came.load(acquire) != came_armed) return true;
    unsigned all = 0;
    return rt_.edges.any_predecessor(id, [&](task_id) { return ++all > 1; });
}

bool needs::next_successor(task_id id, need_cursor& cursor, dependent& found) const {
    while (cursor.at < no_edge && rt_.edges.has(cursor.at)) {
        const edge& e = rt_.edges.at(cursor.at);
        // acquire, all: these pair with edge_table::make(), and come before the checks below. No
        // edge leaves the task's list until the task completes and closes the list.
        const task_id from{e.from.load(acquire)}, to{e.to.load(acquire)};
        const std::uint8_t await = e.await.load(acquire);
        const std::uint32_t next = e.next.load(acquire);
        if (from != id || !rt_.slots.is_open(id)) break;
        cursor.at = next;
        if (await == edge_torn || await == edge_notified || !rt_.slots.is_open(to)) continue;
        const slot& s = rt_.slots.at(to);
        if (s.waits_for.load(acquire) == 0 || may_go_on_without(e, s, to)) continue;
        found = {.node = {.task = to},
                 .why = rt_.details.may_be_suspended(s) ? need::awaits : need::after};
        if (rt_.slots.is_open(to)) return true;
    }
    return false;
}

/// Called under the lock of the record's bucket. Sets `found` to the body that waits. Returns false
/// if a time limit may end the wait, or if no body waits whose frame other threads can read.
bool needs::body_in_wait(const wait_record& r, dependent& found) const {
    if (r.is_task || r.limited || r.seat == no_seat) return false;
    if (r.depth == 0 || r.depth > wait_seat::shown_depth) return false;
    // While `stays` is not set, another body is on top of the wait, or the wait may still be
    // refused.
    if (!r.stays.load(relaxed)) return false;
    found.node = {
        .task = {}, .wait_key = r.key, .seat = r.seat, .depth = r.depth, .wait_depth = r.depth};
    found.node.task = shown_at(found.node, r.depth);
    return static_cast<bool>(found.node.task);
}

bool needs::next_waiter(task_id id, need_cursor& cursor, dependent& found) const {
    std::uint32_t n = 0;
    const auto is_next = [&](const wait_record& r) {
        return body_in_wait(r, found) && n++ == cursor.at;
    };
    if (!rt_.lot().look_at(id.value, is_next) || !rt_.slots.is_open(id)) return false;
    ++cursor.at;
    found.why = need::waits;
    return true;
}

/// A scope is alive while a thread waits for it. The tasks in it have its environment's address.
bool needs::next_scope_waiter(task_id id, need_cursor& cursor, dependent& found) const {
    const task_environment* const in = rt_.slots.at(id).environment.load(acquire);
    if (in == nullptr || !rt_.slots.is_open(id)) return false;
    std::uint32_t n = 0;
    const auto is_next = [&](const wait_record& r) {
        const auto* const all = static_cast<const scope_state*>(scope_of_key(r.key));
        return all != nullptr && !r.is_task && &all->environment == in && body_in_wait(r, found) &&
               n++ == cursor.at;
    };
    if (!rt_.lot().look_at_all(is_next) || !rt_.slots.is_open(id)) return false;
    ++cursor.at;
    found.why = need::scope;
    return true;
}

// ---- who needs the return of a body ------------------------------------------------------------

/// Returns why a body needs the body directly on top of it.
need needs::why_below(const need_node& below, task_id above) const {
    const wait_seat& w = rt_.seat_at(below.seat);
    if (below.depth <= w.unneeded_from.load(relaxed)) return need::buried;
    const std::uint64_t awaited = w.frames[below.depth - 1].awaited();
    if (awaited == 0) return need::under;
    return awaited == above.value ? need::waits : need::through;
}

bool needs::next_of_body(const need_node& of, need_cursor& cursor, dependent& found) const {
    constexpr std::uint8_t below = 1, line = 2;
    if (cursor.part == 0) {
        cursor.part = below;
        found = {.node = {.task = of.task}, .why = need::own_body};
        if (rt_.slots.is_open(of.task)) return true;
    }
    if (cursor.part == below) {
        cursor.part = line;
        bool is_below = false;
        with_stack_of(of, [&] {
            if (of.depth < 2) return;
            found.node = of;
            --found.node.depth;
            found.node.task = shown_at(of, found.node.depth);
            found.why = why_below(found.node, of.task);
            is_below = static_cast<bool>(found.node.task);
        });
        if (is_below) return true;
    }
    return next_in_line(of, cursor, found);
}

/// Finds the next task in line for a resource that this body holds. Skips resources that may have
/// several holders, because another holder may release the resource first.
bool needs::next_in_line(const need_node& of, need_cursor& cursor, dependent& found) const {
    bool is_found = false;
    with_stack_of(of, [&] { is_found = next_in_lines(rt_.slots.at(of.task), cursor, found); });
    return is_found;
}

/// Called while the body cannot leave its stack, so it keeps its resources.
bool needs::next_in_lines(const slot& s, need_cursor& cursor, dependent& found) const {
    if (!rt_.details.uses_resources(s)) return false;
    const auto held = rt_.held_by(s);
    while (cursor.resource < held.size()) {
        resource& r = *held[cursor.resource];
        const bool is_alone = r.internals().limit == 1;
        if (const task_id waits = is_alone ? rt_.in_line(r.internals(), cursor.at) : task_id{}) {
            found = {.node = {.task = waits}, .why = need::resource, .lacks = &r};
            ++cursor.at;
            return true;
        }
        cursor.at = 0;
        ++cursor.resource;
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
