#pragma once
// The awaitables for coroutines: tasks, completions, futures, sleeps, and moves to other threads.
// The header co.hpp contains coroutines and events, and channel.hpp contains channels.
//
// A co_await releases its thread until the awaited operation has ended. If the awaited task failed,
// the co_await then throws the exception of that task. If the awaited task or the awaiting task was
// cancelled, the co_await throws task_cancelled. The awaiting task is cancelled if its scope is
// cancelled or if a discarding shutdown begins. If there is not enough memory for the wait, the
// co_await throws std::bad_alloc. A co_await of as_result() throws nothing.
//
// The cancellation of the awaiting task is reported once, by the first co_await that ends after the
// cancellation. This co_await ends at once (a file read ends as soon as the operating system has
// released the buffer). If the awaited task failed or there was no memory, this co_await throws the
// exception of that task or std::bad_alloc instead of task_cancelled. After this co_await, the
// awaiting task is shielded until it ends, so that it can clean up. Operations that a shielded task
// awaits or defers, directly or in coroutines that it calls, end as if nothing had been cancelled.
// A shutdown waits for a shielded task. If only the awaited task was cancelled, the awaiting task
// is not shielded.

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

/// Base class of the awaiters. An awaiter has a pointer to the co_loop of the awaiting task.
class awaiter {
public:
    bool await_ready() const noexcept { return false; }

protected:
    template <class Promise>
    co_loop& enter(std::coroutine_handle<Promise> by) {
        loop_ = loop_of(by);
        return *loop_;
    }
    /// Returns how the await ended. If nothing was awaited, the returned status reports success.
    /// See co_loop::take() for `first`.
    await_status take(task_id* first = nullptr) {
        return loop_ != nullptr ? loop_->take(first) : await_status{};
    }

    co_loop* loop_ = nullptr;
};

/// An awaiter whose co_await returns no value.
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

/// Always returns true, because the scheduler of a task cannot be found from its id.
inline bool may_await(task_context&, const task_ids&) { return true; }

/// `Ids` is either task_ids, which is a view of ids that the caller keeps, or awaited_tasks, which
/// has its own copy of the ids.
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
/// Returns the scheduler of the future, or null if the future is empty.
template <class T>
const runtime* scheduler_of(const future<T>& f) {
    return f.valid() ? &f.internals() : nullptr;
}

template <class T>
concept names_task = requires(const T& t) { detail::id_of(t); };

/// A list of up to 8 tasks, each given by its id or its future. The futures are not moved from.
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
    /// If one of the futures belongs to another scheduler, may_be_awaited() calls the assertion
    /// handler and returns false.
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
    const runtime* first_ = nullptr;  // scheduler of the first nonempty future, or null
    const runtime* other_ = nullptr;  // a different scheduler of another future, or null
};

inline bool may_await(task_context& context, const awaited_tasks& tasks) {
    return tasks.may_be_awaited(context);
}

template <class T>
class future_awaiter : public awaiter {
public:
    explicit future_awaiter(future<T>&& f) : awaited_(std::move(f)) {}
    bool await_ready() const noexcept { return !awaited_.valid(); }
    /// Returns false if the task is already complete. The coroutine then does not suspend.
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

/// An awaiter that returns the outcome of `Awaiter` and throws nothing.
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
/// the awaited task. If the task failed before the await, the co_await throws task_failed. If the
/// task was cancelled before the await, the co_await throws task_cancelled. See task_state for how
/// long the scheduler remembers the outcome of a task.
inline auto operator co_await(task_id id) { return detail::task_awaiter(id); }
/// `co_await id` waits until the completion is settled, the children of the completion are
/// complete, and the object that the completion keeps is destroyed. `co_await id.task()` does the
/// same.
inline auto operator co_await(completion_id id) { return detail::task_awaiter(id.task()); }
/// `co_await std::move(f)` waits until the task of the future is complete, and returns the value of
/// the future.
template <class T>
auto operator co_await(future<T>&& f) {
    return detail::future_awaiter<T>(std::move(f));
}
/// `co_await when_all(ids)` waits until all tasks in `ids` are complete. The array that `ids`
/// refers to must stay valid until then.
inline auto when_all(task_ids ids) { return detail::all_awaiter<task_ids>(ids); }
/// `co_await when_all({a, b})` waits for up to 8 tasks, each given by its id or its future. The
/// futures are not moved from. After the await, get() returns the value of a future.
inline auto when_all(const detail::awaited_tasks& tasks) {
    return detail::all_awaiter<detail::awaited_tasks>(tasks);
}
/// `co_await when_any(ids)` waits until the first task in `ids` is complete, and returns the index
/// of that task. If that task failed, the co_await throws its failure. The other tasks continue.
/// Each of them costs 32 bytes until it is complete. The array that `ids` refers to must stay valid
/// until the await ends. If `ids` is empty, the await ends at once and returns 0.
inline auto when_any(task_ids ids) { return detail::any_awaiter<task_ids>(ids, nullptr); }
/// `co_await when_any({a, b})` waits for the first of up to 8 tasks, each given by its id or its
/// future.
inline auto when_any(const detail::awaited_tasks& tasks) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, nullptr);
}
/// With this argument, when_any() cancels the scope `in` when the first task is complete. To cancel
/// the other tasks, put them into that scope.
struct cancel_rest {
    scope& in;
};
inline auto when_any(task_ids ids, cancel_rest rest) {
    return detail::any_awaiter<task_ids>(ids, &rest.in);
}
inline auto when_any(const detail::awaited_tasks& tasks, cancel_rest rest) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, &rest.in);
}

// ---- time, and where the task resumes -----------------------------------------------------------

/// Suspends the task for `time`. The time is measured by the scheduler's clock, which timers use as
/// well. If `time` is 0 or less, the task still suspends, and resumes as soon as its timer is
/// served. `name` is shown in profiles. It must be a literal or outlive the sleep.
inline auto sleep_for(nanoseconds time, const char* name = "sleep_for",
                      std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(time, false, name, where);
}
/// Suspends the task until the time `moment`, in ns on the scheduler's clock, as in
/// timer_tick::due. See sleep_for() for `name`.
inline auto sleep_until(std::int64_t moment, const char* name = "sleep_until",
                        std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(nanoseconds(moment), true, name, where);
}
/// Suspends the task and queues it behind the tasks that are ready now. Tasks that yield again and
/// again cannot keep another task from running. A yielding task that any worker may run is queued
/// in the overflow list, which all threads share. If a thread has no ready task of its own and has
/// fetched 32 tasks in a row from the overflow list, it steals up to 32 tasks from another thread
/// before the next fetch. While such steals find tasks, fetches and steals alternate. If a thread
/// waits for a yielding task and runs this task during the wait, another thread stands in and runs
/// the other ready tasks.
inline auto yield() { return detail::yield_awaiter(); }
/// Makes the task continue as a task of class `as`, on any thread of that class. A task that was
/// bound to one thread or to a set of workers loses this binding.
inline auto resume_on(task_class as) { return detail::move_awaiter<task_class>(as); }
/// Makes the task continue on `thread`, and on no other thread. If `thread` is empty, has already
/// left, or belongs to another scheduler, the assertion handler is called, and the task may run on
/// the same threads as before. If `thread` is a main thread that leaves later, the task is
/// cancelled.
inline auto resume_on(thread_ref thread) { return detail::move_awaiter<thread_ref>(thread); }

// ---- without exceptions ------------------------------------------------------------------------

/// `co_await as_result(x)` waits like `co_await x`, but throws nothing. It returns an
/// await_result<T>, where T is the type that `co_await x` returns.
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
