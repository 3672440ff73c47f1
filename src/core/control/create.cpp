// Creates schedulers and their seats.
#include "core/control/limits.hpp"
#include "core/control/runtime.hpp"
#include "core/run/ticket_kind.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// The size of a guest's rings, and of every ring for a level other than normal.
constexpr std::uint32_t small_ring = 256;

constinit atomic<observer_source> source_of_observers{nullptr};

scheduler_options with_observer(scheduler_options o) {
    // acquire: pairs with set_observer_source().
    const observer_source source = source_of_observers.load(acquire);
    if (o.observer == nullptr && source != nullptr) o.observer = source(o);
    return o;
}

struct rings {
    ready_queue::cell* cells;
    std::uint32_t normal, others;  // the sizes for the normal level and for each other level
};
struct seat_name {
    seat_kind kind;
    unsigned number;
    const char* text;
};

/// Constructs a seat in `bytes`. No other thread may make a seat at the same time.
whole_seat* make_seat_at(runtime& rt, void* bytes, const rings& r, const seat_name& called) {
    auto* w =
        ::new (bytes) whole_seat(rt, static_cast<std::uint16_t>(rt.seat_count()), called.kind);
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
    std::snprintf(w->report.name, sizeof w->report.name, "%s", called.text);
    return w;
}

}  // namespace

runtime* runtime::create(const scheduler_options& given) {
    const scheduler_options o = within_limits(with_observer(given));
    accounted_memory door(o.memory, o.memory_budget_bytes, o.out_of_memory);
    auto* rt = ::new (door.room_for<runtime>(memory_tag::runtime)) runtime(o);
    rt->memory.take_over(door);
    rt->fork_mark_ = platform::fork_mark();
    rt->ring_ = std::bit_ceil(o.ring);
    const int cores = static_cast<int>(rt->cores());
    constexpr int most = scheduler_options::most_workers;
    const int workers = std::clamp(o.workers >= 0 ? o.workers : cores - o.main_threads, 0, most);
    rt->max_workers_ = static_cast<unsigned>(
        std::clamp(o.max_workers >= 0 ? o.max_workers : std::max(workers, cores), workers, most));

    rt->find_places(o.worker_threads.pin ? machine_topology() : known_topology());
    if (o.main_thread != nullptr) rt->add_main(o.main_thread);
    whole_seat* const spare =
        make_seat_at(*rt, rt->spare_.bytes, {rt->spare_.cells, spare_seat::ring, spare_seat::ring},
                     {seat_kind::guest, 0, "guest"});
    rt->add_to_seats(*spare);
    if (o.guests > 0) rt->add_seat(seat_kind::guest, 0, "guest");
    rt->set_guests(spare, rt->add_seat(seat_kind::guest, 0, "post"));
    rt->slots.reserve(128 + 64 * static_cast<std::uint32_t>(workers));
    rt->set_worker_count(static_cast<unsigned>(workers));
    return rt;
}

namespace {

void run_thread(void* seat) {
    whole_seat& w = *static_cast<whole_seat*>(seat);
    w.rt.thread_main(w);
}
void run_source_thread(void* seat) {
    whole_seat& w = *static_cast<whole_seat*>(seat);
    w.rt.source_main(w);
}
void run_background_thread(void* seat) {
    whole_seat& w = *static_cast<whole_seat*>(seat);
    w.rt.background_main(w);
}

looked look_of(seats_seat& w) { return w.rt.look_for_deadlocks(w.whole); }

}  // namespace

const task_kind ticket_kind{
    .run = [](runtime& rt, whole_seat& w, std::uint32_t index, bool) { rt.run_ticket(w, index); },
    .ended = nullptr};

const task_kind completion_kind{
    .run = [](runtime& rt, whole_seat& w, std::uint32_t index,
              bool) { rt.run_completion(w, index); },
    .ended = [](runtime& rt, whole_seat& w, std::uint32_t index) { rt.end_completion(w, index); }};

runtime::runtime(const scheduler_options& o)
    : wait_room(o, {.make = &make_seat,
                    .run = &run_thread,
                    .run_background = &run_background_thread,
                    .run_source = &run_source_thread,
                    .look = &look_of}) {}

seats_seat* runtime::make_seat(threads_room& in, seat_kind kind, unsigned number,
                               const char* name) {
    auto& rt = static_cast<runtime&>(in);
    const std::uint32_t others = std::min(rt.ring_, small_ring);
    const std::uint32_t most = kind == seat_kind::guest ? others : rt.ring_;
    const std::size_t cell_bytes = sizeof(ready_queue::cell) * (most + (level_count - 1) * others);
    void* bytes = rt.memory.allocate(sizeof(whole_seat), alignof(whole_seat), memory_tag::worker);
    void* ring_bytes = rt.memory.allocate(cell_bytes, 64, memory_tag::worker);
    if (bytes == nullptr || ring_bytes == nullptr) {
        rt.memory.release(bytes, sizeof(whole_seat), alignof(whole_seat), memory_tag::worker);
        rt.memory.release(ring_bytes, cell_bytes, 64, memory_tag::worker);
        return nullptr;
    }
    char text[sizeof(report_part::name)];
    if (name == nullptr) name = "worker";
    std::snprintf(text, sizeof text, kind == seat_kind::main ? "%s" : "%s %u", name, number);
    return make_seat_at(rt, bytes, {static_cast<ready_queue::cell*>(ring_bytes), most, others},
                        {kind, number, text});
}

runtime::~runtime() {
    for (unsigned i = 0; i < seat_count(); ++i) {
        whole_seat* w = &seat_at(i);
        memory.release(w->joins, fork_stack_bytes(identified()), alignof(fork_stack),
                       memory_tag::worker);
        report.release(w->report);
        ready_queue::cell* const cells = w->cells;
        const std::size_t cell_bytes = sizeof(ready_queue::cell) * w->cell_count;
        w->~whole_seat();
        if (static_cast<void*>(w) == spare_.bytes) continue;
        memory.release(cells, cell_bytes, 64, memory_tag::worker);
        memory.release(w, sizeof(whole_seat), alignof(whole_seat), memory_tag::worker);
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
