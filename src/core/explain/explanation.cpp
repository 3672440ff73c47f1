#include "core/explain/explanation.hpp"

#include "braid/core/event.hpp"
#include "braid/core/scope.hpp"
#include "core/life/completion_word.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void explanation::write(task_id id) {
    constexpr unsigned most = 8;
    task_id seen[most];
    const unsigned index = index_of(id.value), generation = generation_of(id.value);
    const task_state state = rt_.slots.state_of(id);
    if (state == task_state::unknown) {
        return to_.add("Task #%u.%u was never issued by '%s'.", index, generation,
                       rt_.options.name);
    }
    if (state != task_state::open) {
        const unsigned failure = rt_.slots.failure_of(id);
        const char* const how = failure == 0                   ? ""
                                : (failure & flag_cancel) != 0 ? ": it was cancelled"
                                                               : ": it failed";
        return to_.add("Task #%u.%u is complete%s.", index, generation, how);
    }
    for (unsigned n = 0; n < most; ++n) {
        seen[n] = id;
        id = n == 0 ? say_first(id) : say_what_it_does(id);
        if (!id) break;
        if (std::find(seen, seen + n + 1, id) != seen + n + 1) {
            to_.add(": they wait for each other");
            break;
        }
        if (n + 1 == most) break;
        to_.add(", which ");
    }
    to_.add(".");
}

/// Begins the text. If `id` is a completion that another task or a user thread has to end, the text
/// is about the task that waits for it.
task_id explanation::say_first(task_id id) {
    const slot& s = rt_.slots.at(id);
    const bool armed =
        state_of_completion(s.open, generation_of(id.value)) == completion_now::armed;
    const std::uint32_t waits = s.parent.load(acquire);
    if (!armed || is_promised(s.open) || waits == no_index) {
        say_name(id);
        to_.add(" ");
        return say_what_it_does(id);
    }
    say_name(rt_.slots.id_of(waits));
    if (says_event_of(id, " waits for ")) return {};
    to_.add(" waits at ");
    say_name(id);
    to_.add(", a channel or the like, for another task or thread");
    return {};
}

/// Returns the task that this task waits for, whose name ends the text, or an empty id.
task_id explanation::say_what_it_does(task_id id) {
    const held_task held(rt_, seat_, id);
    if (!rt_.slots.is_open(id)) {
        to_.add("is complete by now");
        return {};
    }
    const slot& s = rt_.slots.at(id);
    const completion_now what = state_of_completion(s.open, generation_of(id.value));
    if (what == completion_now::armed) {
        say_of_completion(id, static_cast<bool>(held));
        return {};
    }
    if (what != completion_now::another_task) {
        to_.add("has just begun to wait, or is about to go on");
        return {};
    }
    if (const place at = find_on_stacks(id); at.depth != 0) return say_of_body(at);
    if (s.waits_for.load(acquire) != 0) return say_of_dependencies(id);
    // An empty task has no body. A task with a kind of its own, like the run of a graph, has none
    // that is shown.
    const bool has_run = s.runner.load(relaxed) != UINT16_MAX || s.has(flag_empty);
    unsigned others = 0;
    const bool asks = has_run || s.has(flag_own_kind);
    const task_id child = asks ? first_child(id, others) : task_id{};
    if (child || has_run) return say_of_children(id, child, others);
    if (task_id holder; held && is_in_line(id, holder)) return holder;
    if (!held && s.has(flag_detailed)) {
        to_.add("is ready, or waits in line for a resource");
        return {};
    }
    return say_of_ready(s);
}

/// Returns the task's innermost place on any stack. A task never runs on top of itself, but what a
/// stack shows may be outdated.
explanation::place explanation::find_on_stacks(task_id id) const {
    const unsigned seats = rt_.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        const wait_seat& w = rt_.seat_at(i);
        // acquire: pairs with begin_body().
        const unsigned shown = std::min<unsigned>(w.shown.load(acquire), wait_seat::shown_depth);
        for (unsigned depth = shown; depth != 0; --depth) {
            if (w.frames[depth - 1].task() == id.value) return {i, depth};
        }
    }
    return {};
}

task_id explanation::say_of_body(const place& at) {
    task_id next;
    if (say_of_wait_at(at, next)) return next;
    const wait_seat& w = rt_.seat_at(at.seat);
    const unsigned shown = std::min<unsigned>(w.shown.load(acquire), wait_seat::shown_depth);
    if (at.depth < shown) {
        const task_id above{w.frames[at.depth].task()};
        to_.add("lies on the stack of '%s' below ", w.report.name);
        above ? say_name(above) : to_.add("another task");
        return above;
    }
    const char* const how = w.blocks.load(relaxed) ? " within blocking()" : "";
    to_.add("runs on '%s'%s", w.report.name, how);
    return {};
}

/// Writes what the body at that place waits for, or, if the depth is 0, what the thread waits for
/// outside bodies. Returns false if there is no such wait. `thread` is not null if the text has to
/// name the thread, too.
bool explanation::say_of_wait_at(const place& at, task_id& next, const char* thread) {
    awaited what;
    const bool waits = rt_.lot().look_at_all([&](const wait_record& r) {
        if (r.is_task || r.seat != at.seat || r.depth != at.depth) return false;
        if (thread != nullptr) to_.add(", and '%s' ", thread);
        what = say_of_wait(r);
        return true;
    });
    if (what.task) say_name(what.task);
    if (what.all_of != nullptr) say_one_of(*what.all_of);
    next = what.task;
    return waits;
}

/// Called under the lock of the record's bucket, so that the awaited event or scope stays alive. If
/// the wait is for a task or scope, the caller names the task, without the lock.
explanation::awaited explanation::say_of_wait(const wait_record& r) {
    to_.add(r.limited ? "waits for a limited time for " : "waits for ");
    // Ids are checked first, because ids of the last generations look like addresses.
    const task_id task{r.key};
    if (rt_.slots.state_of(task) != task_state::unknown) return {.task = task, .all_of = nullptr};
    if (const void* const key = scope_of_key(r.key); key != nullptr) {
        const auto& all = *static_cast<const scope_state*>(key);
        all.name != nullptr ? to_.add("the scope '%s'", all.name) : to_.add("a scope");
        return {.task = {}, .all_of = &all.environment};
    }
    if (const void* const key = object_of_key(r.key, 0); key != nullptr) {
        say_of_event(*static_cast<const event*>(key));
        return {};
    }
    if (r.named) {
        const auto& named = static_cast<const named_wait_record&>(r);
        to_.add("%s '%s'", named.what, named.name);
        return {};
    }
    const bool own = object_of_key(r.key, 2) == nullptr;
    to_.add(own ? "a part of the library" : "a part of its join that another thread runs");
    return {};
}

/// Called under the lock of the bucket, so that the event stays alive.
void explanation::say_of_event(const event& e) {
    const char* const name = e.internals().name;
    name != nullptr ? to_.add("the event '%s'", name) : to_.add("an event");
}

/// Writes the number of an open task in the scope. The scope may be destroyed by now, so its
/// address is only compared.
void explanation::say_one_of(const task_environment& scope) {
    const std::uint32_t count = rt_.slots.count();
    for (std::uint32_t i = 0; i < count; ++i) {
        const task_id open = rt_.slots.id_of(i);
        const bool is_in = rt_.slots.at(i).environment.load(relaxed) == &scope;
        if (!is_in || !rt_.slots.is_open(open)) continue;
        to_.add(", and so for ");
        waits_for_other_ = true;
        return say_number(open);
    }
}

bool explanation::says_event_of(task_id completion, const char* before) {
    return rt_.lot().look_at_all([&](const wait_record& r) {
        if (!r.is_task) return false;
        const auto& task = static_cast<const task_wait_record&>(r);
        if (task.of != &rt_.seat_at(0).rt || task.completion != completion.value) return false;
        to_.add("%s", before);
        say_of_event(*static_cast<const event*>(object_of_key(r.key, 0)));
        return true;
    });
}

void explanation::say_of_completion(task_id id, bool is_held) {
    if (says_event_of(id, "comes with ")) return;
    if (!is_promised(rt_.slots.at(id).open)) {
        return to_.add("is a channel or the like: another task or thread has to serve it");
    }
    // The data of a completion does not change while it is held.
    const bool sleeps = is_held && completion_at(rt_.slots.at(id)).due_is_well;
    to_.add(sleeps ? "ends at its time" : "is a completion that nobody has settled yet");
}

task_id explanation::say_of_dependencies(task_id id) {
    task_id first;
    unsigned others = 0;
    rt_.edges.any_predecessor(id, [&](task_id from) {
        if (!rt_.slots.is_open(from)) return false;
        first ? static_cast<void>(++others) : static_cast<void>(first = from);
        return false;
    });
    const bool suspended = rt_.details.may_be_suspended(rt_.slots.at(id));
    if (!first) {
        to_.add(suspended ? "is about to go on" : "is being built: finish() was not called yet");
        return {};
    }
    to_.add(suspended ? "awaits " : "begins only after ");
    if (others != 0) to_.add("%u other%s and ", others, others == 1 ? "" : "s");
    say_name(first);
    return first;
}

/// Returns an open child, or an empty id. `others` gets the number of further open children.
task_id explanation::first_child(task_id id, unsigned& others) const {
    const std::uint32_t count = rt_.slots.count();
    task_id first;
    for (std::uint32_t i = 0; i < count; ++i) {
        const task_id child = rt_.slots.id_of(i);
        if (!rt_.slots.is_below(rt_.slots.at(i), id) || !rt_.slots.is_open(child)) continue;
        first ? static_cast<void>(++others) : static_cast<void>(first = child);
    }
    return first;
}

task_id explanation::say_of_children(task_id id, task_id first, unsigned others) {
    if (!first) {
        to_.add(rt_.slots.at(id).has(flag_built)
                    ? "has run, and is complete after finish(), which was not called yet"
                    : "has run, and is about to be complete");
        return {};
    }
    to_.add("has run, and is complete when its children are: ");
    if (others != 0) to_.add("%u other%s and ", others, others == 1 ? "" : "s");
    say_name(first);
    return first;
}

/// Returns true if the task waits in line for a resource, and writes so. The task is held open, so
/// the resources that it uses are alive.
bool explanation::is_in_line(task_id id, task_id& holder) {
    const slot& s = rt_.slots.at(id);
    if (!rt_.details.uses_resources(s)) return false;
    for (resource* const r : rt_.used_by(s)) {
        if (!rt_.stands_in_line(r->internals(), index_of(id.value))) continue;
        to_.add("waits in line for the resource '%s'", r->name());
        waits_for_other_ = true;
        holder = say_holder(*r);
        return true;
    }
    return false;
}

/// Returns a task that holds the resource, and writes its name. Finds it only on the stack of a
/// thread that waits: while the record of that wait is in its bucket, no body below the wait ends.
task_id explanation::say_holder(const resource& r) {
    task_id holder;
    rt_.lot().look_at_all([&](const wait_record& record) {
        if (record.is_task || record.seat == no_seat) return false;
        const wait_seat& w = rt_.seat_at(record.seat);
        const unsigned depth = std::min<unsigned>(record.depth, wait_seat::shown_depth);
        for (unsigned i = 0; i < depth; ++i) {
            const task_id body{w.frames[i].task()};
            if (!body || !rt_.details.uses_resources(rt_.slots.at(body))) continue;
            const auto held = rt_.held_by(rt_.slots.at(body));
            if (std::find(held.begin(), held.end(), &r) == held.end()) continue;
            to_.add(", held by ");
            writer_.name_below_wait(body);
            holder = body;
            return true;
        }
        return false;
    });
    return holder;
}

task_id explanation::say_of_ready(const slot& s) {
    to_.add("is ready, and no thread has begun with it");
    const detail_block* const d = rt_.details.is_direct(s) ? rt_.details.find(s) : nullptr;
    const unsigned seat = d != nullptr ? d->seat.load(relaxed) : UINT16_MAX;
    if (seat >= rt_.seat_count()) return {};
    const wait_seat& w = rt_.seat_at(seat);
    to_.add(": only the thread '%s' may run it", w.report.name);
    const unsigned shown = std::min<unsigned>(w.shown.load(acquire), wait_seat::shown_depth);
    task_id next;
    const bool waits = say_of_wait_at({seat, shown}, next, w.report.name);
    // seq_cst: as in is_outside() of standstill.cpp.
    const bool is_outside = !waits && shown == 0 && !is_own(w) && !w.inside.load(seq_cst);
    if (is_outside) to_.add(", and '%s' is in no wait of '%s'", w.report.name, rt_.options.name);
    return next;
}

}  // namespace detail
BRAID_NAMESPACE_END
