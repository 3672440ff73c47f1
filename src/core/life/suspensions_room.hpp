#pragma once
// Bodies that give their thread back: running → waiting → ready → running, under one id. Armed as a
// builder arms a task, with a count of its own, so that what is awaited may end at any moment. See
// braid/core/suspend.hpp.

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

    // ---- by the thread that runs the body
    void begin_suspension(std::uint32_t index, const suspension& how);
    awaiting await_task(life_seat& w, std::uint32_t index, task_id awaited);
    /// Where the task goes on from now on. False, and reported: it cannot.
    bool go_on_in(std::uint32_t index, task_class as);
    bool go_on_at(std::uint32_t index, thread_ref on);
    /// The body has returned. From here on another thread may run the task.
    void suspend(life_seat& w, std::uint32_t index);
    /// Before the body is called again.
    void resume(life_seat& w, std::uint32_t index) {
        seat_counters::add(w.counters.resumptions);
        if (detail_of(slot_at(index))->listed) unlist_suspended(index);
    }
    resumption end_suspension(std::uint32_t index);

    /// The scope was cancelled: what its tasks await, they await no longer.
    void end_waits_of(life_seat& w, const scope_state& of);

    /// Who cancels a wait may come to its list's lock when the list is gone: so it lies here.
    mutex& lock_of_waiting(const void* list) {
        return waiting_[reinterpret_cast<std::uintptr_t>(list) / 64 % shards].lock;
    }

private:
    struct alignas(64) own_line {
        mutex lock;
    };
    struct alignas(64) shard {
        mutex lock;
        std::uint32_t first BRAID_GUARDED_BY(lock) = no_index;
    };
    static constexpr unsigned shards = 16;
    /// Slots that one thread takes one after the other come in batches.
    shard& shard_of(std::uint32_t index) { return suspended_[index / 32 % shards]; }
    struct ended_wait {
        std::uint32_t index, shares;  // which the caller drops
    };
    void end_waits_in(life_seat& w, shard& in, const scope_state& of);
    std::size_t end_some_of(life_seat& w, shard& in, const scope_state& of,
                            std::span<ended_wait> some);
    void list_suspended(std::uint32_t index);
    void unlist_suspended(std::uint32_t index);
    void unlink(shard& in, detail_block& d) BRAID_REQUIRES(in.lock);
    bool holds_what_it_needs(life_seat& w, std::uint32_t index, task_id awaited);

    shard suspended_[shards];   // tasks of scopes whose wait may end early
    own_line waiting_[shards];  // of lists outside the core, by address
};

}  // namespace detail
BRAID_NAMESPACE_END
