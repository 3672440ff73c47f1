#include "braid/queue/queue.hpp"

#include "base/platform/platform.hpp"
#include "braid/base/bounded_queue.hpp"
#include "braid/core/code_holders.hpp"
#include "braid/core/scheduler.hpp"
#include "core/extension.hpp"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

namespace {

/// The queues whose work lies on this thread's stack, innermost first.
struct serving {
    const queue* q;
    serving* below;
    bool helps;  // it is no thread of the queue's own, or is in a push() or a drain()
};
thread_local serving* innermost = nullptr;

bool serves(const queue& q) {
    for (const serving* s = innermost; s != nullptr; s = s->below) {
        if (s->q == &q) return true;
    }
    return false;
}

/// How many pieces of that queue lie on the calling thread's stack that it runs as a helper.
std::uint32_t helped_by_this_thread(const queue& q) {
    std::uint32_t count = 0;
    for (const serving* s = innermost; s != nullptr; s = s->below) count += s->q == &q && s->helps;
    return count;
}

queue_options within_limits(queue_options o, const detail::runtime& rt) {
    if (o.name == nullptr) o.name = "queue";
    using range = queue_options;
    const detail::limiter limits = core::limits(rt, "queue_options");
    limits.clamp(o.threads, 0U, range::most_threads, "threads");
    limits.clamp(o.capacity, range::least_capacity, range::most_capacity, "capacity");
    limits.clamp_thread(o.nice, o.stack_bytes);
    return o;
}

}  // namespace

// Work lies in the ring; under when_full::grow later work lies in `overflow` once the ring was
// full, and all work goes there until the list is empty, so that the order of starting stays.
struct queue::state final : code_holder {
    using ring = bounded_queue<item>;

    struct link {
        item work;
        link* next = nullptr;
    };
    /// The list behind the ring, oldest first.
    struct chain {
        link* first = nullptr;
        link* last = nullptr;
        std::size_t size = 0;
        bool empty() const { return first == nullptr; }
    };

    /// Takes over both blocks.
    state(queue& q, detail::runtime& runtime, const queue_options& o, ring::cell* space,
          core::own_thread* space_of_threads)
        : code_holder(runtime),
          rt(runtime),
          options(o),
          cells(space),
          work(space, cell_count(o)),
          owner(q),
          threads(space_of_threads) {}
    ~state() override {
        for (std::size_t i = 0; i < cell_count(options); ++i) cells[i].~cell();
        memory().release(cells, sizeof(ring::cell) * cell_count(options), alignof(ring::cell),
                         memory_tag::queue);
        std::destroy_n(threads, options.threads);
        memory().release(threads, thread_bytes(options), alignof(core::own_thread),
                         memory_tag::queue);
    }
    static std::size_t cell_count(const queue_options& o) { return std::bit_ceil(o.capacity); }
    static std::size_t thread_bytes(const queue_options& o) {
        return sizeof(core::own_thread) * std::max(o.threads, 1U);
    }
    detail::accounted_memory& memory() const { return core::memory(rt); }

    bool try_push(item& it);
    bool try_pop(item& it);
    void run_one(item& it, bool helps);
    bool run_oldest(atomic<std::uint64_t>& count);
    bool rest_if_frozen();
    void thread_main();
    bool runs_code() const override;
    void show_code(code_search& to) const override;
    void notify_sleepers();
    void wake_all();
    /// `what`: words for what a thread waits for, before the queue's name. Null: a thread of the
    /// queue's own has nothing to do.
    template <class Still>
    void sleep_while(const char* what, Still&& still);
    bool append(item& it);
    void take_first(item& it);

    detail::runtime& rt;
    queue_options options;
    ring::cell* cells;
    ring work;
    queue& owner;

    std::mutex mutex;
    std::condition_variable changed;    // work came, room came, or a piece ended
    chain overflow;                     // guarded by mutex
    bool stopping = false;              // guarded by mutex
    bool has_threads = false;           // set by the constructor
    atomic<bool> closed{false};         // push() refuses
    atomic<bool> overflowing{false};    // overflow is not empty
    atomic<std::uint32_t> sleepers{0};  // threads in a wait for `changed`
    atomic<std::uint32_t> running{0};   // threads that may begin with a piece, or have begun
    atomic<std::uint64_t> pushed{0}, ended{0}, dropped{0};
    atomic<std::uint64_t> refused{0}, helped{0}, grown{0}, blocked{0};
    core::own_thread* threads;
};

/// A thread that changed the world looks for sleepers after it (seq_cst); one that wants to sleep
/// says so (seq_cst) and looks at the world again under the lock: one of the two sees the other.
void queue::state::notify_sleepers() {
    if (sleepers.load(seq_cst) == 0) return;
    {
        const std::lock_guard lock(mutex);
    }
    wake_all();
}

void queue::state::wake_all() {
    changed.notify_all();
    core::wake_at_gate(rt, &changed);
}

/// `still()` is called under the lock. With a chooser a thread that passes the gate sleeps there.
template <class Still>
void queue::state::sleep_while(const char* what, Still&& still) {
    sleepers.fetch_add(1, seq_cst);  // as notify_sleepers() says
    if (core::passes_gate(rt)) {
        core::sleep_at_gate(rt, &changed, {.waits = what != nullptr}, [&] {
            const std::lock_guard lock(mutex);
            return still();
        });
    } else {
        std::optional<core::held_up> here;
        if (what != nullptr) here.emplace(rt, &changed, what, options.name);
        std::unique_lock lock(mutex);
        if (still()) changed.wait(lock);
    }
    sleepers.fetch_sub(1, relaxed);
}

/// Under the lock. False: no memory.
bool queue::state::append(item& it) {
    void* bytes = memory().allocate(sizeof(link), alignof(link), memory_tag::queue);
    if (bytes == nullptr) return false;
    auto* added = ::new (bytes) link{std::move(it)};
    (overflow.empty() ? overflow.first : overflow.last->next) = added;
    overflow.last = added;
    ++overflow.size;
    overflowing.store(true, release);
    grown.fetch_add(1, relaxed);
    return true;
}

/// Under the lock; there is one.
void queue::state::take_first(item& it) {
    link* oldest = overflow.first;
    it = std::move(oldest->work);
    overflow.first = oldest->next;
    --overflow.size;
    overflowing.store(!overflow.empty(), release);
    oldest->~link();
    memory().release(oldest, sizeof(link), alignof(link), memory_tag::queue);
}

bool queue::state::try_push(item& it) {
    if (options.full == when_full::grow) {
        const std::lock_guard lock(mutex);
        if (overflow.empty() && work.push_with([&](item& to) { to = std::move(it); })) return true;
        return append(it);
    }
    return work.push_with([&](item& to) { to = std::move(it); });
}

bool queue::state::try_pop(item& it) {
    if (work.pop_with([&](item& from) { it = std::move(from); })) return true;
    if (!overflowing.load(acquire)) return false;
    const std::lock_guard lock(mutex);
    if (work.pop_with([&](item& from) { it = std::move(from); })) return true;
    if (overflow.empty()) return false;
    take_first(it);
    return true;
}

void queue::state::run_one(item& it, bool helps) {
    serving frame{&owner, innermost, helps};
    innermost = &frame;
#if BRAID_HAS_EXCEPTIONS
    try {
        it.call(owner);
    } catch (...) {
        core::report_unobserved(rt, options.name, std::current_exception());
    }
#else
    it.call(owner);
#endif
    it.reset();  // captures are gone before drain() can return (I4)
    innermost = frame.below;
    ended.fetch_add(1, seq_cst);  // seq_cst: as notify_sleepers() says
    notify_sleepers();
}

/// By a thread that counts as running, between two pieces. True: it has rested.
bool queue::state::rest_if_frozen() {
    if (!core::is_frozen(rt)) return false;
    running.fetch_sub(1, seq_cst);
    bool ends = false;
    core::rest_while_frozen(rt, [this, &ends] {
        const std::lock_guard lock(mutex);
        return ends = stopping;
    });
    running.fetch_add(1, seq_cst);  // seq_cst: pairs with runs_code(); is_frozen() comes after it
    return !ends;
}

/// A thread of the program or of the scheduler helps.
bool queue::state::run_oldest(atomic<std::uint64_t>& count) {
    item it;
    running.fetch_add(1, seq_cst);  // as rest_if_frozen()
    while (innermost == nullptr && core::may_rest() && rest_if_frozen()) {
    }
    const bool found = try_pop(it);
    if (found) {
        count.fetch_add(1, relaxed);
        run_one(it, true);
    }
    running.fetch_sub(1, seq_cst);
    return found;
}

/// Who helps from within a task is the scheduler's to wait for.
bool queue::state::runs_code() const {
    std::uint32_t waiting = helped_by_this_thread(owner);
    for (unsigned i = 0; i < options.threads; ++i) waiting += threads[i].rests_in_wait();
    return running.load(seq_cst) > waiting;
}

void queue::item::show_code(code_search& to, const char* name) const {
    if (manage_ == nullptr) return;
    to.look_at_callable(code_use::queued, name, reinterpret_cast<const void*>(manage_), bytes_,
                        inline_bytes);
}

void queue::state::show_code(code_search& to) const {
    const auto look = [&](const item& it) { it.show_code(to, options.name); };
    work.each(look);
    for (const link* one = overflow.first; one != nullptr; one = one->next) look(one->work);
}

void queue::state::thread_main() {
    platform::set_float_control(core::float_control(rt));
    // The callbacks are code of the program's, too.
    running.fetch_add(1, seq_cst);  // as rest_if_frozen()
    const thread_callbacks& callbacks = core::options(rt).threads;
    if (callbacks.started != nullptr) callbacks.started(callbacks.user, options.name);
    item it;
    bool over = false;
    while (!over) {
        core::point(rt);
        if (rest_if_frozen()) continue;
        if (try_pop(it)) {
            run_one(it, false);
            continue;
        }
        running.fetch_sub(1, seq_cst);
        sleep_while(nullptr, [&] {
            const bool more = work.size() != 0 || !overflow.empty();
            over = !more && stopping;
            return !more && !stopping;
        });
        running.fetch_add(1, seq_cst);
    }
    if (callbacks.stopping != nullptr) callbacks.stopping(callbacks.user, options.name);
    running.fetch_sub(1, seq_cst);
}

queue::state* queue::make_state(queue& q, const queue_options& options) {
    detail::accounted_memory& memory = core::memory(q.rt_);
    const std::size_t count = state::cell_count(options);
    const std::size_t cell_bytes = sizeof(state::ring::cell) * count;
    const std::size_t thread_bytes = state::thread_bytes(options);
    constexpr memory_tag tag = memory_tag::queue;
    void* bytes = memory.allocate(sizeof(state), alignof(state), tag);
    void* cells = memory.allocate(cell_bytes, alignof(state::ring::cell), tag);
    void* threads = memory.allocate(thread_bytes, alignof(core::own_thread), tag);
    if (bytes == nullptr || cells == nullptr || threads == nullptr) {
        memory.release(bytes, sizeof(state), alignof(state), tag);
        memory.release(cells, cell_bytes, alignof(state::ring::cell), tag);
        memory.release(threads, thread_bytes, alignof(core::own_thread), tag);
        return nullptr;
    }
    auto* space = static_cast<state::ring::cell*>(cells);
    for (std::size_t i = 0; i < count; ++i) ::new (space + i) state::ring::cell;
    auto* own = static_cast<core::own_thread*>(threads);
    for (unsigned i = 0; i < options.threads; ++i) ::new (own + i) core::own_thread;
    return ::new (bytes) state(q, q.rt_, options, space, own);
}

queue::queue(scheduler& s, const queue_options& options)
    : rt_(s.internals()), state_(make_state(*this, within_limits(options, rt_))) {
    if (state_ == nullptr) return;
    const queue_options& given = state_->options;
    const platform::thread_request request{
        .name = given.name,
        .stack_bytes = given.stack_bytes,
        .nice = given.nice,
        .entry = [](void* p) { static_cast<state*>(p)->thread_main(); },
        .argument = state_};
    for (unsigned i = 0; i < given.threads; ++i) {
        const bool started = state_->threads[i].start(rt_, request);
        state_->has_threads = state_->has_threads || started;
        if (!started) {
            core::log(rt_, log_level::error,
                      "the system refused a thread for queue '%s'; going on without it",
                      given.name);
        }
    }
}

queue::~queue() {
    if (state_ == nullptr) return;
    drain();
    state_->closed.store(true, seq_cst);
    drain();  // what came in between
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->wake_all();
    for (unsigned i = 0; i < state_->options.threads; ++i) state_->threads[i].join();
    state_->~state();
    core::memory(rt_).release(state_, sizeof(state), alignof(state), memory_tag::queue);
}

bool queue::push_item(item& work) {
    if (state_ == nullptr) return false;
    state& q = *state_;
    core::point(q.rt);
    while (true) {
        // Counted first: drain() must never see a piece ended that it has not seen pushed.
        q.pushed.fetch_add(1, seq_cst);
        const bool closed = q.closed.load(seq_cst);
        if (!closed && q.try_push(work)) {
            q.notify_sleepers();
            return true;
        }
        q.pushed.fetch_sub(1, seq_cst);
        q.notify_sleepers();  // a drain() may have seen the count and sleep on it
        // Under when_full::grow only memory was lacking.
        if (closed || q.options.full == when_full::fail || q.options.full == when_full::grow) {
            q.refused.fetch_add(1, relaxed);
            return false;
        }
        const bool nobody_else = !q.has_threads || serves(*this);
        if (q.options.full == when_full::help || nobody_else) {
            q.run_oldest(q.helped);
            continue;
        }
        q.blocked.fetch_add(1, relaxed);
        q.sleep_while("room in the queue", [&q] { return q.work.size() >= q.work.capacity(); });
    }
}

void queue::drain() {
    if (state_ == nullptr) return;
    core::point(rt_);
    state& q = *state_;
    if (!BRAID_EXPECT(core::misuse(q.rt), !serves(*this),
                      "a piece of work cannot drain its own queue: it would wait for itself")) {
        return;
    }
    // Ended first: a piece counted as ended is counted as pushed, and so is what it pushed.
    const auto done = [&] {
        const std::uint64_t ended = q.ended.load(seq_cst) + q.dropped.load(seq_cst);
        return ended >= q.pushed.load(seq_cst);
    };
    while (!done()) {
        if (q.run_oldest(q.helped)) continue;
        q.sleep_while("the end of all work of the queue",
                      [&] { return !done() && q.work.size() == 0 && q.overflow.empty(); });
    }
}

std::size_t queue::discard() {
    std::size_t count = 0;
    if (state_ == nullptr) return 0;
    core::point(rt_);
    for (item it; state_->try_pop(it); ++count) {
        it.reset();
        state_->dropped.fetch_add(1, seq_cst);
        state_->notify_sleepers();
    }
    return count;
}

std::size_t queue::size() const {
    if (state_ == nullptr) return 0;
    core::point(rt_);
    const std::lock_guard lock(state_->mutex);
    return state_->work.size() + state_->overflow.size;
}
const char* queue::name() const { return state_ != nullptr ? state_->options.name : ""; }

queue_statistics queue::statistics() const {
    if (state_ == nullptr) return {};
    core::point(rt_);
    const state& q = *state_;
    return {.pushed = q.pushed.load(acquire),
            .executed = q.ended.load(acquire),
            .refused = q.refused.load(relaxed),
            .helped = q.helped.load(relaxed),
            .grown = q.grown.load(relaxed),
            .blocked = q.blocked.load(relaxed)};
}

BRAID_NAMESPACE_END
