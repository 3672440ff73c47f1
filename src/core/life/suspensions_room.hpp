#pragma once
// Bodies that give their thread back: running → waiting → ready → running, under one id. Armed as a
// builder arms a task, with a count of its own, so that what is awaited may end at any moment. See
// braid/core/suspend.hpp.

#include "core/life/life_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class suspensions_room : public life_room {
public:
    using life_room::life_room;

    /// By the thread that runs the body.
    void begin_suspension(std::uint32_t index);
    bool await_task(life_seat& w, std::uint32_t index, task_id awaited);
    /// The body has returned. From here on another thread may run the task.
    void suspend(life_seat& w, std::uint32_t index);
    /// Null: nothing failed. `cancelled`: see resumption.
    std::exception_ptr take_awaited_failure(std::uint32_t index, bool& cancelled);
};

}  // namespace detail
BRAID_NAMESPACE_END
