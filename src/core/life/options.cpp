// These functions check and read the options of a task.
#include "braid/core/resource.hpp"
#include "braid/core/scope.hpp"
#include "core/life/life_room.hpp"
#include "core/slots/words.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

/// Puts each resource into the list once, sorted by id. Returns how many there are.
std::uint8_t fill(resource_list& list, const std::initializer_list<resource*>& uses) {
    resource** end = list.of;
    for (resource* r : uses) {
        // A resource is listed once: a task that acquired it twice would wait for itself.
        if (std::find(list.of, end, r) == end) *end++ = r;
    }
    // Tasks acquire resources in the order of ids, so two tasks never hold what the other lacks.
    std::sort(list.of, end, [](const resource* a, const resource* b) { return a->id() < b->id(); });
    return static_cast<std::uint8_t>(end - list.of);
}

}  // namespace

bool life_room::may_be_named(const seats_seat& w) {
    return w.kind != seat_kind::guest && w.kind != seat_kind::background &&
           w.kind != seat_kind::source;
}

bool life_room::fill_detail(life_seat& w, slot& s, const task_options& o, draft_kind kind) {
    detail_block* d = details.make(w.details, s);
    if (d == nullptr) return false;
    d->resumable = kind == draft_kind::resumable;
    d->holders.store(kind == draft_kind::valued || d->resumable ? 2 : 1, relaxed);
    d->seat.store(o.on.seat, relaxed);
    d->visit = o.on.visit;
    d->direct.store(o.on || o.workers != 0, relaxed);
    d->workers = o.workers;
    if (o.uses.size() != 0) {
        resource_list* const list = details.make_resource_list(w.details, *d);
        if (list == nullptr) return false;
        d->resource_count = fill(*list, o.uses);
    }
    if (identified()) d->stable_id = next_identity(w);
    return true;
}

bool life_room::good_options(const runtime& self, const task_options& o) const {
    const assertion_handler& misuse = options.assertion;
    for (resource* const r : o.uses) {
        if (!BRAID_EXPECT(misuse, r != nullptr && &r->internals().rt == &self,
                          "`uses` holds a resource of another scheduler, or none")) {
            return false;
        }
    }
    return BRAID_EXPECT(misuse, o.within == nullptr || &o.within->internals().rt == &self,
                        "`within` is a scope of another scheduler") &&
           BRAID_EXPECT(misuse, o.uses.size() <= resource_list::most,
                        "a task may use at most 8 resources") &&
           BRAID_EXPECT(misuse, o.priority <= priority_level::high,
                        "the priorities of tasks are low, normal and high") &&
           BRAID_EXPECT(misuse, !o.on || o.on.of == number_in_refs(),
                        "`on` names a thread of another scheduler") &&
           BRAID_EXPECT(misuse, !o.on || o.on.seat < seat_count(),
                        "`on` must come from worker_thread() or a registered main_thread") &&
           BRAID_EXPECT(misuse, !o.on || may_be_named(seat_at(o.on.seat)),
                        "`on` cannot name a foreign or background thread") &&
           BRAID_EXPECT(misuse, !o.on || is_present(o.on),
                        "the thread that `on` names has left; keep its main_thread alive");
}

std::uint8_t life_room::level_of(const task_options& o) {
    return o.category != 0 ? o.category : static_cast<std::uint8_t>(o.priority);
}

std::uint16_t life_room::flags_of(const task_options& o) {
    std::uint16_t flags = 0;
    if (o.never_waits) flags |= flag_never_waits;
    if (o.may_be_long) flags |= flag_quiet;
    if (o.runs_as == task_class::background) flags |= flag_background;
    if (o.category != 0) flags |= flag_category;
    if (o.on || o.workers != 0 || o.uses.size() != 0) flags |= flag_detailed;
    return flags;
}

}  // namespace detail
BRAID_NAMESPACE_END
