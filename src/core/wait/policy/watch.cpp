// A policy: a wait watches for a while what runs elsewhere before it sleeps. Asked for by
// fanout.2x20.cold, whose caller waits for one body of 20 µs on another core: to be woken takes
// longer than most tasks. See docs/design/policies.md.
#include "core/wait/wait_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Longer while a core is free: what is awaited may run there.
std::int64_t wait_room::end_of_watch() const {
    constexpr std::int64_t watch_ns = 50'000, short_watch_ns = 12'000;
    if (serial() != nullptr || options().idle == parking::power) return -1;
    const bool core_free = active_workers(relaxed) < cores();
    return active_policy::now() + (core_free ? watch_ns : short_watch_ns);
}

}  // namespace detail
BRAID_NAMESPACE_END
