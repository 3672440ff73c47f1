// The recorder's side that is not in a hurry: starting, emptying rings, writing, stopping.
#include "profile/recorder_state.hpp"

#include <algorithm>
#include <cerrno>

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

status recorder::state::begin(recorder& self, capture_sink& to) {
    recorder* nobody = nullptr;
    // release: pairs with the acquire in active().
    if (!active_.compare_exchange_strong(nobody, &self, acq_rel)) {
        return {EBUSY, nobody == &self ? "this recorder records already; stop() it first"
                                       : "another recorder records; stop() it first"};
    }
    const std::lock_guard lock(capture);
    sink = &to;
    sink_open = true;
    writer = {};
    writer.header(static_cast<std::uint64_t>(platform::calendar_ns()));
    writer.info("switches", name_of(self.switches()));
    const clock_pair now = read_both_clocks();
    clock = {};
    clock.begin(now);
    writer.clock(now);
    types_written = 1;
    lanes = 0;
    records = dropped = bytes = 0;
    {
        const std::lock_guard threads_lock(threads_mutex);
        for (recorded_thread& t : threads) {
            t.ring.pop([](std::span<const record>) {});  // of a capture before
            t.announced = false;
            t.waiting.clear();
            t.dropped_before = t.ring.dropped();
            t.written_up_to = 0;
        }
    }
    hand_on();
    ends = false;
    // release: pairs with the acquire in own_thread(); what threads keep is ready.
    run.store(++last_run, release);
    thread = std::thread([this] { work(); });
    return {};
}

void recorder::state::work() {
    std::unique_lock lock(capture);
    const std::chrono::nanoseconds turn(options.flush_every.value);
    bool last = false;
    while (!last) {
        last = woken.wait_for(lock, turn, [&] { return ends; });
        flush(last);
    }
}

void recorder::state::flush(bool last) {
    const std::int64_t until = last ? INT64_MAX : platform::monotonic_ns();
    now_there_.clear();
    {
        // A deque: what is there stays where it is while others are added.
        const std::lock_guard lock(threads_mutex);
        for (recorded_thread& t : threads) now_there_.push_back(&t);
    }
    for (recorded_thread* t : now_there_) take(*t);
    const clock_pair now = read_both_clocks();
    clock.flush(now);
    writer.clock(now);
    // After the records were taken: their types are there.
    types_written = types.each_from(types_written, [&](const record_type& type) {
        writer.type(type.name, type.file, type.line);
    });
    for (recorded_thread* t : now_there_) write(*t, until);
    if (last) writer.done(clock.ns_of(now.ticks));
    hand_on();
}

namespace {

/// What shared a place in the ring.
void expand(record r, std::vector<record>& to) {
    if ((r.flags & ring_joined) == 0) return to.push_back(r);
    r.flags &= static_cast<std::uint8_t>(~ring_joined);
    record with = r;
    with.aux = 0;
    with.flags = 0;
    if (r.kind == record_kind::ended) {
        with.kind = record_kind::completed;
        to.insert(to.end(), {r, with});
    } else {
        with.kind = record_kind::ready;
        r.other = 0;
        to.insert(to.end(), {with, r});
    }
}

}  // namespace

/// First the records, then the switches: none of those that lie between the records is missing.
void recorder::state::take(recorded_thread& t) {
    t.taken.clear();
    t.ring.pop([&](std::span<const record> some) {
        for (const record& r : some) expand(r, t.taken);
    });
    platform::switch_log::entry e{};
    while (t.log.next(e)) {
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
    const std::uint64_t dropped_now = t.ring.dropped();
    const auto later = std::find_if(t.waiting.begin(), t.waiting.end(), [&](const record& r) {
        return r.time > static_cast<std::uint64_t>(until);
    });
    if (t.taken.empty() && later == t.waiting.begin() && dropped_now == t.dropped_before) return;
    {
        const std::lock_guard lock(threads_mutex);
        if (!t.announced) t.number = lanes++;
        if (!t.announced || t.changed) writer.lane(t.number, t.about);
        t.announced = true;
        t.changed = false;
    }
    const auto in_order = [](std::vector<record>& all, std::size_t from, std::uint64_t up_to) {
        for (std::size_t i = from; i < all.size(); ++i) {
            all[i].time = up_to = std::max(up_to, all[i].time);
        }
        return up_to;
    };
    for (record& r : t.taken) r.time = clock.ns_of(r.time);
    in_order(t.taken, 0, 0);
    const std::size_t middle = t.taken.size();
    for (auto r = t.waiting.begin(); r != later; ++r) {
        r->time = clock.ns_since_begin(static_cast<std::int64_t>(r->time));
        t.taken.push_back(*r);
    }
    in_order(t.taken, middle, 0);
    t.waiting.erase(t.waiting.begin(), later);
    std::inplace_merge(t.taken.begin(), t.taken.begin() + static_cast<std::ptrdiff_t>(middle),
                       t.taken.end(),
                       [](const record& a, const record& b) { return a.time < b.time; });
    t.written_up_to = in_order(t.taken, 0, t.written_up_to);
    writer.records(t.number, t.taken, dropped_now - t.dropped_before);
    records += t.taken.size();
    dropped += dropped_now - std::exchange(t.dropped_before, dropped_now);
}

void recorder::state::hand_on() {
    const std::vector<std::byte> chunks = writer.take();
    bytes += chunks.size();
    if (sink_open) sink_open = sink->take(chunks);
}

}  // namespace profile
BRAID_NAMESPACE_END
