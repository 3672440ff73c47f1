#pragma once
// The tasks of one wait for several, and how far it has come.

#include "core/wait/wait_room.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Each task has a record, so that a failure has a receiver whichever task the thread looks after
/// at that moment. The records lie in frames of the waiter, a part in each, so that no wait needs
/// memory. `done` of a record says that the wait was woken for its task, or had nothing to wait
/// for.
class wait_list {
public:
    static constexpr std::size_t records_a_part = 8;
    struct part {
        part* before = nullptr;
        task_ids ids;  // at most records_a_part
        wait_record records[records_a_part];
    };

    explicit wait_list(part* last);

    /// The wait is for this one task now, which is not done. The order is from the last id to the
    /// first, since what a thread made last lies where it takes it first.
    const wait_target& target() const { return target_; }
    const atomic<bool>& target_done() const { return at_->records[next_ - 1].done; }
    /// Continues with the next task that is not done. Returns false if all are done.
    bool advance();

    /// Returns true for one of the tasks, also if it is done.
    bool has(task_id id) const;

    /// Registers with each task that is not done, or says for which seat the wait is from now on.
    /// Returns false if all are done.
    bool enter(wait_room& rt, std::uint16_t seat, std::uint16_t depth, bool limited);
    /// Takes out of the lot what was not woken.
    void leave(wait_room& rt);
    /// The wait needs nothing that lies on its own stack; see wait_record::stays.
    void stay();

    /// Calls `f(id)` for each task that is not done until it returns true, and returns whether it
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
    /// After the wait. Calls `f(result)` for each task that failed meanwhile, from the last id to
    /// the first. `f` owns the result.
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
                // acquire: pairs with wake(). If it is done the record has the task's result.
                if (!p->records[i].done.load(acquire)) f(p->records[i], p->ids.data[i]);
            }
        }
    }
    static void move_to(wait_room& rt, wait_record& r, std::uint16_t seat, std::uint16_t depth);
    static std::uint64_t hash(task_id id) { return id.value * 0x9e37'79b9'7f4a'7c15U >> 54; }

    part* const last_;
    part* at_;
    std::size_t next_;  // one more than the index in that part
    wait_target target_;
    bool entered_ = false;
    std::uint64_t filter_[16] = {};  // a bit for the hash of each task
};

}  // namespace detail
BRAID_NAMESPACE_END
