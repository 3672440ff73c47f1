#pragma once
// The facts that form a deadlock. "A needs B" means that task A cannot be complete before task B.
// Facts are read while other threads run, from a task to the tasks that need it.
//
// F1  A fact "A needs B" stays true until B is complete, or has returned from its body. The reader
//     makes sure that neither has happened: it checks afterwards that B is still open, or it reads
//     the fact while it holds the lock of the bucket in which B's thread waits.
// F2  So if the facts of a cycle are read one after the other, all of them are true when the last
//     one is read: none of the cycle's tasks can have been complete before.
// F3  Suspended tasks are an exception: a cancellation may end their need early, and they may go on
//     in another place. So a cycle is reported only if it was read twice.

#include "core/life/completion_word.hpp"
#include "core/wait/wait_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A node stands for the end of a task, or for the return of its body.
struct need_node {
    task_id task;
    // The other members are set for a body on the stack of a waiting thread:
    std::uint64_t wait_key = 0;    // key of the wait by which the body was found
    std::uint16_t seat = no_seat;  // seat of that thread
    std::uint16_t depth = 0;       // 1 is the outermost body, 0 the end of a task
    std::uint16_t wait_depth = 0;  // depth of the body that waits

    bool is_body() const { return depth != 0; }
    bool is_same_as(const need_node& other) const {
        return task == other.task && is_body() == other.is_body();
    }
};

/// Says why one node needs another.
enum class need : std::uint8_t {
    own_body,  // a task ends after its body has returned
    child,
    after,     // it begins only after the other is complete
    awaits,    // it was suspended, and awaits the other
    waits,     // its body is in a wait for the other
    through,   // its body is in a wait for something that the other must do
    scope,     // its body is in a wait for the scope of the other
    resource,  // it needs a resource that the other's body holds
    under,     // its body is below the other's on one stack
    buried,    // like `under`, but the other runs there because no reserve thread could run it
};

inline constexpr unsigned needs_of_a_task = 10;  // the number of kinds

struct dependent {
    need_node node;
    need why = need::own_body;
    resource* lacks = nullptr;  // the resource, if `why` is need::resource
};

/// The position of a walk over the dependents of one node.
struct need_cursor {
    std::uint8_t part = 0;
    std::uint8_t resource = 0;
    std::uint32_t at = 0;
};

/// Returns true if the id is an open task's. Completions do not count: each is a part of the task
/// that awaits it.
inline bool is_open_task(const wait_room& rt, task_id id) {
    const completion_now what = state_of_completion(rt.slots.at(id).open, generation_of(id.value));
    return what == completion_now::another_task && rt.slots.is_open(id);
}

class needs {
public:
    explicit needs(wait_room& rt) : rt_(rt) {}

    /// Finds the next node that needs `of`. Returns false if there are no more.
    bool next(const need_node& of, need_cursor& cursor, dependent& found) const;
    /// Returns true if `by` still needs `of`. Adds the number of facts that it reads to `steps`.
    bool holds(const need_node& of, const dependent& by, std::uint64_t& steps) const;
    /// Calls `f()` while the body's stack cannot change. Returns false, without a call, if the
    /// body's thread is no longer in the same wait.
    template <class F>
    bool with_stack_of(const need_node& body, F&& f) const;

private:
    bool next_of_end(const need_node& of, need_cursor& cursor, dependent& found) const;
    bool next_of_body(const need_node& of, need_cursor& cursor, dependent& found) const;
    bool parent_of(task_id id, dependent& found) const;
    bool next_successor(task_id id, need_cursor& cursor, dependent& found) const;
    bool next_waiter(task_id id, need_cursor& cursor, dependent& found) const;
    bool next_scope_waiter(task_id id, need_cursor& cursor, dependent& found) const;
    bool next_in_line(const need_node& of, need_cursor& cursor, dependent& found) const;
    bool next_in_lines(const slot& s, need_cursor& cursor, dependent& found) const;
    need why_below(const need_node& below, task_id above) const;
    bool body_in_wait(const wait_record& r, dependent& found) const;
    bool may_go_on_without(const edge& e, const slot& s, task_id id) const;
    task_id shown_at(const need_node& body, unsigned depth) const {
        return {rt_.seat_at(body.seat).frames[depth - 1].task()};
    }

    wait_room& rt_;
};

template <class F>
bool needs::with_stack_of(const need_node& body, F&& f) const {
    return rt_.lot().look_at(body.wait_key, [&](const wait_record& r) {
        const bool is_it = !r.is_task && r.seat == body.seat && r.depth == body.wait_depth &&
                           shown_at(body, body.depth) == body.task;
        if (is_it) f();
        return is_it;
    });
}

}  // namespace detail
BRAID_NAMESPACE_END
