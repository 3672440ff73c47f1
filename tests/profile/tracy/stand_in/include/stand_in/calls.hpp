#pragma once
// What the stand-in was told.

#include <tracy/TracyC.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stand_in {

enum class what { zone_begin, zone_end, frame_start, frame_end, thread_name };

struct call {
    what kind;
    unsigned thread = 0;                                   // numbered as they come
    std::uint32_t zone = 0;                                // its number, from 1
    const ___tracy_source_location_data* place = nullptr;  // zone_begin
    const char* frame = nullptr;                           // frame_start, frame_end
    std::string thread_name = {};
};

/// All since the last time, in their order.
std::vector<call> take_calls();

/// While it is off, nothing is written down and nothing allocated.
void write_down(bool on);

/// Of the calling thread.
unsigned thread_number();

}  // namespace stand_in
