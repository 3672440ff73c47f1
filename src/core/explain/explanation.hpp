#pragma once
// What one task does or waits for, followed from one task to the next, for people.

#include "core/explain/sentence.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class explanation {
public:
    /// `seat`: of the calling thread; null: it has none.
    explanation(wait_room& rt, wait_seat* seat, sentence& to)
        : rt_(rt), seat_(seat), to_(to), writer_(rt, seat, to) {}

    void write(task_id id);

private:
    struct place {
        unsigned seat = no_seat, depth = 0;  // 0: on no stack
    };

    task_id say_what_it_does(task_id id);
    place find_on_stacks(task_id id) const;
    task_id say_of_body(const place& at);
    task_id say_of_wait(const wait_record& r);
    task_id say_of_dependencies(task_id id);
    task_id say_of_children(task_id id);
    bool is_in_line(task_id id);
    void say_of_ready(const slot& s);
    void say_name(task_id id) { writer_.name({.task = id}); }
    /// For one that was found by its scope: it may be taken back before anybody knows it, so it
    /// must not be held.
    void say_number(task_id id) {
        to_.add("task #%u.%u", index_of(id.value), generation_of(id.value));
    }

    wait_room& rt_;
    wait_seat* const seat_;
    sentence& to_;
    task_writer writer_;
};

}  // namespace detail
BRAID_NAMESPACE_END
