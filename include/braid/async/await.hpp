#pragma once
// Awaitables for coroutines: tasks, completions, futures, sleeps, and moves to other threads.
// co.hpp has coroutines and events, channel.hpp has channels.
//
// Each co_await releases the thread until what it awaits has come about. The co_await then throws
// in these cases: the exception of the awaited task if that task failed; task_cancelled if the
// awaited task was cancelled, or if the awaiting task is no longer wanted (its scope is cancelled,
// or a discarding shutdown began); std::bad_alloc if there was no memory to wait. A co_await of
// as_result() throws nothing.
//
// When a task is no longer wanted, one of its awaits ends at once (a file read: as soon as the
// system has released the buffer). From then on the task cleans up. Until the task ends, what it
// awaits and defers ends as if nothing had been cancelled, also in coroutines that it calls, and a
// shutdown waits for the task. The await that throws is the first one that ends after the
// cancellation, whatever it throws. If only the awaited task was cancelled, nothing is shielded.

#include "braid/async/co_loop.hpp"
#include "braid/base/time.hpp"
#include "braid/core/event.hpp"
#include "braid/core/future.hpp"
#include "braid/core/scope.hpp"

#include <cstddef>
#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Base class of the awaiters. It holds the loop of the awaiting task.
class awaiter {
public:
    bool await_ready() const noexcept { return false; }

protected:
    template <class Promise>
    co_loop& enter(std::coroutine_handle<Promise> by) {
        loop_ = loop_of(by);
        return *loop_;
    }
    /// Returns how the await ended. If nothing was awaited, all went well. For `first` see
    /// co_loop::take().
    await_status take(task_id* first = nullptr) {
        return loop_ != nullptr ? loop_->take(first) : await_status{};
    }

    co_loop* loop_ = nullptr;
};

/// An awaiter that has no value.
class plain_awaiter : public awaiter {
public:
    void await_resume() { co_loop::raise(result()); }
    await_result<void> result() { return {take()}; }
};

class task_awaiter : public plain_awaiter {
public:
    explicit task_awaiter(task_id id) : id_(id) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend({.may_end_early = true});
        loop.await(id_);
    }

private:
    task_id id_;
};

/// Returns true for ids in any case, because an id does not know its scheduler.
inline bool may_await(task_context&, const task_ids&) { return true; }

/// `Ids` is task_ids, which views ids that the caller keeps, or awaited_tasks.
template <class Ids>
class all_awaiter : public plain_awaiter {
public:
    explicit all_awaiter(const Ids& ids) : ids_(ids) {}
    bool await_ready() const noexcept { return task_ids(ids_).size == 0; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend({.may_end_early = true});
        const task_ids ids(ids_);
        loop.foreign = !may_await(*loop.context, ids_);
        for (std::size_t i = 0; i < ids.size && !loop.foreign; ++i) loop.await(ids.data[i]);
    }

private:
    Ids ids_;
};

template <class Ids>
class any_awaiter : public awaiter {
public:
    any_awaiter(const Ids& ids, scope* rest) : ids_(ids), rest_(rest) {}
    bool await_ready() const noexcept { return task_ids(ids_).size == 0; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend({.first_is_enough = true, .may_end_early = true});
        const task_ids ids(ids_);
        loop.foreign = !may_await(*loop.context, ids_);
        for (std::size_t i = 0; i < ids.size && !loop.foreign; ++i) loop.await(ids.data[i]);
    }
    std::size_t await_resume() {
        const await_result<std::size_t> r = result();
        co_loop::raise(r);
        return r.value.value_or(task_ids(ids_).size);
    }
    await_result<std::size_t> result() {
        task_id first;
        await_result<std::size_t> r{take(&first), {}};
        if (!first) return r;
        if (rest_ != nullptr) rest_->cancel();
        const task_ids ids(ids_);
        std::size_t at = 0;
        while (at + 1 < ids.size && ids.data[at] != first) ++at;
        r.value = at;
        return r;
    }

private:
    Ids ids_;
    scope* rest_;
};

inline task_id id_of(task_id id) { return id; }
template <class T>
task_id id_of(const future<T>& f) {
    return f.id();
}
inline const runtime* scheduler_of(task_id) { return nullptr; }
/// Returns null if the future is empty.
template <class T>
const runtime* scheduler_of(const future<T>& f) {
    return f.valid() ? &f.internals() : nullptr;
}

template <class T>
concept names_task = requires(const T& t) { detail::id_of(t); };

/// Tasks that are listed one by one, by their ids or by futures. The futures stay the caller's.
class awaited_tasks {
public:
    static constexpr std::size_t most = 8;

    template <names_task... Tasks>
        requires(sizeof...(Tasks) != 0)
    awaited_tasks(const Tasks&... tasks) : ids_{id_of(tasks)...}, size_(sizeof...(tasks)) {
        (note(scheduler_of(tasks)), ...);
        static_assert(sizeof...(tasks) <= most,
                      "at most 8 tasks stand in a list of when_all() or when_any(): put their ids "
                      "into an array");
    }
    const task_id* data() const { return ids_; }
    std::size_t size() const { return size_; }
    /// Returns false, and reports it, if one of the futures belongs to another scheduler.
    bool may_be_awaited(task_context& context) const {
        return (first_ == nullptr || may_await_value_of(context, *first_)) &&
               (other_ == nullptr || may_await_value_of(context, *other_));
    }

private:
    void note(const runtime* of) {
        if (first_ == nullptr) first_ = of;
        if (of != nullptr && of != first_) other_ = of;
    }

    task_id ids_[most];
    std::size_t size_;
    const runtime* first_ = nullptr;  // the futures' scheduler; null if there are no futures
    const runtime* other_ = nullptr;  // a second scheduler; null if there is only one
};

inline bool may_await(task_context& context, const awaited_tasks& tasks) {
    return tasks.may_be_awaited(context);
}

template <class T>
class future_awaiter : public awaiter {
public:
    explicit future_awaiter(future<T>&& f) : awaited_(std::move(f)) {}
    bool await_ready() const noexcept { return !awaited_.valid(); }
    /// Returns false if the task is complete already.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        const bool foreign = !may_await_value_of(*loop.context, awaited_.internals());
        if (!foreign && awaited_.ready()) {
            loop_ = nullptr;
            return false;
        }
        loop.suspend({.may_end_early = true});
        loop.foreign = foreign;
        if (!foreign) loop.await(awaited_.id());
        return true;
    }
    T await_resume() {
        co_loop::raise(take());
        return awaited_.get();
    }
    await_result<T> result() {
        await_result<T> r;
        static_cast<await_status&>(r) = take();
        if (!r) return r;
        if (!awaited_.valid()) {
            r.cancelled = true;
            return r;
        }
        r.error = take_failure(awaited_.internals(), awaited_.id());
        if (r.error != nullptr) return r;
        if constexpr (!std::is_void_v<T>) {
            void* const storage = value_of(awaited_.internals(), awaited_.id());
            r.cancelled = storage == nullptr;
            if (storage != nullptr) r.value.emplace(std::move(stored<T>::get(storage)));
        }
        return r;
    }

private:
    future<T> awaited_;
};

class sleep_awaiter : public plain_awaiter {
public:
    sleep_awaiter(nanoseconds time, bool is_moment, const char* name, std::source_location where)
        : time_(time), is_moment_(is_moment), name_(name), where_(where) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend();
        const nanoseconds in =
            is_moment_ ? nanoseconds(saturated_sum(time_.value, -clock_of(*loop.context))) : time_;
        const bool well = static_cast<bool>(await_outside(
            *loop.context, {.name = name_, .deadline = in, .where = where_}, ended_by::deadline));
        if (!well) loop.refused = true;
    }

private:
    nanoseconds time_;
    bool is_moment_;
    const char* name_;
    std::source_location where_;
};

class yield_awaiter : public plain_awaiter {
public:
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        enter(by).suspend({.goes_last = true});
    }
};

template <class Place>
class move_awaiter : public plain_awaiter {
public:
    explicit move_awaiter(Place to) : to_(to) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = this->enter(by);
        loop.suspend();
        if constexpr (std::is_same_v<Place, thread_ref>) {
            go_on_at(*loop.context, to_);
        } else {
            go_on_in(*loop.context, to_);
        }
    }

private:
    Place to_;
};

/// An awaiter whose outcome is returned and not thrown.
template <class Awaiter>
class result_awaiter {
public:
    explicit result_awaiter(Awaiter&& of) : of_(std::move(of)) {}
    bool await_ready() { return of_.await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> by) {
        return of_.await_suspend(by);
    }
    auto await_resume() { return of_.result(); }

private:
    Awaiter of_;
};

template <class T>
concept has_result = requires(T& awaiter) { awaiter.result(); };

}  // namespace detail

// ---- tasks -------------------------------------------------------------------------------------

/// `co_await id` waits until the task is complete. A thread that waits for the coroutine helps with
/// that task. If the task had failed before the await, task_failed is thrown. If it had been
/// cancelled before, task_cancelled is thrown. See task_state for how long an id remembers that.
inline auto operator co_await(task_id id) { return detail::task_awaiter(id); }
/// `co_await id` waits until the completion is settled and nothing is left of it. Awaiting
/// `id.task()` does so, too.
inline auto operator co_await(completion_id id) { return detail::task_awaiter(id.task()); }
/// `co_await std::move(f)` waits until the task of the future is complete, and returns its value.
template <class T>
auto operator co_await(future<T>&& f) {
    return detail::future_awaiter<T>(std::move(f));
}
/// `co_await when_all(ids)` waits until all these tasks are complete. What `ids` views must stay
/// where it is until then.
inline auto when_all(task_ids ids) { return detail::all_awaiter<task_ids>(ids); }
/// `co_await when_all({a, b})` takes up to 8 ids and futures. The futures are not moved from: get()
/// returns a future's value afterwards.
inline auto when_all(const detail::awaited_tasks& tasks) {
    return detail::all_awaiter<detail::awaited_tasks>(tasks);
}
/// `co_await when_any(ids)` waits until the first of these tasks is complete, and returns its
/// index. If that task failed, its failure is thrown. The other tasks go on; each costs 32 bytes
/// until it is complete. What `ids` views must stay where it is until the await ends. If `ids` is
/// empty, the await ends at once and returns 0.
inline auto when_any(task_ids ids) { return detail::any_awaiter<task_ids>(ids, nullptr); }
/// `co_await when_any({a, b})` takes up to 8 ids and futures, like when_all().
inline auto when_any(const detail::awaited_tasks& tasks) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, nullptr);
}
/// Makes when_any() cancel the scope `in` when the first task is complete. The other tasks belong
/// to that scope.
struct cancel_rest {
    scope& in;
};
inline auto when_any(task_ids ids, cancel_rest rest) {
    return detail::any_awaiter<task_ids>(ids, &rest.in);
}
inline auto when_any(const detail::awaited_tasks& tasks, cancel_rest rest) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, &rest.in);
}

// ---- time, and where the task goes on -----------------------------------------------------------

/// Suspends the task for `time`, by the scheduler's clock (that of timers). With 0 or less the task
/// suspends as well, and goes on as soon as its timer is served. `name`, for profiles, is a literal
/// or outlives the sleep.
inline auto sleep_for(nanoseconds time, const char* name = "sleep_for",
                      std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(time, false, name, where);
}
/// Suspends the task until a moment of the scheduler's clock, in ns, as in timer_tick::due.
inline auto sleep_until(std::int64_t moment, const char* name = "sleep_until",
                        std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(nanoseconds(moment), true, name, where);
}
/// Suspends the task, which goes on behind the tasks that are ready now. However often tasks yield,
/// they keep no other task from running: after a thread has taken yielding tasks 32 times, it takes
/// up to 32 tasks from another thread, and from then on it does so every second time until nothing
/// is left there. If a thread waits for a yielding task and runs it meanwhile, another thread
/// stands in and runs the other ready tasks.
inline auto yield() { return detail::yield_awaiter(); }
/// Makes the task run as a task of class `as` from here on, on any thread of that class. This also
/// holds for a task that was bound to one thread or to a set of workers.
inline auto resume_on(task_class as) { return detail::move_awaiter<task_class>(as); }
/// Makes the task run on `thread` alone from here on. If `thread` is empty, has left already, or
/// belongs to another scheduler, this is reported and the task goes on as before. A main thread
/// that leaves later cancels the task.
inline auto resume_on(thread_ref thread) { return detail::move_awaiter<thread_ref>(thread); }

// ---- without exceptions ------------------------------------------------------------------------

/// `co_await as_result(x)` throws nothing. It returns an await_result of what `co_await x` returns.
template <class Awaiter>
    requires detail::has_result<Awaiter>
auto as_result(Awaiter&& x) {
    return detail::result_awaiter<std::remove_cvref_t<Awaiter>>(std::forward<Awaiter>(x));
}
template <class Awaitable>
    requires requires(Awaitable&& x) { operator co_await(std::forward<Awaitable>(x)); }
auto as_result(Awaitable&& x) {
    return as_result(operator co_await(std::forward<Awaitable>(x)));
}

BRAID_NAMESPACE_END
