#pragma once
// What a recorder keeps of one thread: its ring, and what is known from one event to the next.

#include "base/platform/thread_switches.hpp"
#include "profile/device_lanes.hpp"
#include "profile/plan_table.hpp"
#include "profile/record_ring.hpp"

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// In the ring: a `spawned` that was ready at that moment; a `started` that was made ready at that
/// moment by `other`; an `ended` that completed its task.
inline constexpr std::uint8_t ring_joined = 0x80;

/// What a thread does until its next event: how much time that may take.
enum class pace : std::uint8_t {
    program,    // anything
    spawning,   // a task is being made: `edge` and `ready` follow at once
    scheduler,  // the next task, if there is one, is found and begun
};

/// What a thread needs from its first event in a capture on. Large, so that threads which are seen
/// and never recorded do without.
struct thread_records {
    thread_records(std::size_t capacity, type_table& all_types, plan_table& all_plans)
        : memory(capacity), ring(memory), types(all_types), plans(all_plans) {}
    std::vector<record> memory;  // touched here, so that no later record has to
    record_ring ring;
    type_cache types;
    plan_cache plans;
    platform::switch_log log;  // read by the recorder's thread
};

struct recorded_thread {
    recorded_thread() : area(platform::own_thread_area()), flag(area) {}

    // ---- the thread itself
    platform::thread_area* const area;
    const platform::switch_flag flag;
    std::uint64_t stamp = 0;     // ticks of the last record
    pace after = pace::program;  // what the thread does after it
    bool failed = false;         // the body that ends next has thrown
    std::uint32_t bodies = 0;    // started
    unsigned depth = 0;          // bodies on the stack
    std::uint64_t switched = 0;  // one bit for each of them
    platform::switch_counts counts;
    record* held = nullptr;  // written into the ring, and not handed on yet

    // ---- both
    std::unique_ptr<thread_records> own;  // made by the thread, under the recorder's lock
    atomic<bool> gone{false};             // the thread has ended

    // ---- the recorder's thread
    lane about;                   // without records; guarded by the recorder's lock
    bool changed = true;          // tell of it again; the same
    bool announced = false;       // in this capture
    std::uint32_t number = 0;     // in this capture
    std::vector<record> waiting;  // switches that came after the records were taken
    std::vector<record> taken;
    device_run_parts device_parts;
    std::uint64_t dropped_before = 0;
    std::uint64_t written_up_to = 0;  // ns

    std::uint16_t core() const {
        return area != nullptr ? static_cast<std::uint16_t>(area->core) : record::no_core;
    }
};

}  // namespace profile
BRAID_NAMESPACE_END
