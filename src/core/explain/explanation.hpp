#pragma once
// Writes for people what one task does or waits for, and follows that from one task to the next.

#include "core/explain/sentence.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class explanation {
public:
    /// `seat` is the calling thread's seat, or null if it has none.
    explanation(wait_room& rt, wait_seat* seat, sentence& to)
        : rt_(rt), seat_(seat), to_(to), writer_(rt, seat, to) {}

    void write(task_id id);
    /// Writes what that open task does, without what follows from that. Returns true if the task
    /// waits for another task.
    bool write_step(task_id id) { return static_cast<bool>(say_first(id)) || waits_for_other_; }

private:
    struct place {
        unsigned seat = no_seat, depth = 0;  // depth 0 means that it is on no stack
    };

    struct awaited {  // names that the text still lacks
        task_id task;
        const task_environment* all_of = nullptr;
    };

    task_id say_first(task_id id);
    task_id say_what_it_does(task_id id);
    place find_on_stacks(task_id id) const;
    task_id say_of_body(const place& at);
    awaited say_of_wait(const wait_record& r);
    void say_of_event(const event& e);
    void say_one_of(const task_environment& scope);
    bool says_event_of(task_id completion, const char* before);
    void say_of_completion(task_id id, bool is_held);
    task_id say_of_dependencies(task_id id);
    task_id first_child(task_id id, unsigned& others) const;
    task_id say_of_children(task_id id, task_id first, unsigned others);
    bool is_in_line(task_id id, task_id& holder);
    task_id say_holder(const resource& r);
    task_id say_of_ready(const slot& s);
    bool say_of_wait_at(const place& at, task_id& next, const char* thread = nullptr);
    void say_name(task_id id) { writer_.name({.task = id}); }
    /// Writes the number of a task that was found by its scope. Such a task may be taken back
    /// before anybody knows it, so it must not be held.
    void say_number(task_id id) {
        to_.add("task #%u.%u", index_of(id.value), generation_of(id.value));
    }

    wait_room& rt_;
    wait_seat* const seat_;
    sentence& to_;
    task_writer writer_;
    bool waits_for_other_ = false;  // it waits for a task that the text does not go on to
};

}  // namespace detail
BRAID_NAMESPACE_END
