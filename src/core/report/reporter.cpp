#include "core/report/reporter.hpp"

#include "core/report/policies.hpp"
#include "core/report/policy/seldom_clock.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constinit const std::atomic<std::uint32_t> never{0}, always{1};

}  // namespace

scheduler_options default_handlers::complete(scheduler_options o) {
    if (o.log.function == nullptr) o.log = standard_error_.handler();
    log_ = o.log;
    if (o.assertion.function == nullptr) o.assertion = {&log_misuse, &log_};
    return o;
}

reporter::reporter(const scheduler_options& options, accounted_memory& memory, bool identified)
    : listens_(options.observer != nullptr ? &options.observer->listening() : &never),
      watches_(identified || options.statistics || options.deadlock.lines ? &always : listens_),
      plain_ways_(!identified && !options.statistics),
      statistics_(options.statistics),
      long_task_ns_(std::max<std::int64_t>(options.long_task.value, 0)),
      options_(options),
      memory_(memory) {}

void reporter::event(std::uint16_t seat, event_kind kind, task_id task, task_id other,
                     const char* name) const {
    watcher().on_event({.kind = kind, .seat = seat, .task = task, .other = other, .name = name});
}

void reporter::branch(std::uint16_t seat, event_kind kind, task_id task, const fork_slot& branch,
                      std::uint16_t from) const {
    watcher().on_event(
        {.kind = kind, .seat = seat, .seat_from = from, .task = task, .object = &branch});
}

void reporter::forked(std::uint16_t seat, task_id task, const fork_slot& branch,
                      std::uint64_t stable_id) const {
    const spawn_facts facts{.where = {}, .stable_id = stable_id};
    watcher().on_event({.kind = event_kind::forked,
                        .seat = seat,
                        .task = task,
                        .object = &branch,
                        .facts = stable_id != 0 ? &facts : nullptr});
}

void reporter::resource(std::uint16_t seat, event_kind kind, task_id task, const void* resource,
                        const char* name) const {
    watcher().on_event(
        {.kind = kind, .seat = seat, .task = task, .name = name, .object = resource});
}

void reporter::seated(std::uint16_t seat, seat_kind kind, const report_part& w) const {
    watcher().on_event({.kind = event_kind::seated, .holder = kind, .seat = seat, .name = w.name});
}

void reporter::log(log_level level, const char* format, ...) const {
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options_.log.function(options_.log.user, level, text);
}

std::int64_t reporter::task_clock() const {
    return statistics_ ? active_policy::now() : active_policy::coarse_now();
}

void reporter::note_duration(report_part& w, const char* name, bool quiet, std::int64_t started,
                             unsigned count) {
    const std::int64_t now = task_clock();
    const std::int64_t took = std::max<std::int64_t>(now - started - w.elsewhere, 0);
    if (statistics_) {
        seat_counters::add(w.counters.busy_ns, static_cast<std::uint64_t>(took));
        note_type(w, name, took);
    }
    w.stamp = now;
    if (quiet || !w.warns || long_task_ns_ == 0 || took < long_task_ns_) return;
    seat_counters::add(w.counters.long_tasks);
    if (name == nullptr) name = "";
    const double ms = static_cast<double>(took) * 1e-6;
    if (count == 1) {
        log(log_level::warning, "%s: task '%s' took %.1f ms on %s; split it, or say may_be_long",
            options_.name, name, ms, w.name);
    } else {
        log(log_level::warning,
            "%s: %u tasks '%s' in a row took %.1f ms on %s, one of them perhaps most of it; split "
            "it, or say may_be_long",
            options_.name, count, name, ms, w.name);
    }
}

void reporter::note_durations(report_part& w, const char* name, bool quiet, unsigned count) {
    if (long_task_ns_ == 0) return;
    const std::int64_t now = active_policy::coarse_now();
    const std::int64_t started = std::exchange(w.stamp, now);
    if constexpr (policies::seldom_clock) w.time_each = tasks_a_look(w.time_each, now != started);
    if (now - started >= long_task_ns_) note_duration(w, name, quiet, started, count);
    w.elsewhere = 0;
}

namespace {

std::size_t place_of(const char* name) {
    return (reinterpret_cast<std::uintptr_t>(name) >> 3) % type_rows;
}

void add(type_row& to, const type_row& more) {
    to.name = more.name;
    to.count += more.count;
    to.total_ns += more.total_ns;
    to.longest_ns = std::max(to.longest_ns, more.longest_ns);
}

/// Merges rows whose names have the same text. A text may be at several addresses, for example
/// after a module was loaded again. Returns true if a row is free now.
bool merge_equal_names(type_row* rows) {
    type_row before[type_rows];
    std::copy_n(rows, type_rows, before);
    std::fill_n(rows, type_rows, type_row{});
    std::size_t left = 0;
    for (type_row& row : before) {
        if (row.name == nullptr) continue;
        for (type_row& other : before) {
            if (&other <= &row || other.name == nullptr) continue;
            if (std::strcmp(other.name, row.name) != 0) continue;
            add(row, other);
            other.name = nullptr;
        }
        std::size_t at = place_of(row.name);
        while (rows[at].name != nullptr) at = (at + 1) % type_rows;
        rows[at] = row;
        ++left;
    }
    return left != type_rows;
}

}  // namespace

void reporter::release(report_part& w) {
    const locked lock(w.types_mutex);
    if (w.types == nullptr) return;
    memory_.release(w.types, sizeof(type_row) * type_rows, alignof(type_row), memory_tag::worker);
    w.types = nullptr;
}

/// Adds a duration to the name's row. A row is found by the address of its name. Rows with equal
/// texts are merged when statistics are read, and when no row is free.
void reporter::note_type(report_part& w, const char* name, std::int64_t ns) {
    const locked lock(w.types_mutex);
    if (w.types == nullptr) {
        void* bytes =
            memory_.allocate(sizeof(type_row) * type_rows, alignof(type_row), memory_tag::worker);
        if (bytes == nullptr) return;
        w.types = ::new (bytes) type_row[type_rows]{};
    }
    if (name == nullptr) name = "";
    const auto took = static_cast<std::uint64_t>(ns);
    do {
        for (std::size_t n = 0; n < type_rows; ++n) {
            type_row& row = w.types[(place_of(name) + n) % type_rows];
            if (row.name == nullptr || row.name == name) return add(row, {name, 1, took, took});
        }
    } while (merge_equal_names(w.types));
}

}  // namespace detail
BRAID_NAMESPACE_END
