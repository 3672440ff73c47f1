#pragma once
// Tasks whose body can suspend: it returns to its thread, and is called again when what it awaits
// is complete. The task goes running → waiting → ready → running, under one id. While the body sets
// up a wait, the task holds a share of its own `waits_for`, as a task does in a builder. So what it
// awaits may end at any moment. See braid/core/suspend.hpp.

#include "core/life/life_room.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct suspension;
struct resumption;
enum class awaiting : std::uint8_t;

class suspensions_room : public life_room {
public:
    using life_room::life_room;

    // ---- called by the thread that runs the body
    void begin_suspension(std::uint32_t index, const suspension& how);
    awaiting await_task(life_seat& w, std::uint32_t index, task_id awaited);
    /// Sets where the task runs from now on: on the threads of a class, or on one thread. If that
    /// thread cannot be named, go_on_at() reports this and returns false.
    void go_on_in(std::uint32_t index, task_class as);
    bool go_on_at(const life_seat& w, std::uint32_t index, thread_ref on);
    /// Called when the body has returned. From here on, another thread may run the task.
    void suspend(life_seat& w, std::uint32_t index);
    /// Called before the body is called again.
    void resume(life_seat& w, std::uint32_t index) {
        seat_counters::add(w.report.counters.resumptions);
        if (details.find(slots.at(index))->listed) unlist_suspended(index);
    }
    resumption end_suspension(std::uint32_t index);
    void shield(std::uint32_t index) {
        details.at(slots.at(index)).shielded.store(true, relaxed);  // relaxed: as in is_shielded()
    }
    /// Returns true if the task's body is cleaning up, and its awaits are not to be cancelled. See
    /// detail::shield().
    bool is_shielded(const slot& s) const {
        // relaxed: the body sets it, for the completions that it arms. Other threads may see it a
        // little late.
        return s.has(flag_detailed) && details.at(s).shielded.load(relaxed);
    }
    using life_room::cancel_waits_of;

private:
    bool holds_what_it_needs(life_seat& w, std::uint32_t index, task_id awaited);
};

}  // namespace detail
BRAID_NAMESPACE_END
