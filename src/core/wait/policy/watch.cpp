// This policy makes a wait poll for a while before it sleeps, because what it waits for may end
// soon on another core. The benchmark fanout.2x20.cold asked for it. Its caller waits for one body
// of 20 µs on another core, and waking a thread takes longer than most tasks. See
// docs/design/policies.md.
#include "core/wait/wait_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns the time until which the wait polls, or -1 if it does not poll. The wait polls longer
/// while a core is free, because the awaited task may run there.
std::int64_t wait_room::end_of_watch() const {
    constexpr std::int64_t watch_ns = 50'000, short_watch_ns = 12'000;
    if (serial != nullptr || options.idle == parking::power) return -1;
    const bool core_free = active_workers(relaxed) < cores();
    return active_policy::now() + (core_free ? watch_ns : short_watch_ns);
}

}  // namespace detail
BRAID_NAMESPACE_END
