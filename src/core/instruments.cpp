// What the scheduler says about itself: events, log, durations, counts; and the chooser's choice.
#include "core/lists.hpp"
#include "core/runtime.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::tell(worker& w, event_kind kind, task_id task, task_id other, const char* name) {
    options.observer->on_event(
        {.kind = kind, .seat = w.index, .task = task, .other = other, .name = name});
}

void runtime::tell_resource(worker& w, event_kind kind, task_id task, const resource& r) {
    options.observer->on_event(
        {.kind = kind, .seat = w.index, .task = task, .name = r.name_, .object = &r});
}

/// By any thread, with a seat or without.
void runtime::tell_event(event_kind kind, const event& e) const {
    const worker* const w = bound();
    const bool in_task = w != nullptr && w->top != nullptr;
    options.observer->on_event({.kind = kind,
                                .seat = w != nullptr ? w->index : std::uint16_t{UINT16_MAX},
                                .task = in_task ? id_of(w->top->slot) : task_id{},
                                .object = &e});
}

void runtime::tell_taken(const wait_target& target) const {
    if (target.signal != nullptr && observed()) {
        tell_event(event_kind::event_taken, *target.signal);
    }
}

void runtime::tell_seated(worker& w) {
    options.observer->on_event(
        {.kind = event_kind::seated, .holder = w.kind, .seat = w.index, .name = w.name});
}

void runtime::tell_spawned(observer& to, const worker& w, const slot& s, task_id id, task_id parent,
                           const std::source_location& where, bool same_moment,
                           bool ready_now) const {
    const spawn_facts facts{.where = where,
                            .level = level_of(s),
                            .restricted = s.has(flag_direct),
                            .background = s.has(flag_background),
                            .same_moment = same_moment,
                            .stable_id = identities != nullptr ? identity(id).id : 0};
    to.on_spawn({.kind = event_kind::spawned,
                 .seat = w.index,
                 .task = id,
                 .other = parent,
                 .name = s.name,
                 .facts = &facts},
                ready_now);
}

void runtime::tell_job(worker& w, event_kind kind, task_id task, const fork_slot& job,
                       std::uint16_t from) {
    options.observer->on_event(
        {.kind = kind, .seat = w.index, .seat_from = from, .task = task, .object = &job});
}

void runtime::log(log_level level, const char* format, ...) {
    if (options.log.function == nullptr) return;
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options.log.function(options.log.user, level, text);
}

std::int64_t runtime::task_clock() const {
    return options.statistics ? active_policy::now() : active_policy::coarse_now();
}

void runtime::note_duration(worker& w, const char* name, bool quiet, std::int64_t started,
                            unsigned count) {
    const std::int64_t now = task_clock();
    const std::int64_t took = std::max<std::int64_t>(now - started - w.elsewhere, 0);
    if (options.statistics) {
        seat_counters::add(w.counters.busy_ns, static_cast<std::uint64_t>(took));
        note_type(w, name, took);
    }
    w.stamp = now;
    if (quiet || options.long_task.value <= 0 || took < options.long_task.value) return;
    if (w.kind == seat_kind::background) return;
    seat_counters::add(w.counters.long_tasks);
    if (name == nullptr) name = "";
    const double ms = static_cast<double>(took) * 1e-6;
    if (count == 1) {
        log(log_level::warning, "%s: task '%s' took %.1f ms on %s; split it, or say may_be_long",
            options.name, name, ms, w.name);
    } else {
        log(log_level::warning,
            "%s: %u tasks '%s' in a row took %.1f ms on %s, one of them perhaps most of it; split "
            "it, or say may_be_long",
            options.name, count, name, ms, w.name);
    }
}

/// Of `count` tasks of one kind in a row. The clock costs as much as all that is done for a
/// small task, so it is read after every eighth of those that take no time, and after each one as
/// soon as it moves. (A long one among them is told with their number.)
void runtime::note_durations(worker& w, const char* name, bool quiet, unsigned count) {
    if (options.long_task.value <= 0) return;
    const std::int64_t now = active_policy::coarse_now();
    const std::int64_t started = std::exchange(w.stamp, now);
    w.time_each = now == started ? std::min(w.time_each * 2, 8U) : 1;
    if (now - started >= options.long_task.value) note_duration(w, name, quiet, started, count);
    w.elsewhere = 0;
}

/// Rows are found by the address of the name first: equal texts are merged when they are read.
void runtime::note_type(worker& w, const char* name, std::int64_t ns) {
    const std::lock_guard lock(w.types_mutex);
    if (w.types == nullptr) {
        void* bytes =
            memory.allocate(sizeof(type_row) * type_rows, alignof(type_row), memory_tag::worker);
        if (bytes == nullptr) return;
        w.types = ::new (bytes) type_row[type_rows]{};
    }
    if (name == nullptr) name = "";
    const std::size_t start = (reinterpret_cast<std::uintptr_t>(name) >> 3) % type_rows;
    for (std::size_t n = 0; n < type_rows; ++n) {
        type_row& row = w.types[(start + n) % type_rows];
        if (row.name != nullptr && row.name != name) continue;
        row.name = name;
        ++row.count;
        row.total_ns += static_cast<std::uint64_t>(ns);
        row.longest_ns = std::max(row.longest_ns, static_cast<std::uint64_t>(ns));
        return;
    }
}

scheduler_statistics runtime::totals() const {
    scheduler_statistics sum;
    const unsigned count = seat_count.load(acquire);
    // Ends first, then beginnings: see seat_counters.
    for (unsigned i = 0; i < count; ++i) {
        const seat_counters& c = seats[i].load(acquire)->counters;
        sum.executed += c.executed.load(acquire);
        sum.failed += c.failed.load(acquire);
        sum.cancelled += c.cancelled.load(acquire);
    }
    for (unsigned i = 0; i < seat_count.load(acquire); ++i) {
        const seat_counters& c = seats[i].load(acquire)->counters;
        sum.created += c.created.load(acquire);
        sum.stolen += c.stolen.load(relaxed);
        sum.jobs_stolen += c.jobs_stolen.load(relaxed);
        sum.helped += c.helped.load(relaxed);
        sum.parks += c.parks.load(relaxed);
        sum.spilled += c.spilled.load(relaxed);
        sum.long_tasks += c.long_tasks.load(relaxed);
    }
    sum.refused = refused.load(relaxed);
    sum.wakes = wakes.load(relaxed);
    sum.reserves_started = reserves_started.load(relaxed);
    sum.reserves_refused = reserves_refused.load(relaxed);
    sum.unobserved_exceptions = unobserved.load(relaxed);
    return sum;
}

alternative runtime::identity(task_id id) const {
    const detail_block* d = detail_of(slots[index_of(id.value)]);
    return {d != nullptr ? d->stable_id : 0};
}

namespace {

/// As direct_task() does: a thread for which there seems to be a task does not sleep.
void note_no_masked_task(runtime& rt, const worker& w) {
    const std::lock_guard lock(rt.masked.mutex);
    for (std::uint32_t i = rt.masked.first; i != no_index; i = rt.slots[i].next.load(relaxed)) {
        if (rt.may_run_on(rt.slots[i], w)) return;
    }
    // relaxed: set again, under the lock, by whoever appends.
    rt.masked_for.fetch_and(~w.mask, relaxed);
}

}  // namespace

/// Of the ready tasks that the seat may run and that are `wanted`, the chooser's pick among those
/// of the highest level. One thread runs at a time: what is listed is there when it is claimed.
task_id runtime::choose_ready(worker& w, id_test wanted) {
    constexpr unsigned limit = 256;
    task_id list[limit];
    alternative names[limit];
    unsigned count = 0;
    const auto add = [&](std::uint64_t entry) {
        if (count != limit && wanted(entry)) {
            list[count] = {entry};
            names[count++] = identity({entry});
        }
        return false;
    };
    const auto add_from = [&](inbox& tasks, unsigned level) {
        const std::lock_guard lock(tasks.mutex);
        for (std::uint32_t i = tasks.first; i != no_index; i = slots[i].next.load(relaxed)) {
            if (may_run_on(slots[i], w) && level_of(slots[i]) == level) add(id_of(i).value);
        }
    };
    const unsigned seat_limit = seat_count.load(acquire);
    for (unsigned level = level_count; level-- != 0 && count == 0;) {
        add_from(w.box, level);
        add_from(masked, level);
        for (unsigned i = 0; i < seat_limit; ++i) {
            seats[i].load(acquire)->ready[level].claim_oldest_if(add, SIZE_MAX);
        }
        const std::lock_guard lock(spilled[level].mutex);
        for (std::uint32_t i = spilled[level].first; i != no_index;
             i = slots[i].next.load(relaxed)) {
            add(id_of(i).value);
        }
    }
    if (count == 0) {
        note_no_masked_task(*this, w);
        return {};
    }
    const task_id chosen = list[turn->choose(decision_kind::next_task, names, count)];
    take_out(chosen);
    return chosen;
}

/// Out of whatever queue it lies in.
void runtime::take_out(task_id id) {
    const auto is_it = [&](std::uint64_t entry) { return entry == id.value; };
    const auto taken_from = [&](inbox& tasks) {
        const std::lock_guard lock(tasks.mutex);
        return take_first(tasks, [&](std::uint32_t i) { return id_of(i) == id; }) != no_index;
    };
    const unsigned seat_limit = seat_count.load(acquire);
    for (unsigned i = 0; i < seat_limit; ++i) {
        if (taken_from(seats[i].load(acquire)->box)) return;
    }
    if (taken_from(masked)) return;
    for (unsigned level = 0; level < level_count; ++level) {
        bool taken = taken_from(spilled[level]);
        for (unsigned i = 0; !taken && i < seat_limit; ++i) {
            taken = seats[i].load(acquire)->ready[level].claim_oldest_if(is_it, SIZE_MAX) != 0;
        }
        if (!taken) continue;
        if (level == static_cast<unsigned>(priority_level::high)) high_ready.fetch_sub(1, relaxed);
        return;
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
