// A batch: one task with many bodies. There is no slot for each body but one ticket for all:
// whoever takes it puts another one into the queue, then runs bodies, by an index that all count
// up.
#include "braid/core/scope.hpp"
#include "braid/core/spawn_batch.hpp"
#include "core/attention.hpp"
#include "core/permissions.hpp"
#include "core/runtime.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::spawn_members(worker& w, const batch_bodies& all) {
    const std::uint32_t batch = w.top->slot;
    const slot& p = slots[batch];
    // A chooser decides about each body, an observer sees each, and inboxes hold them one by one.
    if (turn || options.observer != nullptr || p.has(flag_background | flag_direct)) {
        for (std::size_t i = 0; i < all.count; ++i) {
            const draft d = open(w, member_options(batch), draft_kind::posted);
            if (d.storage == nullptr) return;
            ::new (d.storage) batch_member{all.shared, i};
            publish(w, d, all.run);
        }
        return;
    }
    if (all.count == 0) return;
    seat_counters::add(w.counters.created, all.count);
    count_creation(w, p.environment.load(relaxed), all.count);
    // Out of memory, and the handler was told: then all bodies run here, none is lost.
    if (!push_ticket(w, batch, all)) run_members(w, batch, batch, all);
}

/// One ticket lies in a queue while bodies are left: bit 63 of the common index says that one does.
bool runtime::push_ticket(worker& w, std::uint32_t batch, const batch_bodies& all) {
    // relaxed, all of them: the index orders nothing, tickets are handed on by their queues.
    if ((all.next->fetch_or(batch_bodies::queued, relaxed) & batch_bodies::queued) != 0)
        return true;
    const std::uint32_t index = slots.take(w.slots);
    if (index == no_index) {
        all.next->fetch_and(~batch_bodies::queued, relaxed);
        return false;
    }
    slot& p = slots[batch];
    slot& s = slots[index];
    const std::uint32_t generation = s.generation() + 1;
    ::new (static_cast<void*>(s.storage)) batch_bodies(all);
    s.name = p.name;
    s.module = p.module;
    s.flags.store(flag_posted | flag_ticket |
                      (p.flags.load(relaxed) & (flag_never_waits | flag_quiet | flag_category)),
                  relaxed);
    s.level.store(p.level.load(relaxed), relaxed);
    s.environment.store(p.environment.load(relaxed), relaxed);
    link_parent(s, batch);
    open_words(s.open, s.permissions, generation, 1);
    // relaxed: the caller holds a share of its own, so the count cannot reach 0 meanwhile.
    p.open.fetch_add(1, relaxed);
    enqueue(w, index);
    return true;
}

void runtime::run_ticket(worker& w, std::uint32_t index) {
    slot& s = slots[index];
    const batch_bodies all = *std::launder(reinterpret_cast<batch_bodies*>(s.storage));
    const std::uint32_t batch = s.parent.load(relaxed);
    all.next->fetch_and(~batch_bodies::queued, relaxed);
    // For whoever is idle: this thread takes one body itself.
    if (all.next->load(relaxed) + 1 < all.count) push_ticket(w, batch, all);
    run_members(w, index, batch, all);
    s.environment.store(nullptr, relaxed);  // its bodies are counted, it is not
    complete(w, index);
}

void runtime::run_members(worker& w, std::uint32_t shown_as, std::uint32_t batch,
                          const batch_bodies& all) {
    const slot& p = slots[batch];
    const bool quiet = p.has(flag_quiet);
    const bool timed = options.long_task.value > 0 || options.statistics;
    const unsigned level = level_of(p);
    const task_environment* environment = p.environment.load(relaxed);
    running_task body{shown_as, w.top, {}, task_context(*this, w, id_of(batch))};
    const std::int64_t outer_elsewhere = w.elsewhere;
    const std::int64_t began = options.statistics ? active_policy::now() : w.stamp;
    std::uint64_t executed = 0, failed = 0, cancelled = 0;
    slots[shown_as].runner.store(w.index, relaxed);
    running_task* const outer = begin_body(w, body, id_of(shown_as));
    while (true) {
        const std::uint64_t i = all.next->fetch_add(1, relaxed) & ~batch_bodies::queued;
        if (i >= all.count) break;
        if (state.load(relaxed) == life::discarding || scope_cancelled(p)) {
            if (cancelled++ == 0) {
                record_failure(w, batch, nullptr, static_cast<std::uint32_t>(i + 1));
            }
            continue;
        }
        w.elsewhere = 0;
        const std::int64_t started = options.statistics ? active_policy::now() : w.stamp;
        batch_member member{all.shared, i};
        all.run(&member, &body.context);
        if (timed) note_duration(w, p.name, quiet, started);
        if (body.error == nullptr) {
            ++executed;
        } else {
            ++failed;
            record_failure(w, batch, std::exchange(body.error, nullptr),
                           static_cast<std::uint32_t>(i + 1));
        }
        if (wanted_elsewhere(*this, w, level) && push_ticket(w, batch, all)) break;
    }
    end_body(w, body, outer);
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    seat_counters::add(w.counters.executed, executed);
    if (failed != 0) seat_counters::add(w.counters.failed, failed);
    if (cancelled != 0) seat_counters::add(w.counters.cancelled, cancelled);
    if (environment == nullptr || environment->within == nullptr) return;
    scope& in = *environment->within;
    if (failed != 0) count_end(w, in, end_of_task::failed, failed);
    if (cancelled != 0) count_end(w, in, end_of_task::cancelled, cancelled);
    if (executed != 0) count_end(w, in, end_of_task::executed, executed);
}

task_options runtime::member_options(std::uint32_t parent) const {
    const slot& p = slots[parent];
    task_options o{.name = p.name, .parent = id_of(parent)};
    const std::uint8_t level = p.level.load(relaxed);
    o.priority = static_cast<priority_level>(level_of(p));
    o.category = p.has(flag_category) ? level : std::uint8_t{0};
    o.runs_as = p.has(flag_background) ? task_class::background : task_class::frame;
    if (const detail_block* d = detail_of(p); d != nullptr && p.has(flag_direct)) {
        o.on = {d->seat.load(relaxed), d->visit};
        o.workers = d->workers;
    }
    o.environment = p.environment.load(relaxed);
    o.never_waits = p.has(flag_never_waits);
    o.may_be_long = p.has(flag_quiet);
    o.module = p.module;
    return o;
}

}  // namespace detail
BRAID_NAMESPACE_END
