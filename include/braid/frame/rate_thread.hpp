#pragma once
// A rate_thread calls a small function at a fixed rate on a separate thread, independent of the
// frame rate. For example, the function can read the controller 250 times a second.
//
//   braid::sampler<pad_state> pad(scheduler, {.name = "pad", .period = braid::milliseconds(4)},
//                                 [](const braid::rate_tick&) { return read_pad(); });
//   // in a stage:
//   for (braid::sampler<pad_state>::sample s; pad.take(s);) game.input(s.tick.due, s.value);

#include "braid/base/bounded_queue.hpp"
#include "braid/base/export.hpp"
#include "braid/base/time_histogram.hpp"
#include "braid/core/scheduler.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct rate_options {
    const char* name = "rate";             // must outlive the thread; Linux shows 15 characters
    nanoseconds period = milliseconds(4);  // 250 ticks a second; clamped to at least 1 ns
    int nice = 0;                          // as thread_options::nice
    std::size_t stack_bytes = 0;           // as thread_options::stack_bytes
};

/// Describes one tick. `due` and `began` are values of active_policy::now(), in ns.
struct rate_tick {
    std::uint64_t number = 0;  // of the period since the start, from 1; includes missed periods
    std::int64_t due = 0, began = 0;
};

struct rate_report {
    std::uint64_t ticks = 0;
    std::uint64_t missed = 0;  // periods that passed without a tick
    nanoseconds p50{0}, p99{0},
        longest{0};              // lateness; if ticks were missed, from the first missed tick
    std::uint64_t failures = 0;  // ticks that threw an unobserved exception
};

namespace detail {

struct rate_counts {
    time_histogram lateness;
    atomic<std::uint64_t> missed{0}, failures{0};
};

}  // namespace detail

/// Calls `f(const rate_tick&)` at each tick, on a thread that does not belong to the scheduler. `f`
/// may spawn and post tasks, and should take no longer than a period. If the scheduler has a
/// chooser, the chooser also decides when this thread runs. In this case, the period and the times
/// of ticks are measured with the chooser's clock, which starts at 0.
class rate_thread {
public:
    /// Starts the thread. `f` is destroyed with this object, after the thread has ended. If there
    /// is no memory, the constructor calls the out-of-memory handler. If the operating system
    /// refuses a thread, the constructor logs an error. In both cases, running() returns false.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>&, const rate_tick&>
    rate_thread(scheduler& s, const rate_options& options, F&& f) : rt_(s.internals()) {
        using callable = std::decay_t<F>;
        struct guard {
            detail::runtime& rt;
            void* bytes;
            ~guard() {
                if (bytes == nullptr) return;
                detail::release_closure(rt, bytes, sizeof(callable), alignof(callable));
            }
        } g{rt_, detail::allocate_closure(rt_, sizeof(callable), alignof(callable))};
        if (g.bytes == nullptr) return;
        ::new (g.bytes) callable(std::forward<F>(f));
        body_ = {std::exchange(g.bytes, nullptr),
                 [](void* object, const rate_tick& tick) {
                     (*std::launder(static_cast<callable*>(object)))(tick);
                 },
                 [](detail::runtime& rt, void* object) {
                     std::launder(static_cast<callable*>(object))->~callable();
                     detail::release_closure(rt, object, sizeof(callable), alignof(callable));
                 },
                 sizeof(callable)};
        start(options);
    }
    /// Calls stop().
    BRAID_API ~rate_thread();
    rate_thread(const rate_thread&) = delete;
    rate_thread& operator=(const rate_thread&) = delete;

    /// Stops the thread. Returns when the last tick has ended. stop() must not be called from a
    /// tick.
    BRAID_API void stop();
    bool running() const { return state_ != nullptr; }
    /// Returns the counts and the lateness of the ticks so far. Any thread may call report() at any
    /// time.
    BRAID_API rate_report report() const;

private:
    struct state;
    struct body {
        void* object = nullptr;
        void (*call)(void* object, const rate_tick& tick) = nullptr;
        void (*destroy)(detail::runtime& rt, void* object) = nullptr;
        std::size_t size = 0;
    };
    template <class T, std::size_t Capacity>
    friend class sampler;
    BRAID_API void start(const rate_options& options);
    BRAID_API void point() const;

    detail::runtime& rt_;
    body body_;
    state* state_ = nullptr;  // null if there is no thread
    detail::rate_counts counts_;
};

/// A sampler is a rate_thread whose function returns a value at each tick. The values wait in a
/// queue until a thread takes them. If the queue is full, the sampler drops the oldest value,
/// because input that no thread has taken for `Capacity` ticks is out of date.
template <class T, std::size_t Capacity = 256>
class sampler {
    static_assert(std::has_single_bit(Capacity) && Capacity >= 2, "a power of two");

public:
    struct sample {
        rate_tick tick;
        T value{};
    };

    /// Starts the thread. `f(const rate_tick&)` must return a T.
    template <class F>
        requires std::is_invocable_r_v<T, std::decay_t<F>&, const rate_tick&>
    sampler(scheduler& s, const rate_options& options, F&& f)
        : queue_(cells_.data(), Capacity),
          thread_(s, options, [this, f = std::forward<F>(f)](const rate_tick& tick) mutable {
              push({tick, f(tick)});
          }) {}

    /// Moves the oldest sample to `to`. Returns false if the queue is empty. Any thread may call
    /// take().
    bool take(sample& to) {
        thread_.point();
        // The move of a value may be a copy. The cell is therefore reset, so that the resources of
        // its sample are released at once.
        return queue_.pop_with([&to](sample& from) { to = std::exchange(from, sample{}); });
    }
    /// Returns how many samples were dropped because the queue was full.
    std::uint64_t dropped() const { return dropped_.load(relaxed); }
    bool running() const { return thread_.running(); }
    void stop() { thread_.stop(); }
    rate_report report() const { return thread_.report(); }

private:
    void push(sample&& fresh) {
        while (!queue_.push_with([&fresh](sample& to) { to = std::move(fresh); })) {
            // relaxed: the value is only a count.
            if (queue_.pop_with([](sample& oldest) { oldest = sample{}; }))
                dropped_.fetch_add(1, relaxed);
        }
    }

    std::array<typename bounded_queue<sample>::cell, Capacity> cells_;
    bounded_queue<sample> queue_;
    atomic<std::uint64_t> dropped_{0};
    rate_thread thread_;  // the last member, so that it is destroyed first
};

BRAID_NAMESPACE_END
