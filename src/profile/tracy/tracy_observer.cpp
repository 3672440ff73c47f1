// Events become calls of Tracy's C interface. Only functions of it are used that versions 0.9 to
// 0.12 have alike.
#include "braid/profile/tracy.hpp"

// Tracy's package says so to who links it. Without it, Tracy has none of the functions.
#if defined(TRACY_ENABLE)
#include "profile/tracy/frames.hpp"
#include "profile/tracy/task_places.hpp"
#endif

BRAID_NAMESPACE_BEGIN
namespace profile {

#if defined(TRACY_ENABLE)

struct tracy_observer::state {
    observer* forward_to;
    tracy_task_places tasks;
};

namespace {

// Of the program and not of an observer, as Tracy itself. Neither is ever destroyed: both are
// trivial to destroy.
constinit tracy_place_table places;
constinit tracy_frames frames;

constexpr ___tracy_source_location_data place_of_waits{"wait", "wait", "", 0, 0x606060};
constexpr ___tracy_source_location_data no_memory{"task", "task", "", 0, 0};

/// The zones of a thread that have begun. Whatever ends, it is the last one that began, because
/// bodies of tasks, waits and parts of joins are calls within calls; this holds for several
/// observers at once, too.
struct open_zones {
    static constexpr unsigned most = 1024;
    unsigned depth = 0;
    TracyCZoneCtx zone[most] = {};
};
constinit thread_local open_zones own;

void begin_zone(const ___tracy_source_location_data& place) {
    const unsigned at = own.depth++;
    if (at < open_zones::most) own.zone[at] = ___tracy_emit_zone_begin(&place, 1);
}

void end_zone() {
    if (own.depth == 0) return;  // it began before anybody passed events on to this observer
    const unsigned at = --own.depth;
    if (at < open_zones::most) ___tracy_emit_zone_end(own.zone[at]);
}

const tracy_place* place_of(const tracy_task_places& tasks, const task_event& e) {
    const tracy_place* const told = tasks.of(e.task);
    return told != nullptr ? told : places.of(e.name, {});
}

}  // namespace

tracy_observer::tracy_observer(const tracy_options& options)
    : state_(std::make_unique<state>(options.forward_to)) {}

tracy_observer::~tracy_observer() { frames.end_all(this); }

void tracy_observer::on_event(const task_event& e) {
    state& s = *state_;
    if (s.forward_to != nullptr) s.forward_to->on_event(e);
    switch (e.kind) {
        case event_kind::spawned:
            if (e.facts != nullptr) s.tasks.set(e.task, places.of(e.name, e.facts->where));
            return;
        case event_kind::started: {
            const tracy_place* const place = place_of(s.tasks, e);
            return begin_zone(place != nullptr ? place->body : no_memory);
        }
        case event_kind::job_started: {
            const tracy_place* const place = place_of(s.tasks, e);
            return begin_zone(place != nullptr ? place->part : no_memory);
        }
        case event_kind::wait_begin:
            if (e.task) begin_zone(place_of_waits);
            return;
        case event_kind::wait_end:
            if (e.task) end_zone();
            return;
        case event_kind::ended:
        case event_kind::job_ended:
            return end_zone();
        case event_kind::frame_begin:
            return frames.begin(places, this, e.name, e.other.value);
        case event_kind::frame_end:
            return frames.end(places, this, e.name, e.other.value);
        case event_kind::seated:
            // Tracy copies the name. Guests come for one call and bring a name of their own.
            if (e.holder != seat_kind::guest && e.name != nullptr) ___tracy_set_thread_name(e.name);
            return;
        default:
            return;
    }
}

#else

struct tracy_observer::state {
    observer* forward_to;
};

tracy_observer::tracy_observer(const tracy_options& options)
    : state_(std::make_unique<state>(options.forward_to)) {}

tracy_observer::~tracy_observer() = default;

void tracy_observer::on_event(const task_event& e) {
    if (state_->forward_to != nullptr) state_->forward_to->on_event(e);
}

#endif

}  // namespace profile
BRAID_NAMESPACE_END
