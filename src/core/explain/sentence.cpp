#include "core/explain/sentence.hpp"

#include "braid/core/resource.hpp"
#include "core/life/completion_word.hpp"
#include "core/slots/words.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void sentence::add(const char* format, ...) {
    const std::size_t room = sizeof text_ - size_;
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text_ + size_, room, format, arguments);
    va_end(arguments);
    if (length > 0) size_ += std::min(static_cast<std::size_t>(length), room - 1);
}

held_task::held_task(wait_room& rt, wait_seat* seat, task_id id) : rt_(rt), seat_(seat), id_(id) {
    if (seat == nullptr) return;
    slot& s = rt.slots.at(id);
    const std::uint32_t generation = generation_of(id.value);
    // acquire: what is read from the slot is this task's data, or else adding the share fails.
    if (state_in(s.successors, generation) != task_state::open) return;
    // A completion that is not armed yet is not open, and is not held.
    if (state_of_completion(s.open, generation) != completion_now::another_task) {
        held_ = hold_completion(s.open, generation);
        return;
    }
    // A posted task counts no shares. A task with a kind of its own may end without a check of its
    // shares, if nobody was given its id.
    if ((s.flags.load(acquire) & (flag_posted | flag_own_kind)) != 0) return;
    held_ = add_open_work(s.open, generation);
}

void task_writer::name_in(const slot& s, task_id id) {
    const bool has_name = s.name != nullptr && s.name[0] != '\0';
    if (has_name) {
        to_.add("'%s'", s.name);
    } else {
        to_.add("task #%u.%u", index_of(id.value), generation_of(id.value));
    }
    if (const source_line at = rt_.slots.line_of(id); at.file != nullptr) {
        to_.add(" (%s:%u)", at.file, static_cast<unsigned>(at.line));
    }
}

void task_writer::name(const need_node& n) {
    const slot& s = rt_.slots.at(n.task);
    if (n.is_body()) {
        const auto write = [&] { name_in(s, n.task); };
        if (needs(rt_).with_stack_of(n, write)) return;
    } else if (const held_task held(rt_, seat_, n.task); held) {
        return name_in(s, n.task);
    }
    to_.add("task #%u.%u", index_of(n.task.value), generation_of(n.task.value));
}

/// Writes which resource is needed. The name is read while the holder's body cannot end, because
/// the resource lives at least as long as that body.
void task_writer::name_resource(const resource& lacks, const need_node& holder) {
    const auto write = [&] { to_.add("needs the resource '%s', held by ", lacks.name()); };
    if (!needs(rt_).with_stack_of(holder, write)) to_.add("needs a resource, held by ");
}

void task_writer::need_of(const dependent& d, const need_node& needed) {
    switch (d.why) {
        case need::own_body:
            break;
        case need::child:
            to_.add("ends only with its child ");
            break;
        case need::after:
            to_.add("begins only after ");
            break;
        case need::awaits:
            to_.add("awaits ");
            break;
        case need::waits:
            to_.add("waits for ");
            break;
        case need::through:
            to_.add("waits for what needs ");
            break;
        case need::scope:
            to_.add("waits for a scope, and so for ");
            break;
        case need::resource:
            name_resource(*d.lacks, needed);
            break;
        case need::under:
        case need::buried:
            to_.add("lies on the stack of '%s' below ", rt_.seat_at(d.node.seat).report.name);
            break;
    }
    name(needed);
}

}  // namespace detail
BRAID_NAMESPACE_END
