#pragma once
// A wait for several tasks: which tasks these are, and which of them are done.

#include "core/wait/wait_room.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Has a record in the parking lot for each task. So each failure has a receiver, whichever task
/// the thread waits for at that moment. The records are in stack frames of the waiter, one part in
/// each frame, so that no wait has to allocate memory. A record's `done` is true if its task has
/// woken the waiter, or was already complete.
class wait_list {
public:
    static constexpr std::size_t records_a_part = 8;
    struct part {
        part* before = nullptr;
        task_ids ids;  // at most records_a_part
        wait_record records[records_a_part];
    };

    explicit wait_list(part* last);

    /// Returns the task that the wait is for now, which is not done. The wait goes through the ids
    /// from the last to the first, because a thread first takes the task that it made last.
    const wait_target& target() const { return target_; }
    const atomic<bool>& target_done() const { return at_->records[next_ - 1].done; }
    /// Continues with the next task that is not done. Returns false if all are done.
    bool advance();

    /// Returns true if `id` is one of the tasks, whether or not that task is done.
    bool has(task_id id) const;

    /// Puts a record into the parking lot for each task that is not done. If the records are in the
    /// lot already, changes only their seat and depth. Returns false if all tasks are done.
    bool enter(wait_room& rt, std::uint16_t seat, std::uint16_t depth, bool limited);
    /// Removes the records that were not woken from the lot.
    void leave(wait_room& rt);
    /// Marks all records, because the wait needs no task on its own stack; see wait_record::stays.
    void stay();

    /// Calls `f(id)` for each task that is not done until `f` returns true. Returns true if `f`
    /// did.
    template <class F>
    bool any_open(F&& f) const {
        for (const part* p = last_; p != nullptr; p = p->before) {
            for (std::size_t i = p->ids.size; i-- != 0;) {
                // relaxed: nothing that the task has written is read.
                if (!p->records[i].done.load(relaxed) && f(p->ids.data[i])) return true;
            }
        }
        return false;
    }
    /// Called after the wait. Calls `f(result)` for each task that failed during the wait, from the
    /// last id to the first. `f` becomes the owner of the result.
    template <class F>
    void take_results(F&& f) {
        for (part* p = last_; p != nullptr; p = p->before) {
            for (std::size_t i = p->ids.size; i-- != 0;) {
                if (p->records[i].result != nullptr) f(p->records[i].result);
            }
        }
    }

private:
    /// Calls `f(record, id)` for each task that is not done.
    template <class F>
    void each_left(F&& f) {
        for (part* p = last_; p != nullptr; p = p->before) {
            for (std::size_t i = 0; i < p->ids.size; ++i) {
                // acquire: pairs with wake(). If the record is done, it has the task's result.
                if (!p->records[i].done.load(acquire)) f(p->records[i], p->ids.data[i]);
            }
        }
    }
    static void move_to(wait_room& rt, wait_record& r, std::uint16_t seat, std::uint16_t depth);
    static std::uint64_t hash(task_id id) { return id.value * 0x9e37'79b9'7f4a'7c15U >> 54; }

    part* const last_;
    part* at_;
    std::size_t next_;  // one more than the current task's index in `at_`
    wait_target target_;
    bool entered_ = false;
    std::uint64_t filter_[16] = {};  // a set bit for each hash of a task; see has()
};

}  // namespace detail
BRAID_NAMESPACE_END
