#pragma once
// What a recorder keeps of one thread: its ring, and what is known from one event to the next.

#include "base/platform/thread_switches.hpp"
#include "profile/record_ring.hpp"
#include "profile/type_table.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// In the ring: a `started` that was made ready at that moment by `other`; an `ended` that
/// completed its task.
inline constexpr std::uint8_t ring_joined = 0x80;

struct recorded_thread {
    recorded_thread(std::size_t capacity, type_table& all)
        : ring(capacity), types(all), area(platform::own_thread_area()), flag(area) {}

    // ---- the thread itself
    record_ring ring;
    type_cache types;
    platform::thread_area* const area;
    const platform::switch_flag flag;
    std::uint32_t run = 0;       // the capture that the rest is of
    std::uint64_t stamp = 0;     // ticks of the last record
    record_kind last = {};       // its kind
    bool failed = false;         // the body that ends next has thrown
    unsigned depth = 0;          // bodies on the stack
    std::uint64_t switched = 0;  // one bit for each of them
    platform::switch_counts counts;
    record* held = nullptr;  // written into the ring, and not handed on yet

    // ---- the recorder's thread
    lane about;                   // without records; guarded by the recorder's lock
    bool changed = true;          // tell of it again; the same
    bool announced = false;       // in this capture
    std::uint32_t number = 0;     // in this capture
    platform::switch_log log;     // opened once
    std::vector<record> waiting;  // switches that came after the records were taken
    std::vector<record> taken;
    std::uint64_t dropped_before = 0, pushed_before = 0;
    std::uint64_t written_up_to = 0;  // ns

    std::uint16_t core() const {
        return area != nullptr ? static_cast<std::uint16_t>(area->core) : record::no_core;
    }
};

}  // namespace profile
BRAID_NAMESPACE_END
