// The recorder's side that is not in a hurry: starting, emptying rings, writing, stopping.
#include "profile/recorder_state.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace profile {

clock_pair read_both_clocks() {
    clock_pair best;
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t before = platform::ticks();
        const std::int64_t ns = platform::monotonic_ns();
        const std::uint64_t after = platform::ticks();
        if (after - before >= least) continue;
        least = after - before;
        best = {before + least / 2, static_cast<std::uint64_t>(ns)};
    }
    return best;
}

namespace {
atomic<std::uint64_t> last_run{0};  // captures of this process
}

status recorder::state::begin(recorder& by, capture_sink& to, switch_level level) {
    {
        const std::lock_guard lock(capture);
        sink = &to;
        sink_open = true;
        ends = false;
        writer = {};
        writer.header(static_cast<std::uint64_t>(platform::calendar_ns()));
        writer.info("switches", name_of(level));
        writer.info("pid", std::to_string(platform::process_id()));
        const clock_pair now = read_both_clocks();
        clock = {};
        clock.begin(now);
        writer.clock(now);
        types_written = 1;
        lanes = 0;
        records = dropped = bytes = 0;
        forget_captures_before();
        hand_on();
    }
    request = {.name = "braid recorder",
               .entry = [](void* self) { static_cast<state*>(self)->work(); },
               .argument = this};
    thread = platform::start_thread(request);
    if (thread == 0) return {EAGAIN, "there is no thread for the recorder"};
    // Pages that nobody has touched take milliseconds, which no thread of a frame has.
    std::vector<std::shared_ptr<recorded_thread>> there;
    {
        const std::lock_guard lock(threads_mutex);
        there = threads;
    }
    for (const auto& t : there) give_records(*t, static_cast<std::uint32_t>(t->about.thread));
    // release: pairs with the acquire in recording_thread(); what threads keep is ready.
    run.store(last_run.fetch_add(1, relaxed) + 1, release);
    by.listen(true);
    return {};
}

void recorder::state::forget_captures_before() {
    plans.forget();
    devices_.forget();
    const std::lock_guard lock(threads_mutex);
    platform::switch_log::entry e{};
    // acquire: pairs with the end of the thread.
    std::erase_if(threads, [](const auto& t) { return t->gone.load(acquire); });
    for (const auto& t : threads) {
        t->announced = false;
        t->waiting.clear();
        t->written_up_to = 0;
        if (t->own == nullptr) continue;
        t->own->ring.pop([](std::span<const record>) {});
        while (t->own->log.next(e)) {
        }
        t->dropped_before = t->own->ring.dropped();
    }
}

void recorder::state::end(recorder& by) {
    by.listen(false);
    // relaxed: whoever sees it late writes what the next capture passes over.
    run.store(0, relaxed);
    {
        const std::lock_guard lock(capture);
        ends = true;
    }
    woken.notify_one();
    platform::join_thread(thread);
}

void recorder::state::work() {
    std::unique_lock lock(capture);
    const nanoseconds turn = std::max(options.flush_every, recorder_options::least_flush_every);
    bool last = false;
    while (!last) {
        // Not wait_for(), which would add what may be too long to add.
        const std::chrono::nanoseconds until(detail::deadline_after(active_policy::now(), turn));
        last = woken.wait_until(lock, std::chrono::steady_clock::time_point(until),
                                [&] { return ends; });
        flush(last);
    }
}

void recorder::state::flush(bool last) {
    const std::int64_t until = last ? INT64_MAX : platform::monotonic_ns();
    now_there_.clear();
    {
        const std::lock_guard lock(threads_mutex);
        for (const auto& t : threads) {
            if (t->own != nullptr) now_there_.push_back(t);
        }
        // acquire: pairs with the end of the thread; all that it wrote is taken below.
        std::erase_if(threads, [](const auto& t) { return t->gone.load(acquire); });
    }
    for (const auto& t : now_there_) take(*t);
    const std::uint32_t transfer = devices_.has_runs() ? types.intern("transfer", {}) : 0;
    const clock_pair now = read_both_clocks();
    clock.flush(now);
    writer.clock(now);
    // After the records were taken: their types are there.
    types_written = types.each_from(types_written, [&](const record_type& type) {
        writer.type(type.name, type.file, type.line);
    });
    for (const auto& t : now_there_) write(*t, until);
    write_devices(transfer);
    now_there_.clear();
    if (last) writer.done(clock.ns_of(now.ticks));
    hand_on();
}

/// What shared a place in the ring.
void recorder::state::expand(record r, std::vector<record>& to) const {
    if (r.kind == ring_graph_run) {
        const auto plan = plans.at(r.aux);
        if (plan == nullptr) return;
        const std::uint64_t moved = r.other - plan->id_offset;
        for (record one : plan->records) {
            one.time = r.time;
            one.core = r.core;
            one.task += moved;
            if (one.kind == record_kind::edge) one.other += moved;
            if (one.kind == record_kind::spawned) one.other = r.task;
            to.push_back(one);
        }
        return;
    }
    if ((r.flags & ring_joined) == 0) return to.push_back(r);
    r.flags &= static_cast<std::uint8_t>(~ring_joined);
    record with = r;
    with.aux = 0;
    with.flags = 0;
    if (r.kind == record_kind::started) {
        with.kind = record_kind::ready;
        r.other = 0;
        to.insert(to.end(), {with, r});
        return;
    }
    with.kind = r.kind == record_kind::ended ? record_kind::completed : record_kind::ready;
    with.other = 0;
    to.insert(to.end(), {r, with});
}

/// First the records, then the switches: none of those that lie between the records is missing.
void recorder::state::take(recorded_thread& t) {
    t.taken.clear();
    device_run whole;
    t.own->ring.pop([&](std::span<const record> some) {
        for (const record& r : some) {
            // A thread that saw the end of the capture before this one late wrote what is older.
            if (r.time < clock.began().ticks) continue;
            if (r.kind != ring_external) {
                expand(r, t.taken);
            } else if (t.device_parts.take(r, whole)) {
                devices_.add(whole);
            }
        }
    });
    platform::switch_log::entry e{};
    while (t.own->log.next(e)) {
        if (static_cast<std::uint64_t>(e.time) < clock.began().ns) continue;
        record r;
        r.time = static_cast<std::uint64_t>(e.time);  // of CLOCK_MONOTONIC, until it is written
        r.core = static_cast<std::uint16_t>(e.core);
        r.kind = e.out ? record_kind::switched_out : record_kind::switched_in;
        r.flags = e.preempted ? switch_preempted : 0;
        t.waiting.push_back(r);
    }
}

/// Switches after `until` wait for the records that may come before them.
void recorder::state::write(recorded_thread& t, std::int64_t until) {
    const std::uint64_t dropped_now = t.own->ring.dropped();
    const auto later = std::find_if(t.waiting.begin(), t.waiting.end(), [&](const record& r) {
        return r.time > static_cast<std::uint64_t>(until);
    });
    const bool silent =
        t.taken.empty() && later == t.waiting.begin() && dropped_now == t.dropped_before;
    {
        const std::lock_guard lock(threads_mutex);
        // A worker that sleeps all the time has a lane, too: who looks at it should see that.
        if (silent && (t.announced || t.about.kind != lane_kind::worker)) return;
        if (!t.announced) t.number = lanes++;
        if (!t.announced || t.changed) writer.lane(t.number, t.about);
        t.announced = true;
        t.changed = false;
    }
    const auto in_order = [](std::span<record> all, std::uint64_t up_to) {
        for (record& r : all) r.time = up_to = std::max(up_to, r.time);
        return up_to;
    };
    const std::span<record> switches(t.waiting.begin(), later);
    for (record& r : t.taken) r.time = clock.ns_of(r.time);
    for (record& r : switches) {
        r.time = clock.ns_since_begin(static_cast<std::int64_t>(r.time));
    }
    in_order(t.taken, 0);
    in_order(switches, 0);
    merged_.clear();
    std::merge(t.taken.begin(), t.taken.end(), switches.begin(), switches.end(),
               std::back_inserter(merged_),
               [](const record& x, const record& y) { return x.time < y.time; });
    t.waiting.erase(t.waiting.begin(), later);
    t.written_up_to = in_order(merged_, t.written_up_to);
    writer.records(t.number, merged_, dropped_now - t.dropped_before);
    records += merged_.size();
    dropped += dropped_now - std::exchange(t.dropped_before, dropped_now);
}

void recorder::state::write_devices(std::uint32_t transfer) {
    if (!devices_.has_runs()) return;
    for (device_row& row : devices_.lay(clock, types, transfer)) {
        if (row.taken.empty() && row.dropped == 0) continue;
        if (row.number == lane::no_seat) row.number = lanes++;
        if (!std::exchange(row.is_told, true)) writer.lane(row.number, row.about);
        writer.records(row.number, row.taken, row.dropped);
        records += row.taken.size();
        dropped += row.dropped;
    }
}

void recorder::state::hand_on() {
    const std::vector<std::byte> chunks = writer.take();
    bytes += chunks.size();
    if (sink_open) sink_open = sink->take(chunks);
}

}  // namespace profile
BRAID_NAMESPACE_END
