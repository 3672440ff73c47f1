// The recorder's side that is in a hurry: an event becomes a record in the ring of its thread.
//
// The clock costs more than all the rest, so it is read where time has passed: when a body ends,
// when the program spawns, waits or marks something. A body starts at the time at which the one
// before it ended; each eighth has its start read, too, so that what the scheduler does in between
// is seen.
#include "base/platform/thread_end.hpp"
#include "profile/recorder_state.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

struct own_place {
    std::uint64_t serial = 0;  // of a recorder
    recorded_thread* thread = nullptr;
    std::uint64_t run = 0;  // the capture for which the thread is ready; 0: none
};

/// What the calling thread is to each recorder that has seen it.
struct kept_threads {
    std::vector<std::pair<std::uint64_t, std::shared_ptr<recorded_thread>>> all;
    platform::thread_end_step end;
#if defined(_WIN32)
    own_place place;
#endif

    void give_back() noexcept;
};
using kept_by_thread = platform::thread_owned<kept_threads>;

#if defined(_WIN32)
// Not thread_local, since give_back() writes it; see at_thread_end().
own_place& own() {
    constinit static own_place none;  // never written
    kept_threads* const kept = kept_by_thread::get();
    return kept != nullptr ? kept->place : none;
}
#else
constinit thread_local __attribute__((tls_model("initial-exec"))) own_place own_of_thread;
own_place& own() { return own_of_thread; }
#endif

void kept_threads::give_back() noexcept {
    const std::unique_ptr<kept_threads> self(this);
    own() = {};
    for (const auto& [serial, t] : all) {
        if (t->held != nullptr) t->own->ring.end_push();
        t->flag.disarm();
        // release: pairs with the acquire in flush(); it takes what is left, and forgets.
        t->gone.store(true, release);
    }
}

/// Null: the thread is at its end.
kept_threads* kept_threads_of_thread() {
    if (kept_threads* const kept = kept_by_thread::get()) return kept;
    auto made = std::make_unique<kept_threads>();
    return kept_by_thread::set(*made) ? made.release() : nullptr;
}

atomic<std::uint64_t> next_serial{1};

/// None: not recorded, see record_kind.
constexpr record_kind kind_of(event_kind kind) {
    const bool recorded =
        kind != event_kind::failed && kind != event_kind::helped && kind != event_kind::seated;
    return recorded ? static_cast<record_kind>(kind) : record_kind{};
}

constexpr std::uint32_t timed_start = 8;

lane_kind kind_of_lane(seat_kind holder) {
    switch (holder) {
        case seat_kind::worker:
            return lane_kind::worker;
        case seat_kind::main:
            return lane_kind::main;
        case seat_kind::guest:
            return lane_kind::guest;
        case seat_kind::reserve:
            return lane_kind::reserve;
        case seat_kind::background:
            return lane_kind::background;
        case seat_kind::source:
            return lane_kind::other;
    }
    return lane_kind::other;
}

/// The body that was running may have been switched out; it is asked now, because the kernel is
/// told anew for the one that comes on top, or goes on.
[[gnu::always_inline]] inline void note_switch(recorded_thread& t) {
    if (t.depth == 0 || t.depth > 64 || !t.flag.was_switched()) return;
    t.switched |= std::uint64_t{1} << (t.depth - 1);
}

[[gnu::always_inline]] inline void begin_body(recorded_thread& t) {
    note_switch(t);
    ++t.bodies;
    if (t.depth < 64) t.switched &= ~(std::uint64_t{1} << t.depth);
    ++t.depth;
    t.flag.arm();
}

/// Flags of the body's end.
[[gnu::always_inline]] inline std::uint8_t end_body(recorded_thread& t) {
    note_switch(t);
    std::uint8_t flags = t.failed ? end_failed : 0;
    t.failed = false;
    if (t.depth == 0) return flags;  // it began before the capture
    if (t.depth <= 64 && (t.switched >> (t.depth - 1) & 1) != 0) flags |= end_switched;
    // Those below were off the core, too.
    if ((flags & end_switched) != 0 && t.depth >= 2 && t.depth <= 65) {
        t.switched |= std::uint64_t{1} << (t.depth - 2);
    }
    --t.depth;
    t.depth != 0 ? t.flag.arm() : t.flag.disarm();
    return flags;
}

switch_level level_of(const platform::switch_log& log) {
    if (log.is_open()) return switch_level::exact;
    return platform::switch_flag::works() ? switch_level::count : switch_level::none;
}

}  // namespace

std::atomic<recorder*> recorder::active_{nullptr};

recorder::state::state(const recorder_options& o)
    : options(o), serial(next_serial.fetch_add(1, relaxed)) {}

recorder::recorder(const recorder_options& options) : state_(std::make_unique<state>(options)) {
    listen(false);
}
recorder::~recorder() { static_cast<void>(stop()); }

inline recorded_thread* recorder::state::thread_at_hand() const {
    // acquire: pairs with begin(); what the threads keep is ready.
    const std::uint64_t now = run.load(acquire);
    return now == own().run && now != 0 ? own().thread : nullptr;
}

inline recorded_thread* recorder::state::recording_thread() {
    if (recorded_thread* const t = thread_at_hand()) return t;
    const std::uint64_t now = run.load(acquire);  // as above
    return now != 0 ? begin_recording(now) : nullptr;
}

/// For a thread that has not been seen, or not in this capture.
[[gnu::noinline]] recorded_thread* recorder::state::begin_recording(std::uint64_t capture_run) {
    recorded_thread* const t = own().serial == serial ? own().thread : own_thread();
    if (t == nullptr) return nullptr;
    if (own().run != capture_run) begin_thread(*t);
    own().run = capture_run;
    return t;
}

void recorder::state::give_records(recorded_thread& t, std::uint32_t number) {
    {
        const std::lock_guard lock(threads_mutex);
        if (t.own != nullptr) return;
    }
    const std::size_t capacity =
        std::bit_ceil(std::clamp(options.ring_records, recorder_options::least_ring_records,
                                 recorder_options::most_ring_records));
    auto made = std::make_unique<thread_records>(capacity, types, plans);
    if (options.exact_switches) made->log.open(number);
    const std::lock_guard lock(threads_mutex);
    if (t.own != nullptr) return;
    t.about.switches = level_of(made->log);
    t.own = std::move(made);
}

/// Bodies that run already are seen from their next one on.
void recorder::state::begin_thread(recorded_thread& t) {
    give_records(t, platform::current_thread_number());
    t.own->plans.forget();
    t.depth = 0;
    t.switched = 0;
    t.failed = false;
    t.after = pace::program;
    t.held = nullptr;
    t.stamp = platform::ticks();
    t.counts = platform::own_switch_counts();
}

[[gnu::noinline]] recorded_thread* recorder::state::own_thread() {
    kept_threads* const kept = kept_threads_of_thread();
    if (kept == nullptr) return nullptr;
    for (const auto& [of, t] : kept->all) {
        if (of != serial) continue;
        own() = {.serial = serial, .thread = t.get()};
        return t.get();
    }
    const auto t = std::make_shared<recorded_thread>();
    char name[32] = {};
    platform::thread_name(name, sizeof name);
    t->about.name = name;
    t->about.thread = platform::current_thread_number();
    // These belonged to recorders that are no more.
    std::erase_if(kept->all, [](const auto& one) { return one.second.use_count() == 1; });
    kept->all.emplace_back(serial, t);
    own() = {.serial = serial, .thread = t.get()};
    const std::lock_guard lock(threads_mutex);
    if (run.load(relaxed) == 0) {  // else the recorder's thread does it
        std::erase_if(threads, [](const auto& one) { return one->gone.load(acquire); });
    }
    threads.push_back(t);
    return t.get();
}

[[gnu::noinline]] void recorder::state::seat_thread(const task_event& e) {
    recorded_thread* const there = own().serial == serial ? own().thread : own_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    const std::lock_guard lock(threads_mutex);
    t.about.seat = e.seat;
    t.about.kind = kind_of_lane(e.holder);
    // A guest keeps the name that the program has given it.
    if (e.name != nullptr && e.holder != seat_kind::guest) t.about.name = e.name;
    t.changed = true;
}

namespace {

[[gnu::always_inline]] inline record* put(recorded_thread& t, record_kind kind, std::uint64_t task,
                                          std::uint64_t other, std::uint32_t aux,
                                          std::uint8_t flags) {
    record* const to = t.own->ring.begin_push();
    if (to != nullptr) *to = {t.stamp, task, other, aux, t.core(), kind, flags};
    return to;
}

/// Two events of one task at one moment that come one right after the other, as for nearly every
/// task, share a place in the ring; see expand(). So the first one is held back.
bool is_held(const recorded_thread& t, record_kind kind, std::uint64_t task) {
    return t.held != nullptr && t.held->kind == kind && t.held->task == task &&
           t.held->time == t.stamp;
}

void let_go(recorded_thread& t) {
    if (std::exchange(t.held, nullptr) != nullptr) t.own->ring.end_push();
}

[[gnu::always_inline]] inline void write(recorded_thread& t, record_kind kind, std::uint64_t task,
                                         std::uint64_t other, std::uint32_t aux, std::uint8_t flags,
                                         pace after) {
    let_go(t);
    t.after = after;
    if (put(t, kind, task, other, aux, flags) != nullptr) t.own->ring.end_push();
}

void write_ready(recorded_thread& t, std::uint64_t task, std::uint64_t released_by) {
    // Without a releaser it is the program that goes on.
    if (released_by == 0) return write(t, record_kind::ready, task, 0, 0, 0, pace::program);
    let_go(t);
    t.after = pace::scheduler;
    t.held = put(t, record_kind::ready, task, released_by, 0, 0);
}

void write_started(recorded_thread& t, std::uint64_t task, std::uint32_t type) {
    t.after = pace::program;
    if (!is_held(t, record_kind::ready, task)) {
        return write(t, record_kind::started, task, 0, type, 0, pace::program);
    }
    record& held = *t.held;
    held.kind = record_kind::started;
    held.aux = type;
    held.core = t.core();
    held.flags = ring_joined;
    let_go(t);
}

void write_ended(recorded_thread& t, std::uint64_t task, std::uint8_t flags) {
    let_go(t);
    t.after = pace::scheduler;
    t.held = put(t, record_kind::ended, task, 0, 0, flags);
}

void write_completed(recorded_thread& t, std::uint64_t task) {
    if (!is_held(t, record_kind::ended, task)) {
        return write(t, record_kind::completed, task, 0, 0, 0, pace::scheduler);
    }
    t.held->flags |= ring_joined;
    let_go(t);
}

void count_switches(recorded_thread& t) {
    if (t.own->log.is_open()) return;
    const platform::switch_counts now = platform::own_switch_counts();
    const std::uint64_t by_itself = now.voluntary - t.counts.voluntary;
    const std::uint64_t by_others = now.involuntary - t.counts.involuntary;
    t.counts = now;
    if (by_itself + by_others == 0) return;
    write(t, record_kind::switches, 0, by_itself, static_cast<std::uint32_t>(by_others), 0,
          t.after);
}

std::uint64_t number_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

/// The completion is what the record is about: a task whose body is outside.
void write_outside(recorded_thread& t, record_kind kind, const task_event& e) {
    const std::uint32_t type = e.facts != nullptr ? t.own->types.number_of(e.name, e.facts->where)
                                                  : t.own->types.number_of(e.name);
    write(t, kind, e.other.value, e.task.value, type, 0, pace::program);
}

[[gnu::noinline]] void write_rare(recorded_thread& t, const task_event& e) {
    if (e.kind == event_kind::failed) t.failed = true;
    const record_kind kind = kind_of(e.kind);
    if (kind == record_kind{}) return;
    if (kind == record_kind::deferred || kind == record_kind::settled) {
        return write_outside(t, kind, e);
    }
    std::uint32_t aux = e.seat_from != UINT16_MAX ? e.seat_from : 0;
    if (kind == record_kind::parked) count_switches(t);
    const bool named = kind == record_kind::acquired || kind == record_kind::released ||
                       kind == record_kind::frame_begin || kind == record_kind::frame_end;
    if (named) aux = t.own->types.number_of(e.name);
    const std::uint64_t other = e.object != nullptr ? number_of(e.object) : e.other.value;
    const bool goes_on = kind == record_kind::cancelled || kind == record_kind::released ||
                         kind == record_kind::stolen;
    const bool stayed = kind == record_kind::joined && e.seat_from == UINT16_MAX;
    const std::uint8_t flags = stayed ? join_kept : 0;
    write(t, kind, e.task.value, other, aux, flags, goes_on ? pace::scheduler : pace::program);
}

[[gnu::noinline]] void record_event(recorded_thread& t, const task_event& e) {
    const std::uint64_t task = e.task.value;
    switch (e.kind) {
        case event_kind::edge:
            return write(t, record_kind::edge, task, e.other.value, 0, 0, pace::spawning);
        case event_kind::ready:
            if (t.after == pace::program) t.stamp = platform::ticks();
            return write_ready(t, task, e.other.value);
        case event_kind::suspended:
            t.stamp = platform::ticks();
            return write(t, record_kind::suspended, task, 0, 0, end_body(t), pace::scheduler);
        case event_kind::resumed:
            t.stamp = platform::ticks();
            begin_body(t);
            return write(t, record_kind::resumed, task, 0, t.own->types.number_of(e.name), 0,
                         pace::program);
        case event_kind::completed:
            if (t.after != pace::scheduler) t.stamp = platform::ticks();
            return write_completed(t, task);
        default:
            if (e.kind != event_kind::cancelled || t.after != pace::scheduler) {
                t.stamp = platform::ticks();
            }
            write_rare(t, e);
    }
}

}  // namespace

void recorder::on_event(const task_event& e) {
    if (e.kind == event_kind::seated) [[unlikely]]
        return state_->seat_thread(e);
    // From an observer in between, which is told each event.
    if (e.kind == event_kind::spawned) return on_spawn(e, false);
    if (e.kind == event_kind::started) return on_start(e.seat, e.task, e.name, 0, {});
    if (e.kind == event_kind::ended) return on_end(e.seat, e.task, e.name, false);
    if (recorded_thread* const t = state_->recording_thread()) record_event(*t, e);
}

namespace {

[[gnu::noinline]] void start_slowly(recorder::state& s, task_id task, const char* name,
                                    unsigned facts, task_id released_by) {
    recorded_thread* const there = s.recording_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    bool ready_now = (facts & start_ready_now) != 0;
    if (t.after != pace::scheduler || t.bodies % timed_start == 0) {
        // It was ready when the one before had ended.
        if (ready_now && t.after == pace::scheduler) {
            write(t, record_kind::ready, task.value, released_by.value, 0, 0, pace::scheduler);
            ready_now = false;
        }
        t.stamp = platform::ticks();
    }
    begin_body(t);
    const bool named = (facts & start_told_by_run) == 0;
    const std::uint32_t type = named ? t.own->types.number_of(name) : 0;
    if (!ready_now) return write_started(t, task.value, type);
    write(t, record_kind::started, task.value, released_by.value, type, ring_joined, pace::program);
}

[[gnu::noinline]] void end_slowly(recorder::state& s, task_id task, bool completes) {
    recorded_thread* const there = s.recording_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    t.stamp = platform::ticks();
    const std::uint8_t flags = end_body(t);
    if (!completes) return write_ended(t, task.value, flags);
    write(t, record_kind::ended, task.value, 0, 0, static_cast<std::uint8_t>(flags | ring_joined),
          pace::scheduler);
}

}  // namespace

void recorder::on_spawn(const task_event& e, bool ready_now) {
    recorded_thread* const there = state_->recording_thread();
    if (there == nullptr || e.facts == nullptr) return;
    recorded_thread& t = *there;
    if (!e.facts->same_moment) t.stamp = platform::ticks();
    const std::uint32_t type = t.own->types.number_of(e.name, e.facts->where);
    const auto flags =
        static_cast<std::uint8_t>(flags_of(*e.facts) | (ready_now ? ring_joined : 0));
    write(t, record_kind::spawned, e.task.value, e.other.value, type, flags,
          ready_now ? pace::program : pace::spawning);
}

namespace {

/// The start of a body after another one, with nothing below it.
[[gnu::always_inline]] inline void push_start(recorded_thread& t, task_id task, unsigned facts,
                                              task_id released_by, std::uint32_t type) {
    t.after = pace::program;
    t.depth = 1;
    t.switched = 0;
    ++t.bodies;
    t.flag.arm();
    const std::uint8_t flags = (facts & start_ready_now) != 0 ? ring_joined : std::uint8_t{0};
    t.own->ring.push(
        {t.stamp, task.value, released_by.value, type, t.core(), record_kind::started, flags});
}

[[gnu::noinline]] void push_named_start(recorded_thread& t, task_id task, const char* name,
                                        unsigned facts, task_id released_by) {
    push_start(t, task, facts, released_by, t.own->types.number_of(name));
}

}  // namespace

// Body after body takes the way that is written out here; for nodes of a graph it calls nothing.
void recorder::on_start(std::uint16_t, task_id task, const char* name, unsigned facts,
                        task_id released_by) {
    recorded_thread* const t = state_->thread_at_hand();
    const bool simple = t != nullptr && t->after == pace::scheduler &&
                        t->bodies % timed_start != 0 && t->depth == 0 && t->held == nullptr &&
                        t->own->ring.has_room();
    if (!simple) return start_slowly(*state_, task, name, facts, released_by);
    if ((facts & start_told_by_run) == 0) {
        return push_named_start(*t, task, name, facts, released_by);
    }
    push_start(*t, task, facts, released_by, 0);
}

void recorder::on_end(std::uint16_t, task_id task, const char*, bool completes) {
    recorded_thread* const t = state_->thread_at_hand();
    const bool simple = t != nullptr && completes && t->depth == 1 && !t->failed &&
                        t->held == nullptr && !t->flag.was_switched() && t->switched == 0 &&
                        t->own->ring.has_room();
    if (!simple) return end_slowly(*state_, task, completes);
    t->stamp = platform::ticks();
    t->after = pace::scheduler;
    t->depth = 0;
    t->flag.disarm();
    t->own->ring.push({t->stamp, task.value, 0, 0, t->core(), record_kind::ended, ring_joined});
}

void recorder::on_graph_run(const graph_run_events& all) {
    recorded_thread* const there = state_->recording_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    const std::uint32_t plan = t.own->plans.number_of(all, t.own->types);
    if (plan == 0) return all.tell_each(*this);
    t.stamp = platform::ticks();
    write(t, ring_graph_run, all.run.value, all.id_offset, plan, 0, pace::program);
}

void recorder::on_external(const external_run& done) {
    recorded_thread* const there = state_->recording_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    let_go(t);
    const std::uint64_t now = platform::ticks();
    push_external(done, t.own->types, [&](const record& part) {
        record* const to = t.own->ring.begin_push();
        if (to == nullptr) return false;
        *to = part;
        to->time = now;
        t.own->ring.end_push();
        return true;
    });
}

// ---- what the program marks itself

void recorder::mark(record_kind kind, const char* name, const std::source_location& where,
                    std::uint64_t other) {
    recorded_thread* const there = state_->recording_thread();
    if (there == nullptr) return;
    recorded_thread& t = *there;
    t.stamp = platform::ticks();
    write(t, kind, 0, other, t.own->types.number_of(name, where), 0, pace::program);
    if (kind == record_kind::frame_end) count_switches(t);
}

void recorder::begin_frame(std::uint64_t number, const char* name) {
    mark(record_kind::frame_begin, name, {}, number);
}
void recorder::end_frame(std::uint64_t number, const char* name) {
    mark(record_kind::frame_end, name, {}, number);
}
void recorder::begin_scope(const char* name, const std::source_location& where) {
    mark(record_kind::scope_begin, name, where, 0);
}
void recorder::end_scope(const char* name, const std::source_location& where) {
    mark(record_kind::scope_end, name, where, 0);
}
void recorder::count(const char* name, double value) {
    mark(record_kind::counter, name, {}, std::bit_cast<std::uint64_t>(value));
}

// ---- starting and stopping

switch_level recorder::switches() const {
    platform::switch_log one;
    if (state_->options.exact_switches) one.open(platform::current_thread_number());
    return level_of(one);
}

status recorder::start(const std::string& path) {
    state& s = *state_;
    const std::lock_guard lock(s.control);
    status went = claim();
    if (!went) return went;
    went = s.file.open(path);
    if (went) went = s.begin(*this, s.file, switches());
    if (went) return went;
    static_cast<void>(s.file.close());
    active_.store(nullptr, release);  // as in stop()
    return went;
}

status recorder::start(capture_sink& to) {
    const std::lock_guard lock(state_->control);
    status went = claim();
    if (!went) return went;
    went = state_->begin(*this, to, switches());
    if (!went) active_.store(nullptr, release);  // as in stop()
    return went;
}

status recorder::claim() {
    recorder* nobody = nullptr;
    // acquire, release: pairs with stop() of the one before, and with active().
    if (active_.compare_exchange_strong(nobody, this, acq_rel)) return {};
    return {EBUSY, nobody == this ? "this recorder records already; stop() it first"
                                  : "another recorder records; stop() it first"};
}

status recorder::stop() {
    const std::lock_guard lock(state_->control);
    if (active() != this) return {};
    state_->end(*this);
    status went = state_->file.close();
    active_.store(nullptr, release);  // last: pairs with the next claim()
    return went;
}

recorder::counts recorder::statistics() const {
    const std::lock_guard lock(state_->capture);
    return {state_->records, state_->dropped, state_->bytes, state_->lanes};
}

}  // namespace profile
BRAID_NAMESPACE_END
