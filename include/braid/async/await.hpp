#pragma once
// What a coroutine can await, beside other coroutines (co.hpp) and channels (channel.hpp).
//
// Each gives the thread back until it has come about, and throws then: what the awaited one failed
// with; task_cancelled if that was cancelled, or if the awaiting task is not wanted any more (its
// scope is cancelled, or a discarding shutdown began); std::bad_alloc where there was no memory to
// wait. as_result() around it throws nothing.
//
// That a task is not wanted any more ends one await, at once. From then on the task cleans up: what
// it awaits and defers until it ends, also in coroutines that it calls, ends as if nothing had been
// cancelled, and a shutdown waits for it. The await that throws is the first one that ends after
// the cancellation, whatever it throws. If only the awaited one was cancelled, nothing is shielded.

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

/// What awaiters have in common: the loop of the task that awaits.
class awaiter {
public:
    bool await_ready() const noexcept { return false; }

protected:
    template <class Promise>
    co_loop& enter(std::coroutine_handle<Promise> by) {
        loop_ = loop_of(by);
        return *loop_;
    }
    /// All well, if nothing was awaited.
    await_status take(task_id* first = nullptr) {
        return loop_ != nullptr ? loop_->take(first) : await_status{};
    }

    co_loop* loop_ = nullptr;
};

/// One that has no value.
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

/// An id does not know its scheduler.
inline bool may_await(task_context&, const task_ids&) { return true; }

/// `Ids`: task_ids, which views what the caller keeps, or awaited_tasks.
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
/// Null: it is empty.
template <class T>
const runtime* scheduler_of(const future<T>& f) {
    return f.valid() ? &f.internals() : nullptr;
}

template <class T>
concept names_task = requires(const T& t) { detail::id_of(t); };

/// Tasks that are written down one by one, by their ids or by futures that stay the caller's.
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
    /// False, and reported: a future of them is another scheduler's.
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
    const runtime* first_ = nullptr;  // whose the futures are; null: there are none
    const runtime* other_ = nullptr;  // one more; null: they are of one scheduler
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

/// Until that task is complete. A thread that waits for the coroutine helps with it. For one that
/// had failed before, task_failed is thrown, for one that had been cancelled task_cancelled; see
/// task_state for how long an id remembers that.
inline auto operator co_await(task_id id) { return detail::task_awaiter(id); }
/// Until somebody has settled it and nothing is left of it: as `co_await id.task()`.
inline auto operator co_await(completion_id id) { return detail::task_awaiter(id.task()); }
/// Does it, and gives the value.
template <class T>
auto operator co_await(future<T>&& f) {
    return detail::future_awaiter<T>(std::move(f));
}
/// Until all are complete. What `ids` views stays where it is meanwhile.
inline auto when_all(task_ids ids) { return detail::all_awaiter<task_ids>(ids); }
/// `co_await when_all({a, b})`: of up to 8 ids and futures. A future is not moved from: get() gives
/// its value afterwards.
inline auto when_all(const detail::awaited_tasks& tasks) {
    return detail::all_awaiter<detail::awaited_tasks>(tasks);
}
/// Until the first of them is complete; gives its index. If that failed it throws that failure.
/// The others go on, and cost 32 bytes each until they are complete. As when_all() with `ids`;
/// of none: 0, at once.
inline auto when_any(task_ids ids) { return detail::any_awaiter<task_ids>(ids, nullptr); }
/// `co_await when_any({a, b})`: of ids and futures, as when_all().
inline auto when_any(const detail::awaited_tasks& tasks) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, nullptr);
}
/// Then cancels that scope, in which the others are.
struct cancel_rest {
    scope& in;
};
inline auto when_any(task_ids ids, cancel_rest rest) {
    return detail::any_awaiter<task_ids>(ids, &rest.in);
}
inline auto when_any(const detail::awaited_tasks& tasks, cancel_rest rest) {
    return detail::any_awaiter<detail::awaited_tasks>(tasks, &rest.in);
}

// ---- time, and where it goes on ----------------------------------------------------------------

/// On the scheduler's clock (that of timers); 0 and below: it goes on behind what is ready now.
/// `name`, for profiles, is a literal or outlives it.
inline auto sleep_for(nanoseconds time, const char* name = "sleep_for",
                      std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(time, false, name, where);
}
/// Until a moment of that clock, as in timer_tick::due.
inline auto sleep_until(std::int64_t moment, const char* name = "sleep_until",
                        std::source_location where = std::source_location::current()) {
    return detail::sleep_awaiter(nanoseconds(moment), true, name, where);
}
/// Behind the tasks that are ready now. However often tasks yield, they keep no other one from
/// running: a thread that has taken 32 times what yielded takes what lies with another thread, up
/// to 32 tasks, and from then on each second time until nothing is left there. A thread that runs
/// what yields because it waits for it has another thread stand in for what is ready beside that.
inline auto yield() { return detail::yield_awaiter(); }
/// From here on it runs as a task of that class, on any of its threads: also one that had a thread
/// of its own, or a set of workers.
inline auto resume_on(task_class as) { return detail::move_awaiter<task_class>(as); }
/// From here on by that thread alone. A main thread that has left by then cancels it.
inline auto resume_on(thread_ref thread) { return detail::move_awaiter<thread_ref>(thread); }

// ---- without exceptions ------------------------------------------------------------------------

/// `co_await as_result(x)` throws nothing, and gives an await_result of what `co_await x` gives.
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
