#include "braid/device/local_store.hpp"

#include "base/condition.hpp"
#include "base/platform/platform.hpp"
#include "device/make_back_end.hpp"
#include "device/run_on_cores.hpp"
#include "device/strict_store.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

BRAID_NAMESPACE_BEGIN
namespace device {
namespace {

namespace core = braid::detail::core;
using attempt = detail::processor_state::attempt;
using braid::detail::locked;
using detail::launch;
using detail::record;
using detail::step;

constexpr std::size_t alignment = 16;  // of an operand in a store
constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}
constexpr std::size_t half_of(std::size_t store_bytes) {
    return store_bytes / 2 / alignment * alignment;
}

/// In the order in which they came.
class line {
public:
    step* first() const { return first_; }
    void push(step& s) {
        s.next = nullptr;
        (first_ != nullptr ? last_->next : first_) = &s;
        last_ = &s;
    }
    /// Null: there is none.
    step* pop() {
        step* const s = first_;
        if (s != nullptr) first_ = s->next;
        return s;
    }

private:
    step *first_ = nullptr, *last_ = nullptr;
};

void run_groups(const step& s, const launch& local) {
    for (std::uint64_t n = 0; n < s.groups(); ++n) detail::run_group(s, local, n);
}

class local_units;

/// Guarded by the processor's lock: `jobs`. The rest is the thread's.
struct unit {
    explicit unit(local_units& all) : of(all) {}

    local_units& of;
    unit* next = nullptr;
    std::byte* store = nullptr;
    core::own_thread thread;
    basic_condition<active_policy> changed;
    step* jobs[2] = {};           // the first runs, or will; the second is brought in meanwhile
    unsigned half = 0;            // of the store: where the first job has its operands
    launch local[2];              // what lies in each half
    std::int64_t free_since = 0;  // when its last kernel ended; where an observer listens
};

/// What a step's `verdict` says while a unit has it; then it says how that went.
enum operands_are : std::uint8_t { outside, inside };

class local_units final : public detail::back_end {
public:
    local_units(braid::detail::runtime& rt, const local_store_options& o) : rt_(rt), options_(o) {}
    ~local_units() override;

    const char* kind() const override { return "local_store"; }
    std::size_t size() const override { return sizeof(local_units); }
    void open() override;
    void close() override;
    bool accepts(const step& s, std::span<char> why) const override;
    bool start(record& r) override;
    std::int64_t next_due() const override;
    void serve(std::int64_t now) override;
    bool runs_code() const override;
    bool child_has_buffers() const override { return !strict_; }
    void* allocate_buffer(const buffer_options& what) override;
    void free_buffer(void* memory, std::size_t bytes) override;

private:
    void add_unit();
    void drop(unit& u);
    void start_phase(record& r);
    unit* place(step& s);
    void wake(unit& u);
    bool is_ended_by(step& s, attempt& how);
    void step_ended(step& s, attempt how);
    step* take_arrived(std::int64_t now);

    // On the unit's thread.
    void work(unit& u);
    bool rest_if_frozen();
    bool has_arrived(const step& s) const;
    void bring_in(unit& u);
    void copy_in(unit& u, const step& s, unsigned half) const;
    void copy_out(const launch& from, const step& s) const;
    step* next_job(unit& u);
    void note_begin(const unit& u, const step& s) const;
    void run(unit& u, step& s);
    bool run_strictly(const step& s);
    void leave(unit& u, step& s, attempt how);
    bool can_go_on(const unit& u) const;
    bool sleep(unit& u);

    braid::detail::runtime& rt_;
    const local_store_options options_;
    unit* units_ = nullptr;  // from open() to the destructor
    std::optional<detail::strict_store> strict_;
    // seq_cst, as runs_code() says. Threads that run a kernel or may begin with one.
    atomic<unsigned> awake_{0};
    // Guarded by the processor's lock.
    line waiting_;  // for a place at a unit
    line leaving_;  // what has run, until its results have arrived
    bool stopping_ = false;
};

// ---- units come and go -------------------------------------------------------------------------

void local_units::open() {
    if (options_.strict && !strict_.emplace(core::memory(rt_)).open(options_.store_bytes)) {
        strict_.reset();
        core::log(rt_, log_level::error,
                  "processor '%s' is not strict: the process has another one that is, or the "
                  "system refused %zu bytes",
                  of().name(), options_.store_bytes);
    }
    for (unsigned i = 0; i < options_.units; ++i) add_unit();
}

void local_units::add_unit() {
    void* const memory =
        core::memory(rt_).allocate(sizeof(unit), alignof(unit), memory_tag::device);
    if (memory == nullptr) return;
    auto* const u = ::new (memory) unit(*this);
    u->store = static_cast<std::byte*>(platform::map_guarded(options_.store_bytes));
    const bool there =
        u->store != nullptr && u->thread.start(rt_, {.name = of().name(),
                                                     .stack_bytes = options_.stack_bytes,
                                                     .entry =
                                                         [](void* p) {
                                                             auto& self = *static_cast<unit*>(p);
                                                             self.of.work(self);
                                                         },
                                                     .argument = u});
    if (there) {
        const locked lock(of().lock());
        u->next = std::exchange(units_, u);
        return;
    }
    core::log(rt_, log_level::error,
              "the system refused a thread or %zu bytes for a unit of processor '%s'; going on "
              "without it",
              options_.store_bytes, of().name());
    drop(*u);
}

void local_units::drop(unit& u) {
    if (u.store != nullptr) platform::unmap_guarded(u.store, options_.store_bytes);
    u.~unit();
    core::memory(rt_).release(&u, sizeof(unit), alignof(unit), memory_tag::device);
}

/// What has timed out may still be with a unit, or on its way back.
void local_units::close() {
    {
        const locked lock(of().lock());
        stopping_ = true;
    }
    for (unit* u = units_; u != nullptr; u = u->next) wake(*u);
    for (unit* u = units_; u != nullptr; u = u->next) u->thread.join();
    serve(INT64_MAX);
}

local_units::~local_units() {
    while (units_ != nullptr) drop(*std::exchange(units_, units_->next));
}

void* local_units::allocate_buffer(const buffer_options& what) {
    if (!strict_) return back_end::allocate_buffer(what);
    const locked lock(of().lock());
    return strict_->allocate(what.bytes, what.name != nullptr ? what.name : "buffer");
}

void local_units::free_buffer(void* memory, std::size_t bytes) {
    if (strict_) return strict_->free(memory);
    back_end::free_buffer(memory, bytes);
}

// ---- submissions come to a unit ----------------------------------------------------------------

bool local_units::accepts(const step& s, std::span<char> why) const {
    std::size_t sum = 0;
    for (const detail::operand& o : s.all_operands()) {
        sum += padded(o.range.of ? o.range.bytes : o.bytes);
    }
    const std::size_t most = half_of(options_.store_bytes);
    if (sum <= most) return true;
    std::snprintf(why.data(), why.size(),
                  "'%.60s' has operands of %zu bytes, and %zu fit into half of the store of a unit "
                  "of '%.60s': cut it, see local_store::split()",
                  s.kernel.name, sum, most, of().name());
    return false;
}

bool local_units::start(record& r) {
    if (units_ == nullptr) return false;
    r.verdict = static_cast<std::uint8_t>(attempt::went_well);
    start_phase(r);
    return true;
}

/// The steps go to the units as far as there are places.
void local_units::start_phase(record& r) {
    const std::span<step> steps = r.phase();
    r.running = steps.size();
    for (step& s : steps) {
        unit* at = nullptr;
        {
            const locked lock(of().lock());
            at = place(s);
            if (at == nullptr) waiting_.push(s);
        }
        if (at != nullptr) wake(*at);
    }
}

/// With the one that has least; its transfer begins now. Null: each has two.
unit* local_units::place(step& s) {
    const auto count = [](const unit& u) {
        return (u.jobs[0] != nullptr) + (u.jobs[1] != nullptr);
    };
    unit* least = nullptr;
    for (unit* u = units_; u != nullptr; u = u->next) {
        if (least == nullptr || count(*u) < count(*least)) least = u;
    }
    if (count(*least) == 2) return nullptr;
    s.due = braid::detail::saturated_sum(of().now(), options_.transfer_latency.value);
    s.verdict = outside;
    least->jobs[count(*least)] = &s;
    return least;
}

void local_units::wake(unit& u) {
    u.changed.notify_all();
    core::wake_at_gate(rt_, &u);
}

// ---- a unit's thread ---------------------------------------------------------------------------

void local_units::work(unit& u) {
    platform::set_float_control(core::float_control(rt_));
    const thread_callbacks& callbacks = core::options(rt_).threads;
    if (callbacks.started != nullptr) callbacks.started(callbacks.user, of().name());
    bool over = false;
    while (!over) {
        awake_.fetch_add(1, seq_cst);  // pairs with runs_code(); is_frozen() comes after it
        core::point(rt_);
        while (rest_if_frozen()) {
        }
        bring_in(u);
        step* const s = next_job(u);
        if (s != nullptr) run(u, *s);
        awake_.fetch_sub(1, seq_cst);
        if (s == nullptr) over = sleep(u);
    }
    if (callbacks.stopping != nullptr) callbacks.stopping(callbacks.user, of().name());
}

/// By a thread that counts as awake, between two kernels. True: it has rested.
bool local_units::rest_if_frozen() {
    if (!core::is_frozen(rt_)) return false;
    awake_.fetch_sub(1, seq_cst);
    bool ends = false;
    core::rest_while_frozen(rt_, [this, &ends] {
        const locked lock(of().lock());
        return ends = stopping_;
    });
    awake_.fetch_add(1, seq_cst);  // as work()
    return !ends;
}

/// Who waits in a kernel has come to rest, too.
bool local_units::runs_code() const {
    unsigned waiting = 0;
    const locked lock(of().lock());  // another thread may freeze the scheduler during open()
    for (const unit* u = units_; u != nullptr; u = u->next) waiting += u->thread.rests_in_wait();
    return awake_.load(seq_cst) > waiting;
}

/// A thread for which the chooser has no seat does not see virtual time pass.
bool local_units::has_arrived(const step& s) const {
    return s.due <= of().now() || (core::under_chooser(rt_) && !core::passes_gate(rt_));
}

void local_units::bring_in(unit& u) {
    for (unsigned i = 0; i < 2; ++i) {
        step* s = nullptr;
        {
            const locked lock(of().lock());
            s = u.jobs[i];
            if (s == nullptr || std::exchange(s->verdict, inside) == inside) continue;
            if (strict_ || !hold_open(*s->by)) continue;
        }
        const task_id task = s->by->task;
        copy_in(u, *s, (u.half + i) % 2);
        let_go(task);
    }
}

/// Also what it writes, since a kernel may read that and need not write all of it.
void local_units::copy_in(unit& u, const step& s, unsigned half) const {
    std::byte* to = u.store + half * half_of(options_.store_bytes);
    launch& l = u.local[half] = s.what;
    for (unsigned n = 0; n < l.reads + l.writes; ++n) {
        const std::span<std::byte> from = s.what.operands[n];
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
        l.operands[n] = {to, from.size()};
        to += padded(from.size());
    }
}

void local_units::copy_out(const launch& from, const step& s) const {
    const task_id task = s.by->task;
    {
        const locked lock(of().lock());
        if (!hold_open(*s.by)) return;
    }
    for (unsigned n = from.reads; n < from.reads + from.writes; ++n) {
        const std::span<std::byte> bytes = from.operands[n];
        if (!bytes.empty()) std::memcpy(s.what.operands[n].data(), bytes.data(), bytes.size());
    }
    let_go(task);
}

/// Null: there is none, or its transfer is not done.
step* local_units::next_job(unit& u) {
    const locked lock(of().lock());
    step* const s = u.jobs[0];
    return s != nullptr && s->verdict == inside && has_arrived(*s) ? s : nullptr;
}

/// While another kernel ran it was queued, and what was brought in meanwhile cost no time.
void local_units::note_begin(const unit& u, const step& s) const {
    record& r = *s.by;
    const std::int64_t now = active_policy::now();
    const std::int64_t latency = options_.transfer_latency.value;
    r.begun = std::min(std::max(s.due - latency, u.free_since), now);
    if (latency != 0) r.arrived = now;
}

/// One that nobody wants any more, as it has timed out, was cancelled, or has failed in another
/// step, is not run.
void local_units::run(unit& u, step& s) {
    bool wanted = false;
    {
        const locked lock(of().lock());
        record& r = *s.by;
        wanted =
            r.how == detail::ending::open && r.error == nullptr && !core::is_unwanted(rt_, r.task);
        if (r.passed_at != 0 && r.begun == 0) note_begin(u, s);
    }
    if (wanted && strict_) {
        wanted = run_strictly(s);
    } else if (wanted) {
        run_groups(s, u.local[u.half]);
        copy_out(u.local[u.half], s);
    }
    leave(u, s, wanted ? attempt::went_well : attempt::cancelled);
}

/// Nothing is brought in before, as no other operands may lie there while a kernel runs.
/// False: the task has failed meanwhile.
bool local_units::run_strictly(const step& s) {
    braid::detail::mutex& mutex = of().lock();
    const task_id task = s.by->task;
    {
        const locked lock(mutex);
        if (!hold_open(*s.by)) return false;
        strict_->begin_job(s);
    }
    strict_->bring_in();
    let_go(task);
    strict_->begin();
    run_groups(s, strict_->operands());
    char why[192];
    const bool keeps_to_its_own = strict_->end(why);
    bool is_open = false;
    {
        const locked lock(mutex);
        is_open = hold_open(*s.by);
    }
    if (is_open) {
        strict_->bring_out();
        let_go(task);
    }
    {
        const locked lock(mutex);
        strict_->end_job();
    }
    static_cast<void>(BRAID_EXPECT(core::misuse(rt_), keeps_to_its_own, why));
    return true;
}

/// The results lie in memory by now, but nobody may know before the transfer is done.
void local_units::leave(unit& u, step& s, attempt how) {
    bool is_under_way = false;
    {
        const locked lock(of().lock());
        u.jobs[0] = std::exchange(u.jobs[1], nullptr);
        u.half ^= 1;
        if (step* const waits = waiting_.pop()) place(*waits);
        if (core::observed(rt_)) s.by->left = u.free_since = active_policy::now();
        is_under_way = how != attempt::cancelled && options_.transfer_latency.value != 0;
        if (is_under_way) {
            s.verdict = static_cast<std::uint8_t>(how);
            s.due = braid::detail::saturated_sum(of().now(), options_.transfer_latency.value);
            leaving_.push(s);
        }
    }
    if (is_under_way) {
        of().look_again();
    } else {
        step_ended(s, how);
    }
}

/// The last of a phase starts the next one. True: it was the last of all, and the submission has
/// ended as `how` says then.
bool local_units::is_ended_by(step& s, attempt& how) {
    record& r = *s.by;
    bool goes_on = false;
    {
        const locked lock(of().lock());
        if (how != attempt::went_well) r.verdict = static_cast<std::uint8_t>(how);
        if (--r.running != 0) return false;
        how = r.error != nullptr ? attempt::failed : static_cast<attempt>(r.verdict);
        goes_on = how == attempt::went_well && r.how == detail::ending::open && r.next_phase();
    }
    if (goes_on) start_phase(r);
    return !goes_on;
}

void local_units::step_ended(step& s, attempt how) {
    record& r = *s.by;
    if (is_ended_by(s, how)) of().ended(r, how);
}

/// There is something to bring in, to run, or to end for.
bool local_units::can_go_on(const unit& u) const {
    if (u.jobs[0] == nullptr) return stopping_;
    if (u.jobs[0]->verdict == outside || has_arrived(*u.jobs[0])) return true;
    return u.jobs[1] != nullptr && u.jobs[1]->verdict == outside;
}

/// Until it can go on. True: it is to end.
bool local_units::sleep(unit& u) {
    braid::detail::mutex& mutex = of().lock();
    std::int64_t due = INT64_MAX;
    {
        const locked lock(mutex);
        if (u.jobs[0] != nullptr) due = u.jobs[0]->due;
        if (can_go_on(u)) return u.jobs[0] == nullptr;
        if (!core::passes_gate(rt_)) {
            if (due == INT64_MAX) {
                u.changed.wait(mutex);
            } else {
                u.changed.wait_for(mutex, due - of().now());
            }
            return false;
        }
    }
    core::sleep_at_gate(rt_, &u, {.deadline = due}, [&] {
        const locked lock(mutex);
        return !can_go_on(u);
    });
    return false;
}

// ---- results arrive ----------------------------------------------------------------------------

std::int64_t local_units::next_due() const {
    return leaving_.first() != nullptr ? leaving_.first()->due : INT64_MAX;
}

/// Null: none.
step* local_units::take_arrived(std::int64_t now) {
    const locked lock(of().lock());
    return next_due() <= now ? leaving_.pop() : nullptr;
}

/// What has arrived by one moment ends together.
void local_units::serve(std::int64_t now) {
    constexpr std::size_t most = 16;
    record* all[most];
    std::size_t count = 0;
    while (step* const s = take_arrived(now)) {
        auto how = static_cast<attempt>(s->verdict);
        record& r = *s->by;
        if (!is_ended_by(*s, how)) continue;
        if (how != attempt::went_well) {
            of().ended(r, how);
            continue;
        }
        all[count++] = &r;
        if (count == most) of().ended({all, std::exchange(count, 0)}, how);
    }
    if (count != 0) of().ended({all, count}, attempt::went_well);
}

local_store_options within_limits(local_store_options o, braid::detail::runtime& rt) {
    using range = local_store_options;
    const braid::detail::limiter limits = core::limits(rt, "local_store_options");
    limits.clamp(o.units, 1U, o.strict ? 1U : range::most_units, "units");
    limits.clamp(o.store_bytes, range::least_store_bytes, range::most_store_bytes, "store_bytes");
    limits.clamp(o.transfer_latency.value, std::int64_t{0}, std::int64_t{INT64_MAX},
                 "transfer_latency");
    int nice = 0;
    limits.clamp_thread(nice, o.stack_bytes);
    return o;
}

}  // namespace

local_store::local_store(scheduler& s, const local_store_options& store,
                         const processor_options& options) {
    const local_store_options given = within_limits(store, s.internals());
    most_bytes_ = half_of(given.store_bytes);
    processor_options o = options;
    o.max_in_flight = std::min(o.max_in_flight, 3 * given.units);
    start(s, o, detail::make_back_end<local_units>(s, s.internals(), given));
}

local_store::pieces local_store::split(std::size_t bytes_per_item, std::size_t items,
                                       std::size_t shared_bytes) const {
    constexpr std::size_t padding = alignment * submission::most_operands;
    if (shared_bytes > most_bytes_ || most_bytes_ - shared_bytes < padding) return {.items = items};
    const std::size_t room = most_bytes_ - shared_bytes - padding;
    if (items == 0 || bytes_per_item > room) return {.items = items};
    const std::size_t fit = bytes_per_item != 0 ? room / bytes_per_item : items;
    const std::size_t jobs = items / fit + (items % fit != 0);
    return {.items = items, .in_a_job = items / jobs + (items % jobs != 0), .jobs = jobs};
}

}  // namespace device
BRAID_NAMESPACE_END
