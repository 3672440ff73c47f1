#pragma once
// A bounded queue between coroutines. A coroutine that finds the queue empty on a pop, or full on a
// push, suspends and releases its thread.
//
//   braid::channel<request> wanted(scheduler, {.name = "wanted", .capacity = 64});
//   co_await wanted.push(request{...});        // in one coroutine
//   const request r = co_await wanted.pop();   // in another

#include "braid/async/await.hpp"
#include "braid/async/waiting_tasks.hpp"
#include "braid/core/scheduler.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

/// `co_await pop()` throws this exception when the channel is closed and empty.
class BRAID_API channel_closed : public std::exception {
public:
    const char* what() const noexcept override;
};

enum class full_channel : std::uint8_t {
    waits,         // in a full channel, co_await push() waits, and try_push() returns false
    drops_oldest,  // in a full channel, a push drops the oldest value and never waits
};

/// A `capacity` outside its range is clamped to the range. The scheduler logs the correction.
struct channel_options {
    static constexpr std::uint32_t most_capacity = std::uint32_t{1} << 20;

    const char* name = "channel";  // also the name of waits; must outlive the channel
    std::uint32_t capacity = 64;   // 1..most_capacity
    full_channel when_full = full_channel::waits;
};

namespace detail {
/// Clamps `options.capacity` to its range, and allocates the memory for the values. Returns null if
/// there is no memory.
BRAID_API void* open_channel(runtime& rt, channel_options& options, std::size_t bytes,
                             std::size_t alignment);
}  // namespace detail

/// Any number of threads may push and pop at the same time. Values are popped in the order in which
/// they were pushed. The waiter that has waited longest is served first. Moving a T must not throw.
/// The constructor allocates sizeof(T) bytes for each of the `capacity` values. If there is no
/// memory, the channel is closed from the start. A push or a pop locks a mutex. This takes 20 ns. A
/// wait costs as much as a completion.
///
/// The channel must outlive the calls of its functions, and must be destroyed before its scheduler.
/// Coroutines that still wait when the channel is destroyed resume as if the channel had been
/// closed.
template <class T>
class channel {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "what goes through a channel must move without an exception");

    struct waiter : detail::waiting_task {
        std::optional<T> value;
        bool done = false;  // the pop or push is done; guarded by the channel's lock
    };

public:
    explicit channel(scheduler& s, channel_options options = {})
        : rt_(s.internals()),
          cells_(static_cast<T*>(detail::open_channel(rt_, options, sizeof(T), alignof(T)))),
          options_(options),
          closed_(cells_ == nullptr) {}
    ~channel() {
        close();
        clear();
        if (cells_ != nullptr) {
            detail::release_closure(rt_, cells_, sizeof(T) * options_.capacity, alignof(T));
        }
    }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    class pop_awaiter;
    class push_awaiter;
    /// `co_await pop()` returns the oldest value. If the channel is closed and empty, the co_await
    /// throws channel_closed. With as_result(), the result then has no value. If a value has
    /// arrived, the co_await returns the value even if the task is cancelled. The next co_await
    /// then reports the cancellation.
    pop_awaiter pop(std::source_location where = std::source_location::current()) {
        return pop_awaiter(*this, where);
    }
    /// `co_await push(v)` returns true if `v` was pushed. If the channel is closed, the co_await
    /// returns false, and `v` is lost.
    push_awaiter push(T v, std::source_location where = std::source_location::current()) {
        return push_awaiter(*this, std::move(v), where);
    }

    /// Returns the oldest value, or an empty optional if the channel is empty. try_pop() never
    /// waits. Any thread may call try_pop().
    std::optional<T> try_pop() {
        detail::point(rt_);
        waiter w;
        attempt(&channel::pop_now, w);
        return std::move(w.value);
    }
    /// Pushes `v`. try_push() never waits. Returns false if the channel is closed, or if the
    /// channel is full and its `when_full` is full_channel::waits. If try_push() returns false, `v`
    /// still has its value. Any thread may call try_push().
    bool try_push(T&& v) {
        detail::point(rt_);
        waiter w;
        w.value.emplace(std::move(v));
        attempt(&channel::push_now, w);
        if (!w.done) std::construct_at(destroyed(v), std::move(*w.value));
        return w.done;
    }
    /// Closes the channel. After close(), no value can be pushed, and only the remaining values can
    /// be popped. All waiters resume. Any thread may call close().
    void close() {
        detail::point(rt_);
        {
            const detail::locked lock(lock_);
            closed_.store(true, relaxed);
        }
        while (detail::waiting_task* const w = one_that_waits()) {
            detail::go_on(*w);
        }
    }

    // relaxed: closed() and size() do not hold the lock under which the members are written, so the
    // returned value may be out of date.
    bool closed() const { return closed_.load(relaxed); }
    std::size_t size() const { return count_.load(relaxed); }
    /// Returns how many values full_channel::drops_oldest has dropped so far.
    std::uint64_t dropped() const {
        const detail::locked lock(lock_);
        return dropped_;
    }

private:
    using step = bool (channel::*)(waiter&, detail::waiting_task*&);

    static T* destroyed(T& v) {
        std::destroy_at(&v);
        return &v;
    }
    /// Calls `now`, which is pop_now() or push_now(), under the lock. If `now` releases a waiter,
    /// that waiter resumes. Returns false if `w` has to wait.
    bool attempt(step now, waiter& w) {
        detail::waiting_task* released = nullptr;
        bool ended = false;
        {
            const detail::locked lock(lock_);
            ended = (this->*now)(w, released);
        }
        if (released != nullptr) detail::go_on(*released);
        return ended;
    }
    /// Must be called within a suspension, after `w` was armed. Calls `now` again under the lock.
    /// If `now` returns true, or if the wait was cancelled, the task of `w` resumes at once.
    /// Otherwise `w` is added to the list `among`, and the task waits.
    void wait(step now, waiter& w, detail::waiting_tasks& among) {
        detail::waiting_task* released = nullptr;
        bool ended = false;
        {
            const detail::locked lock(lock_);
            ended = (this->*now)(w, released) || !among.list(w);
        }
        if (released != nullptr) detail::go_on(*released);
        if (ended) detail::go_on(w);
    }
    /// pop_waits() and push_waits() check, without the lock, whether a pop or a push would have to
    /// wait. If it would, the awaiter does not try the operation before the wait is armed.
    bool pop_waits() const { return size() == 0 && !closed(); }
    bool push_waits() const {
        return options_.when_full == full_channel::waits && size() == options_.capacity &&
               !closed();
    }
    /// pop_now() and push_now() return true if the operation of `w` is done or the channel is
    /// closed. They return false if `w` has to wait. If the operation of a waiter on the other side
    /// was completed, `released` receives that waiter.
    bool pop_now(waiter& w, detail::waiting_task*& released) BRAID_REQUIRES(lock_) {
        if (size() == 0) return closed();
        take_first(&w.value);
        w.done = true;
        if (auto* const p = static_cast<waiter*>(pushers_.take())) {
            put(*p->value);
            p->done = true;
            released = p;
        }
        return true;
    }
    bool push_now(waiter& w, detail::waiting_task*& released) BRAID_REQUIRES(lock_) {
        if (closed()) return true;
        if (auto* const p = static_cast<waiter*>(poppers_.take())) {
            p->value.emplace(std::move(*w.value));
            p->done = true;
            released = p;
        } else if (size() == options_.capacity) {
            if (options_.when_full == full_channel::waits) return false;
            std::optional<T> oldest;
            take_first(&oldest);
            ++dropped_;
            put(*w.value);
            w.value.emplace(std::move(*oldest));  // destroyed after the lock is released
        } else {
            put(*w.value);
        }
        w.done = true;
        return true;
    }

    T& cell(std::uint32_t i) BRAID_REQUIRES(lock_) {
        const std::uint32_t at = first_ + i;
        return cells_[at < options_.capacity ? at : at - options_.capacity];
    }
    void put(T& v) BRAID_REQUIRES(lock_) {
        const std::uint32_t count = count_.load(relaxed);
        std::construct_at(&cell(count), std::move(v));
        count_.store(count + 1, relaxed);
    }
    void take_first(std::optional<T>* to) BRAID_REQUIRES(lock_) {
        T& oldest = cell(0);
        if (to != nullptr) to->emplace(std::move(oldest));
        std::destroy_at(&oldest);
        count_.store(count_.load(relaxed) - 1, relaxed);
        if (++first_ == options_.capacity) first_ = 0;
    }
    void clear() {
        const detail::locked lock(lock_);
        while (size() != 0) take_first(nullptr);
    }
    detail::waiting_task* one_that_waits() {
        const detail::locked lock(lock_);
        detail::waiting_task* const w = poppers_.take();
        return w != nullptr ? w : pushers_.take();
    }

    detail::runtime& rt_;
    T* const cells_;
    const channel_options options_;
    const detail::waiting_lock guard_;
    detail::mutex& lock_ = guard_.internals();
    std::uint32_t first_ BRAID_GUARDED_BY(lock_) = 0;
    std::uint64_t dropped_ BRAID_GUARDED_BY(lock_) = 0;
    // The lock is held while count_ and closed_ are written.
    atomic<std::uint32_t> count_{0};
    atomic<bool> closed_;
    detail::waiting_tasks poppers_{lock_, &rt_}, pushers_{lock_, &rt_};
};

template <class T>
class channel<T>::pop_awaiter : public detail::awaiter {
public:
    pop_awaiter(channel& of, std::source_location where) : of_(of), where_(where) {}
    bool await_ready() {
        detail::point(of_.rt_);
        return !of_.pop_waits() && of_.attempt(&channel::pop_now, own_);
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        detail::co_loop& loop = enter(by);
        loop.suspend();
        if (of_.poppers_.arm(own_, *loop.context, of_.options_.name, where_)) {
            of_.wait(&channel::pop_now, own_, of_.poppers_);
        } else {
            loop.refused = true;
        }
    }
    T await_resume() {
        await_result<T> r = result();
        detail::co_loop::raise(r);
#if BRAID_HAS_EXCEPTIONS
        if (!r.value) throw channel_closed{};
#endif
        return std::move(*r.value);
    }
    await_result<T> result() {
        if (own_.value) return {{}, std::move(own_.value)};
        return {take(), {}};
    }

private:
    channel& of_;
    std::source_location where_;
    waiter own_;
};

template <class T>
class channel<T>::push_awaiter : public detail::awaiter {
public:
    push_awaiter(channel& of, T&& v, std::source_location where) : of_(of), where_(where) {
        own_.value.emplace(std::move(v));
    }
    bool await_ready() {
        detail::point(of_.rt_);
        return !of_.push_waits() && of_.attempt(&channel::push_now, own_);
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        detail::co_loop& loop = enter(by);
        loop.suspend();
        if (of_.pushers_.arm(own_, *loop.context, of_.options_.name, where_)) {
            of_.wait(&channel::push_now, own_, of_.pushers_);
        } else {
            loop.refused = true;
        }
    }
    bool await_resume() {
        const await_result<bool> r = result();
        detail::co_loop::raise(r);
        return r.value.value_or(false);
    }
    await_result<bool> result() {
        if (own_.done) return {{}, true};
        await_result<bool> r{take(), {}};
        if (r) r.value = false;
        return r;
    }

private:
    channel& of_;
    std::source_location where_;
    waiter own_;
};

BRAID_NAMESPACE_END
