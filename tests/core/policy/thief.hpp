#pragma once
// A thread that has nothing to do beside another one that has tasks and does not come to them.

#include "core/control/runtime.hpp"

#include "braid/braid.hpp"

#include <gtest/gtest.h>

namespace braid_test {

class thief_and_victim {
public:
    thief_and_victim() : rt_(scheduler_.internals()), thief_(*rt_.bound()) {
        braid::detail::seats_seat* const seat = rt_.add_seat(braid::seat_kind::worker, 0, "victim");
        EXPECT_NE(seat, nullptr);
        victim_ = &seat->whole;
        // Without a time at which the task before ended, a task would have begun with the clock.
        thief_.report.stamp = victim_->report.stamp = braid::active_policy::now();
    }

    /// The victim has no thread that would run what is left.
    ~thief_and_victim() {
        while (const braid::task_id left = take_from_victim()) run(left);
    }
    thief_and_victim(const thief_and_victim&) = delete;
    thief_and_victim& operator=(const thief_and_victim&) = delete;

    braid::detail::whole_seat& thief() { return thief_; }
    braid::task_id give_to_victim(braid::priority_level level = braid::priority_level::normal) {
        const auto at = static_cast<unsigned>(level);
        const braid::task_id id = scheduler_.spawn({.priority = level}, [] {});
        EXPECT_EQ(thief_.ready[at].pop(), id.value);
        EXPECT_TRUE(victim_->ready[at].push(id.value));
        return id;
    }
    void give_to_victim(int tasks) {
        for (int i = 0; i < tasks; ++i) give_to_victim();
    }
    braid::task_id take_from_victim() {
        return {victim_->ready[braid::detail::normal_level].steal()};
    }
    void thief_runs_one() {
        give_to_victim();
        run(take_from_victim());
    }
    void victim_runs_one() {
        give_to_victim();
        rt_.run(*victim_, take_from_victim());
    }
    /// What the thief finds. It runs it, and what it has stolen with it.
    braid::task_id found() {
        const braid::task_id id = rt_.next_task(thief_);
        if (id) run(id);
        while (const braid::task_id next{thief_.ready[braid::detail::normal_level].pop()}) {
            run(next);
        }
        return id;
    }
    void run(braid::task_id id) { rt_.run(thief_, id); }

private:
    braid::scheduler scheduler_{{.workers = 0}};
    braid::detail::runtime& rt_;
    braid::detail::whole_seat& thief_;
    braid::detail::whole_seat* victim_ = nullptr;
};

}  // namespace braid_test
