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

/// The ring's size for levels that few tasks have, and for guests.
constexpr std::uint32_t small_ring = 256;

}  // namespace

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

namespace {

struct rings {
    ready_queue::cell* cells;
    std::uint32_t normal, others;  // of the normal level, and of each other one
};
struct seat_name {
    seat_kind kind;
    unsigned number;
    const char* text;
};

/// The caller is the only thread that makes seats.
worker* make_seat_at(runtime& rt, void* bytes, const rings& r, const seat_name& called) {
    auto* w = ::new (bytes) worker(rt, static_cast<std::uint16_t>(rt.seat_count()), called.kind);
    w->number = static_cast<std::uint16_t>(called.number);
    if (called.kind == seat_kind::worker && called.number < 64) {
        w->mask = std::uint64_t{1} << called.number;
    }
    w->cell_count = r.normal + (level_count - 1) * r.others;
    w->cells = r.cells;
    ready_queue::cell* at = w->cells;
    for (std::uint32_t i = 0; i < w->cell_count; ++i) ::new (at + i) ready_queue::cell{0};
    for (unsigned level = 0; level < level_count; ++level) {
        const std::uint32_t count = level == normal_level ? r.normal : r.others;
        w->ready[level].attach(at, count);
        at += count;
    }
    std::snprintf(w->name, sizeof w->name, "%s", called.text);
    return w;
}

}  // namespace

runtime* runtime::create(const scheduler_options& given) {
    const scheduler_options o = within_limits(with_observer(given));
    accounted_memory door(o.memory, o.memory_budget_bytes, o.out_of_memory);
    auto* rt = ::new (door.room_for<runtime>(memory_tag::runtime)) runtime(o);
    rt->memory().take_over(door);
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
    worker* const spare =
        make_seat_at(*rt, rt->spare.bytes, {rt->spare.cells, spare_seat::ring, spare_seat::ring},
                     {seat_kind::guest, 0, "guest"});
    rt->add_to_seats(*spare);
    if (o.guests > 0) rt->add_seat(seat_kind::guest, 0, "guest");
    rt->set_guests(spare, rt->add_seat(seat_kind::guest, 0, "post"));
    rt->reserve_slots(128 + 64 * static_cast<std::uint32_t>(workers));
    rt->set_worker_count(static_cast<unsigned>(workers));
    return rt;
}

runtime::runtime(const scheduler_options& o)
    : life_room(
          o, {.make = &make_seat, .run = &run_thread, .run_background = &run_background_thread}) {}

seats_seat* runtime::make_seat(threads_room& in, seat_kind kind, unsigned number,
                               const char* name) {
    auto& rt = static_cast<runtime&>(in);
    const std::uint32_t others = std::min(rt.ring, small_ring);
    const std::uint32_t most = kind == seat_kind::guest ? others : rt.ring;
    const std::size_t cell_bytes = sizeof(ready_queue::cell) * (most + (level_count - 1) * others);
    void* bytes = rt.memory().allocate(sizeof(worker), alignof(worker), memory_tag::worker);
    void* ring_bytes = rt.memory().allocate(cell_bytes, 64, memory_tag::worker);
    if (bytes == nullptr || ring_bytes == nullptr) {
        rt.memory().release(bytes, sizeof(worker), alignof(worker), memory_tag::worker);
        rt.memory().release(ring_bytes, cell_bytes, 64, memory_tag::worker);
        return nullptr;
    }
    char text[sizeof(worker::name)];
    if (name == nullptr) name = "worker";
    std::snprintf(text, sizeof text, kind == seat_kind::main ? "%s" : "%s %u", name, number);
    return make_seat_at(rt, bytes, {static_cast<ready_queue::cell*>(ring_bytes), most, others},
                        {kind, number, text});
}

void runtime::set_worker_count(unsigned count) {
    const std::lock_guard lock(thread_mutex);
    if (phase(acquire) == life::closed) return;
    count = std::min(count, max_workers);
    unsigned ready_threads = 0;
    for (; ready_threads < count; ++ready_threads) {
        if (ready_threads < started_workers) continue;
        seats_seat* const w =
            add_seat(seat_kind::worker, ready_threads, options().worker_threads.name);
        if (w == nullptr) break;
        worker_seats[ready_threads] = w->index;
        // Counted before the thread looks, or it would think itself surplus.
        set_active_workers(std::max(active_workers(relaxed), ready_threads + 1));
        if (!start_or_vacate(*w)) break;
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
    seats_seat* w = reuse_main_seat(name);
    if (w == nullptr) w = add_seat(seat_kind::main, 0, name);
    if (w == nullptr) return nullptr;
    w->at_rest.store(false, relaxed);
    sit_down(*w);
    return &w->whole;
}

seats_seat* runtime::reuse_main_seat(const char* name) {
    // Spent visits are retired, so that an old thread_ref never names another thread.
    seats_seat* const w = take_vacant(seat_kind::main, [](const seats_seat& left) {
        return left.visit.load(relaxed) != UINT16_MAX;
    });
    if (w == nullptr) return nullptr;
    open_box(w->whole, name != nullptr ? name : "main");
    return w;
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
        if (close_box(w)) break;
    }
    leave_search(w);
    flush_scope_ends(w);
    stand_up(w);
    w.at_rest.store(true, seq_cst);
    vacate(w);
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
            serial()->block(seat->index, true, true);
        } else {
            seat->park.park(active_policy::now() + 200'000);
        }
        lot().leave(record);
    }
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
    if (self != nullptr) unbind(*self);
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
        if (is_spare_guest(*w)) continue;
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
