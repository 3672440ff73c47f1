#include "core/task/task_room.hpp"

#include "base/platform/platform.hpp"
#include "core/task/stable_ids.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

bool wants_identities(const scheduler_options& o) {
    return o.chooser != nullptr || (o.observer != nullptr && o.observer->wants_stable_ids());
}

}  // namespace

task_room::task_room(const scheduler_options& o)
    : options(handlers.complete(o)),
      memory(o.memory, o.memory_budget_bytes, o.out_of_memory),
      report(options, memory, wants_identities(o)),
      serial(o.chooser == nullptr
                 ? nullptr
                 : memory.make<gate>(*o.chooser, options.log, options.name, memory)),
      slots(o, memory),
      details(memory),
      edges(memory, slots, details),
      outcomes(options, memory, report, slots, details),
      identities_(wants_identities(o) ? memory.make<stable_ids>() : nullptr) {}

task_room::~task_room() {
    memory.unmake(identities_);
    memory.unmake(serial);
}

std::uint64_t task_room::next_identity(const task_seat& w) const {
    if (creator* const part = w.creating_as; part != nullptr && part->within == w.top) {
        return stable_ids::join(part->id, part->creations++);
    }
    if (w.top != nullptr) {
        detail_block* const whole = details.find(slots.at(w.top->slot));
        if (whole != nullptr && whole->stable_id != 0) {
            return stable_ids::join(whole->stable_id, whole->creations++);
        }
        return identities_->next_root("try_post");  // only try_post() tasks have no detail_block
    }
    if (w.kind != seat_kind::guest) return identities_->next_root(w.report.name);
    // Different threads use this seat one after another, so the name of the thread itself is used.
    char name[32] = {};
    platform::thread_name(name, sizeof name);
    return identities_->next_root(name);
}

void task_room::enter(task_seat& w, creator& as, std::uint64_t id) {
    as = {.id = id, .creations = 0, .within = w.top, .below = w.creating_as};
    w.creating_as = &as;
}

void task_room::leave(task_seat& w, const creator& as) { w.creating_as = as.below; }

void task_room::report_spawned(observer& to, const task_seat& w, const slot& s,
                               const creation& made) const {
    const spawn_facts facts{.where = made.where,
                            .level = slots.level_of(s),
                            .restricted = details.is_direct(s),
                            .background = s.has(flag_background),
                            .same_moment = made.same_moment,
                            .stable_id = identified() ? identity(made.id) : 0};
    to.on_spawn({.kind = event_kind::spawned,
                 .seat = w.index,
                 .task = made.id,
                 .other = made.parent,
                 .name = s.name,
                 .facts = &facts},
                made.ready_now);
}

}  // namespace detail
BRAID_NAMESPACE_END
