#pragma once
// Texts about tasks, for explanations and for reports of deadlocks. A text has memory of its own,
// so it takes none of the scheduler's memory.

#include "base/printf_format.hpp"
#include "core/explain/needs.hpp"

#include <cstdarg>
#include <cstddef>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A text of limited length that always ends with a 0. What does not fit is left out.
class sentence {
public:
    void add(const char* format, ...) BRAID_PRINTF(2, 3);
    const char* text() const { return text_; }
    std::size_t size() const { return size_; }
    bool is_full() const { return size_ == sizeof text_ - 1; }

private:
    std::size_t size_ = 0;
    char text_[2048] = {};
};

/// Keeps a task open while this object lives, so that its name stays valid. If the destructor drops
/// the task's last share, the task does not complete there: the caller must call
/// complete_held_back() later, which completes the task and may run user destructors.
class held_task {
public:
    /// Holds nothing if `seat` is null.
    held_task(wait_room& rt, wait_seat* seat, task_id id);
    ~held_task() {
        if (!held_) return;
        const bool outer = std::exchange(seat_->completing, true);
        rt_.own_work_done(*seat_, index_of(id_.value));
        seat_->completing = outer;
    }
    held_task(const held_task&) = delete;
    held_task& operator=(const held_task&) = delete;
    explicit operator bool() const { return held_; }

private:
    wait_room& rt_;
    wait_seat* const seat_;
    const task_id id_;
    bool held_ = false;
};

/// Writes about the tasks of one scheduler. `seat` is the calling thread's seat, or null if it has
/// none.
class task_writer {
public:
    task_writer(wait_room& rt, wait_seat* seat, sentence& to) : rt_(rt), seat_(seat), to_(to) {}

    /// Writes "'load a'", or "task #7.1" if there is no name, or none can be read.
    void name(const need_node& n);
    /// Writes the name of a task whose body cannot end during the call.
    void name_below_wait(task_id id) { name_in(rt_.slots.at(id), id); }
    /// Writes why a task, or a body that waits, needs `needed`, as in "waits for 'load b'".
    void need_of(const dependent& d, const need_node& needed);

private:
    void name_in(const slot& s, task_id id);
    void name_resource(const resource& lacks, const need_node& holder);

    wait_room& rt_;
    wait_seat* const seat_;
    sentence& to_;
};

}  // namespace detail
BRAID_NAMESPACE_END
