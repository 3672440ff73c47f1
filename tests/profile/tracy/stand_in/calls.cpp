#include <stand_in/calls.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace stand_in {
namespace {

std::mutex mutex;
std::vector<call> calls;
std::atomic<bool> writes{true};
std::atomic<std::uint32_t> zones{0};
std::atomic<unsigned> threads{0};

void add(call c) {
    if (!writes) return;
    const std::lock_guard lock(mutex);
    c.thread = thread_number();
    calls.push_back(std::move(c));
}

}  // namespace

unsigned thread_number() {
    thread_local const unsigned own = ++threads;
    return own;
}

std::vector<call> take_calls() {
    const std::lock_guard lock(mutex);
    return std::exchange(calls, {});
}

void write_down(bool on) { writes = on; }

}  // namespace stand_in

using stand_in::what;

TracyCZoneCtx ___tracy_emit_zone_begin(const ___tracy_source_location_data* srcloc, int active) {
    const std::uint32_t zone = ++stand_in::zones;
    stand_in::add({.kind = what::zone_begin, .zone = zone, .place = srcloc});
    return {zone, active};
}
void ___tracy_emit_zone_end(TracyCZoneCtx ctx) {
    stand_in::add({.kind = what::zone_end, .zone = ctx.id});
}
void ___tracy_emit_frame_mark_start(const char* name) {
    stand_in::add({.kind = what::frame_start, .frame = name});
}
void ___tracy_emit_frame_mark_end(const char* name) {
    stand_in::add({.kind = what::frame_end, .frame = name});
}
void ___tracy_set_thread_name(const char* name) {
    stand_in::add({.kind = what::thread_name, .thread_name = name});
}
