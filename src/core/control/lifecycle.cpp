// Seats and threads: how they come, whom they belong to, and how everything ends.
#include "core/limits.hpp"
#include "core/run/helper_floats.hpp"
#include "core/seat_lease.hpp"
#include "core/task/stable_ids.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// The schedulers that a thread finds its seats in without looking further.
constexpr unsigned near_bindings = 8;
#if defined(__GNUC__) && defined(__linux__)
#define BRAID_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec")))
#else
#define BRAID_THREAD_LOCAL thread_local
#endif
BRAID_THREAD_LOCAL seat_binding bindings[near_bindings];
// By which this thread's seats are found in all others; never given to another thread.
BRAID_THREAD_LOCAL std::uint64_t thread_serial = 0;
BRAID_THREAD_LOCAL bool has_more_bindings = false;
BRAID_THREAD_LOCAL running_task* innermost = nullptr;
#if defined(_WIN32)
thread_local fork_stack* joins_of_thread = nullptr;
#endif

atomic<std::uint64_t> next_serial{1};
atomic<std::uint64_t> next_thread_serial{1};

constexpr auto normal = static_cast<unsigned>(priority_level::normal);
/// The ring's size for levels that few tasks have, and for guests.
constexpr std::uint32_t small_ring = 256;

}  // namespace

#if !defined(_WIN32)
constinit BRAID_THREAD_LOCAL fork_stack* joins_of_thread = nullptr;
#endif

namespace {

/// Into the table of this thread. An entry may be that of a scheduler that another thread has
/// ended, so none is ever followed but through its scheduler.
void bind_near(worker& w) {
    for (seat_binding& b : bindings) {
        if (b.w != nullptr && b.rt != &w.rt) continue;
        b = {&w.rt, w.rt.serial_number, &w};
        return;
    }
    std::copy(bindings + 1, bindings + near_bindings, bindings);
    bindings[near_bindings - 1] = {&w.rt, w.rt.serial_number, &w};
    has_more_bindings = true;  // the oldest is found by its seat from now on
}

/// A seat that this thread has, and that has left its table.
[[gnu::noinline]] worker* find_far(const runtime& rt) {
    for (unsigned i = 0; i < rt.seat_count(); ++i) {
        worker* const w = &rt.seat_at(i);
        // relaxed: only this thread ever wrote its own number there.
        if (w->bound_to.load(relaxed) != thread_serial) continue;
        bind_near(*w);
        return w;
    }
    return nullptr;
}

}  // namespace

void bind_seat(worker& w) {
    if (thread_serial == 0) thread_serial = next_thread_serial.fetch_add(1, relaxed);
    w.bound_to.store(thread_serial, relaxed);  // as find_far() says
    bind_near(w);
}

void unbind_seat(worker& w) {
    w.bound_to.store(0, relaxed);
    for (seat_binding& b : bindings) {
        if (b.w == &w) b = {};
    }
}

worker* runtime::bound() const {
    for (const seat_binding& b : bindings) {
        if (b.rt == this && b.serial == serial_number) return b.w;
    }
    return has_more_bindings ? find_far(*this) : nullptr;
}

running_task* current_task() { return innermost; }
void set_current_task(running_task* task) {
    innermost = task;
    joins_of_thread = task != nullptr ? runtime::joins_of(task->context) : nullptr;
}

#if defined(_WIN32)
fork_stack* thread_joins() { return joins_of_thread; }
#endif

// ---- construction ------------------------------------------------------------------------------

namespace {
constinit atomic<observer_source> source_of_observers{nullptr};

scheduler_options with_observer(scheduler_options o) {
    // acquire: pairs with set_observer_source().
    const observer_source source = source_of_observers.load(acquire);
    if (o.observer == nullptr && source != nullptr) o.observer = source(o);
    return o;
}
}  // namespace

runtime* runtime::create(const scheduler_options& given) {
    const scheduler_options o = within_limits(with_observer(given));
    accounted_memory door(o.memory, o.memory_budget_bytes, o.out_of_memory);
    auto* rt = ::new (door.room_for<runtime>(memory_tag::runtime)) runtime(o);
    rt->memory().take_over(door);
    rt->serial_number = next_serial.fetch_add(1, relaxed);
    rt->process = platform::process_id();
    rt->float_control = platform::float_control();
    rt->ring = std::bit_ceil(o.ring);
    const int cores = static_cast<int>(rt->cores());
    constexpr int most = scheduler_options::most_workers;
    const int workers = std::clamp(o.workers >= 0 ? o.workers : cores - o.main_threads, 0, most);
    rt->max_workers = static_cast<unsigned>(
        std::clamp(o.max_workers >= 0 ? o.max_workers : std::max(workers, cores), workers, most));

    rt->find_places(o.worker_threads.pin ? machine_topology() : known_topology());
    if (o.main_thread != nullptr) rt->add_main(o.main_thread);
    rt->guests.spare =
        rt->place_seat(seat_kind::guest, 0, rt->guests.spare_bytes, rt->guests.spare_cells,
                       guest_seats::spare_ring, guest_seats::spare_ring, "guest");
    if (o.guests > 0) rt->add_seat(seat_kind::guest, 0, "guest");
    rt->guests.post = rt->add_seat(seat_kind::guest, 0, "post");
    rt->reserve_slots(128 + 64 * static_cast<std::uint32_t>(workers));
    rt->set_worker_count(static_cast<unsigned>(workers));
    return rt;
}

/// The caller holds seat_mutex, or is the only thread so far; a seat is left.
worker* runtime::place_seat(seat_kind kind, unsigned number, void* bytes, ready_queue::cell* cells,
                            std::uint32_t most, std::uint32_t others, const char* name) {
    const std::uint32_t index = seat_count();
    auto* w = ::new (bytes) worker(*this, static_cast<std::uint16_t>(index), kind);
    w->number = static_cast<std::uint16_t>(number);
    if (kind == seat_kind::worker && number < 64) w->mask = std::uint64_t{1} << number;
    w->cell_count = most + (level_count - 1) * others;
    w->cells = cells;
    ready_queue::cell* at = w->cells;
    for (std::uint32_t i = 0; i < w->cell_count; ++i) ::new (at + i) ready_queue::cell{0};
    for (unsigned level = 0; level < level_count; ++level) {
        const std::uint32_t count = level == normal ? most : others;
        w->ready[level].attach(at, count);
        at += count;
    }
    std::snprintf(w->name, sizeof w->name, "%s", name);
    add_to_seats(*w);
    return w;
}

worker* runtime::add_seat(seat_kind kind, unsigned number, const char* name) {
    const std::lock_guard lock(seat_mutex);
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* w = &seat_at(i);
        // One whose thread the system has refused.
        if (w->kind != kind || w->number != number || !w->vacant || kind == seat_kind::main) {
            continue;
        }
        w->vacant = false;
        return w;
    }
    if (!has_room_for_a_seat()) {
        log(log_level::error,
            "%s: all %u seats are taken; lower max_workers, guests or "
            "max_reserves",
            options().name, sleepers::capacity);
        return nullptr;
    }
    const std::uint32_t most = kind == seat_kind::guest ? std::min(ring, small_ring) : ring;
    const std::uint32_t others = std::min(ring, small_ring);
    const std::uint32_t cells = most + (level_count - 1) * others;
    const std::size_t cell_bytes = sizeof(ready_queue::cell) * cells;
    void* bytes = memory().allocate(sizeof(worker), alignof(worker), memory_tag::worker);
    void* ring_bytes = memory().allocate(cell_bytes, 64, memory_tag::worker);
    if (bytes == nullptr || ring_bytes == nullptr) {
        memory().release(bytes, sizeof(worker), alignof(worker), memory_tag::worker);
        memory().release(ring_bytes, cell_bytes, 64, memory_tag::worker);
        return nullptr;
    }
    char text[sizeof(worker::name)];
    if (name == nullptr) name = "worker";
    std::snprintf(text, sizeof text, kind == seat_kind::main ? "%s" : "%s %u", name, number);
    return place_seat(kind, number, bytes, static_cast<ready_queue::cell*>(ring_bytes), most,
                      others, text);
}

bool runtime::start_or_vacate(worker& w, void (*main)(void* worker)) {
    if (start(w, main)) return true;
    const std::lock_guard lock(seat_mutex);
    w.vacant = true;
    return false;
}

void runtime::set_worker_count(unsigned count) {
    const std::lock_guard lock(thread_mutex);
    if (phase(acquire) == life::closed) return;
    count = std::min(count, max_workers);
    unsigned ready_threads = 0;
    for (; ready_threads < count; ++ready_threads) {
        if (ready_threads < started_workers) continue;
        worker* w = add_seat(seat_kind::worker, ready_threads, options().worker_threads.name);
        if (w == nullptr) break;
        worker_seats[ready_threads] = w->index;
        // Counted before the thread looks, or it would think itself surplus.
        set_active_workers(std::max(active_workers(relaxed), ready_threads + 1));
        if (!start_or_vacate(*w, &run_thread)) break;
        ++started_workers;
    }
    set_active_workers(ready_threads);
    for (unsigned i = 0; i < started_workers; ++i) wake_seat(worker_seats[i]);
}

// ---- the program's own threads
// -------------------------------------------------------------------

worker* runtime::add_main(const char* name) {
    if (!BRAID_EXPECT(options().assertion, bound() == nullptr,
                      "this thread takes part in the scheduler already")) {
        return nullptr;
    }
    worker* w = reuse_main_seat(name);
    if (w == nullptr) w = add_seat(seat_kind::main, 0, name);
    if (w == nullptr) return nullptr;
    w->at_rest.store(false, relaxed);
    enter_gate(*w);
    return w;
}

worker* runtime::reuse_main_seat(const char* name) {
    const std::lock_guard lock(seat_mutex);
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* w = &seat_at(i);
        if (w->kind != seat_kind::main || !w->vacant) continue;
        // Spent visits are retired, so that an old thread_ref never names another thread.
        if (w->visit.load(relaxed) == UINT16_MAX) continue;
        const std::lock_guard box_lock(w->box.mutex);
        w->vacant = false;
        w->stack_low = 0;
        std::snprintf(w->name, sizeof w->name, "%s", name != nullptr ? name : "main");
        w->visit.fetch_add(1, relaxed);
        w->gone.store(false, release);
        return w;
    }
    return nullptr;
}

void runtime::remove_main(worker& w) {
    // A thread that leaves with work for it alone would never run it: run it now. What comes
    // later is refused.
    helper_floats floats;
    while (true) {
        if (const task_id id = direct_task(w)) {
            floats.use(w, float_control);
            w.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        const std::lock_guard lock(w.box.mutex);
        if (w.box.first != no_index) continue;
        w.gone.store(true, release);  // pairs with is_present()
        break;
    }
    leave_search(w);
    flush_scope_ends(w);
    if (serial()) serial()->leave(w.index);
    unbind_seat(w);
    w.at_rest.store(true, seq_cst);
    const std::lock_guard lock(seat_mutex);
    w.vacant = true;
}

void runtime::enter_gate(worker& w) {
    bind_seat(w);
    if (options().observer != nullptr) report_seated(w);
    if (!serial()) return;
    serial()->enter(w.index);
}

// ---- foreign threads ---------------------------------------------------------------------------

worker* runtime::take_guest(bool also_spare) {
    unsigned count = 0;
    unsigned inside = 0;  // those that only wait do not count: others must get on
    worker* found = nullptr;
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* w = &seat_at(i);
        if (w->kind != seat_kind::guest || w == guests.post || w == guests.spare) continue;
        ++count;
        if (!w->leased && found == nullptr) found = w;
        if (w->leased && !w->waits) ++inside;
    }
    const bool allowed = inside < static_cast<unsigned>(std::max(1, options().guests));
    if (allowed && found == nullptr) found = add_seat(seat_kind::guest, count, "guest");
    if (!allowed || found == nullptr)
        found = also_spare && !guests.spare->leased ? guests.spare : nullptr;
    if (found == nullptr) return nullptr;
    found->leased = true;
    found->stack_low = 0;
    return found;
}

worker* runtime::lease_guest() {
    worker* w = nullptr;
    {
        const locked lock(without_seat().lock);
        // The thread that has the spare seat does not wait, so the seat comes back.
        while ((w = take_guest(true)) == nullptr) {
            without_seat().returned.wait(without_seat().lock);
        }
    }
    seat_guest(*w);
    return w;
}

void runtime::seat_guest(worker& w) {
    w.at_rest.store(false, relaxed);
    if (serial() != nullptr) serial()->note_unchosen();
    enter_gate(w);
}

worker* runtime::try_lease_guest() {
    worker* w = nullptr;
    {
        const locked lock(without_seat().lock);
        w = take_guest(false);
    }
    if (w != nullptr) seat_guest(*w);
    return w;
}

void runtime::return_guest(worker& w) {
    flush_scope_ends(w);
    if (serial()) serial()->leave(w.index);
    unbind_seat(w);
    // Notified under the lock: a thread that ends the scheduler waits for that.
    const locked lock(without_seat().lock);
    w.leased = false;
    w.at_rest.store(true, relaxed);
    without_seat().returned.notify_all();
}

worker* runtime::enter_post_seat() {
    // acquire, release: each thread finds the seat as the one before it has left it.
    if (guests.post == nullptr || guests.post_taken.exchange(true, acquire)) return nullptr;
    return guests.post;
}

void runtime::leave_post_seat() { guests.post_taken.store(false, release); }

void runtime::note_guest_waits(worker& w, bool waits) {
    const locked lock(without_seat().lock);
    w.waits = waits;
    if (waits) without_seat().returned.notify_all();
}

// ---- reserves ----------------------------------------------------------------------------------

stand_in runtime::start_reserve() {
    worker* chosen = nullptr;
    {
        const std::lock_guard lock(reserve_mutex);
        if (reserves.load(relaxed) >= released_permits.load(seq_cst)) return stand_in::enough;
        if (idle_reserve_count != 0) {
            chosen = idle_reserves[--idle_reserve_count];
            reserves.fetch_add(1, relaxed);
        } else if (reserve_threads < static_cast<unsigned>(std::max(0, options().max_reserves))) {
            chosen = add_seat(seat_kind::reserve, reserve_threads, "reserve");
            if (chosen != nullptr) {
                reserves.fetch_add(1, relaxed);
                if (start_or_vacate(*chosen, &run_thread)) {
                    ++reserve_threads;
                    reserves_started.fetch_add(1, relaxed);
                    return stand_in::started;
                }
                reserves.fetch_sub(1, relaxed);
            }
            chosen = nullptr;
        }
    }
    if (chosen != nullptr) {
        notify(chosen->index);
        return stand_in::started;
    }
    reserves_refused.fetch_add(1, relaxed);
    if (!warned_of_reserves.exchange(true, relaxed)) {
        log(log_level::warning,
            "%s: no reserve thread can stand in for a wait any more, so waits "
            "run whatever is ready; raise max_reserves",
            options().name);
    }
    return stand_in::refused;
}

bool runtime::retire_reserve(worker& w) {
    const std::lock_guard lock(reserve_mutex);
    if (std::find(idle_reserves, idle_reserves + idle_reserve_count, &w) !=
        idle_reserves + idle_reserve_count) {
        return true;  // woken for nothing while it was retired
    }
    if (reserves.load(relaxed) <= released_permits.load(seq_cst)) return false;
    reserves.fetch_sub(1, relaxed);
    idle_reserves[idle_reserve_count++] = &w;
    return true;
}

// ---- rest and end ------------------------------------------------------------------------------

bool runtime::everything_ended() const {
    const scheduler_statistics ended_first = totals();
    return ended_first.ended() == totals().created;
}

bool runtime::at_rest() const {
    // In this order: a thread is awake before it counts the end of a task, and asleep after it
    // has dealt with all that follows from it.
    if (!everything_ended()) return false;
    for (unsigned i = 0; i < seat_count(); ++i) {
        const worker* w = &seat_at(i);
        const bool own = w->kind == seat_kind::worker || w->kind == seat_kind::reserve ||
                         w->kind == seat_kind::background;
        if (own && !w->at_rest.load(seq_cst)) return false;
    }
    return true;
}

void runtime::shut_down(shutdown how) {
    const life wanted = how == shutdown::drain ? life::draining : life::discarding;
    advance_phase(wanted);
    const worker* self = bound();
    if (self != nullptr && self->top != nullptr) return;  // begun; the destructor ends it
    while (frozen().on()) resume();

    const seat_lease seat(*this, nullptr);
    const std::uint64_t key = phase_key();
    helper_floats floats;
    // Most often the others are about to find out that there is nothing left.
    const std::int64_t spin_until = active_policy::now() + (serial() ? 0 : 50'000);
    while (!at_rest()) {
        if (const task_id id = next_task(*seat)) {
            floats.use(*seat, float_control);
            leave_search(*seat);
            seat->stamp = active_policy::coarse_now();
            run(*seat, id);
            continue;
        }
        flush_scope_ends(*seat);
        if (active_policy::now() < spin_until) {
            for (unsigned n = 0; n < 16; ++n) active_policy::relax();
            continue;
        }
        wait_record record;
        if (!lot().enter(record, key, seat->index, [&] { return !at_rest(); })) continue;
        // Threads that go to sleep notify; a task that ends on a thread outside does not, hence
        // the time-out.
        if (serial()) {
            serial()->block(seat->index, {.looks = true, .waits = true});
        } else {
            seat->park.park(active_policy::now() + 200'000);
        }
        lot().leave(record);
    }
}

/// Threads of the program in a call that runs tasks or waits.
bool runtime::anybody_inside() {
    const locked lock(without_seat().lock);
    for (unsigned i = 0; i < seat_count(); ++i) {
        const worker* w = &seat_at(i);
        if (w->leased || w->inside.load(acquire)) return true;
    }
    return false;
}

void runtime::destroy(runtime* rt) {
    if (platform::process_id() != rt->process) return;  // forked: the threads are the parent's
    worker* self = rt->bound();
    if (self != nullptr && self->top != nullptr) {
        // From a task of its own: a thread cannot join itself, so another one ends it.
        rt->shut_down(shutdown::drain);
        rt->ended_by = self;
        rt->last_request = {.name = "braid end",
                            .entry = [](void* p) { destroy(static_cast<runtime*>(p)); },
                            .argument = rt};
        const platform::thread_handle last = platform::start_thread(rt->last_request);
        if (last != 0) {
            platform::detach_thread(last);
        } else {
            rt->log(log_level::error,
                    "%s: the system refused the thread that would have ended the "
                    "scheduler; its memory stays",
                    rt->options().name);
        }
        return;
    }
    rt->shut_down(shutdown::drain);
    {
        const std::lock_guard lock(rt->thread_mutex);
        rt->advance_phase(life::closed);
    }
    // From a task: threads of the program may still be on their way out of the wait that it ended.
    while (rt->ended_by != nullptr && rt->anybody_inside()) {
        parker().park(active_policy::now() + 50'000);
    }
    for (unsigned i = 0; i < rt->seat_count(); ++i) rt->wake_seat(i);
    if (rt->serial() && self != nullptr) rt->serial()->leave(self->index);
    for (unsigned i = 0; i < rt->seat_count(); ++i) {
        worker* w = &rt->seat_at(i);
        if (w->thread != 0) platform::join_thread(w->thread);
    }
    if (self != nullptr) unbind_seat(*self);
    accounted_memory door(rt->options().memory, 0, {});
    door.take_over(rt->memory());
    rt->~runtime();
    door.release(rt, sizeof(runtime), alignof(runtime), memory_tag::runtime);
}

runtime::~runtime() {
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* w = &seat_at(i);
        memory().release(w->joins, fork_stack_bytes, alignof(fork_stack), memory_tag::worker);
        if (w->types != nullptr) {
            memory().release(w->types, sizeof(type_row) * type_rows, alignof(type_row),
                             memory_tag::worker);
        }
        ready_queue::cell* const cells = w->cells;
        const std::size_t cell_bytes = sizeof(ready_queue::cell) * w->cell_count;
        w->~worker();
        if (w == guests.spare) continue;
        memory().release(cells, cell_bytes, 64, memory_tag::worker);
        memory().release(w, sizeof(worker), alignof(worker), memory_tag::worker);
    }
}

}  // namespace detail

void observer::listen(bool on) noexcept {
    static constinit atomic<std::uint32_t> times{1};
    std::uint32_t number = 0;
    while (on && number == 0) number = times.fetch_add(1, relaxed) + 1;
    listens_.store(number, std::memory_order_relaxed);
}

void set_observer_source(observer_source source) {
    detail::source_of_observers.store(source, release);  // pairs with with_observer()
}
BRAID_NAMESPACE_END
