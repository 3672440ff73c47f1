#pragma once
// Writes in plain words what a task does or waits for. Continues with the task that it waits for,
// then with the next one, and so on.

#include "core/explain/sentence.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class explanation {
public:
    /// `seat` is the calling thread's seat, or null if it has none.
    explanation(wait_room& rt, wait_seat* seat, sentence& to)
        : rt_(rt), seat_(seat), to_(to), writer_(rt, seat, to) {}

    void write(task_id id);
    /// Writes what the open task does or waits for, and does not continue with the next task.
    /// Returns true if the task waits for another task.
    bool write_step(task_id id) { return static_cast<bool>(say_first(id)) || waits_for_other_; }

private:
    struct place {
        unsigned seat = no_seat, depth = 0;  // depth 0 means that the task is on no stack
    };

    struct awaited {  // what the caller of say_of_wait() has to name
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
    /// Writes the number of a task that was found by its scope. Its creator may still take such a
    /// task back, so the task must not be held open to read its name.
    void say_number(task_id id) {
        to_.add("task #%u.%u", index_of(id.value), generation_of(id.value));
    }

    wait_room& rt_;
    wait_seat* const seat_;
    sentence& to_;
    task_writer writer_;
    bool waits_for_other_ = false;  // the text does not go on to the task that it waits for
};

}  // namespace detail
BRAID_NAMESPACE_END
