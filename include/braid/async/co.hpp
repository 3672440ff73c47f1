#pragma once
// Coroutines as tasks: co_spawn() makes one task of a co<T>, which is alive over all suspensions. A
// co_await gives the thread back, and a thread that waits for the task helps with what it awaits.
//
// Control passes through a loop in the task, co_loop::run(), and not from frame to frame: g++ 12
// without optimization, and under sanitizers, uses stack for each symmetric transfer. A chain of
// any length needs no stack.

#include "braid/core/error.hpp"
#include "braid/core/future.hpp"
#include "braid/core/suspend.hpp"
#include "braid/core/task_context.hpp"

#include <coroutine>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

template <class T = void>
class co;
class fork_context;

namespace detail {

/// What all frames of one task share; lies in the task.
struct co_loop {
    std::coroutine_handle<> current;  // goes on next; null: the outermost one has returned
    task_context* context = nullptr;  // while the body runs
    resumption came;                  // of what was awaited last
    bool suspended = false;
    bool unwinds = false;  // the cancellation was thrown

    void run(task_context& task) {
        context = &task;
        if (std::exchange(suspended, false)) came = end_suspension(task);
        while (current && !suspended) current.resume();
    }
    void suspend() {
        begin_suspension(*context);
        suspended = true;
    }
    void raise() {
#if BRAID_HAS_EXCEPTIONS
        if (came.error != nullptr) std::rethrow_exception(std::exchange(came.error, nullptr));
        if (came.cancelled && !std::exchange(unwinds, true)) throw task_cancelled{};
#endif
    }
};

template <class T>
inline constexpr bool dies_at_suspension = std::is_same_v<std::remove_cvref_t<T>, task_context> ||
                                           std::is_same_v<std::remove_cvref_t<T>, fork_context>;

class co_promise_base {
public:
    std::suspend_always initial_suspend() const noexcept { return {}; }
    auto final_suspend() noexcept {
        struct back {
            co_promise_base& own;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) const noexcept {
                own.loop->current = own.awaited_by;
            }
            void await_resume() const noexcept {}
        };
        return back{*this};
    }
    void unhandled_exception() noexcept { error = std::current_exception(); }
    void rethrow() {
#if BRAID_HAS_EXCEPTIONS
        if (error != nullptr) std::rethrow_exception(std::exchange(error, nullptr));
#endif
    }
    static void* operator new(std::size_t bytes) noexcept {
        return ::operator new(bytes, std::nothrow);
    }
    static void operator delete(void* frame) noexcept { ::operator delete(frame); }

    co_loop* loop = nullptr;
    std::coroutine_handle<> awaited_by;
    std::exception_ptr error;
};

template <class T>
class co_promise : public co_promise_base {
public:
    template <class... Parameters>
    explicit co_promise(Parameters&...) {
        static_assert(!(dies_at_suspension<Parameters> || ...),
                      "a task_context or fork_context ends with the first suspension: a coroutine "
                      "cannot take one");
    }
    co<T> get_return_object() noexcept;
    static co<T> get_return_object_on_allocation_failure() noexcept;
    template <class U>
    void return_value(U&& v) {
        value.emplace(std::forward<U>(v));
    }
    T take() {
        rethrow();
        return std::move(*value);
    }
    std::optional<T> value;
};

template <>
class co_promise<void> : public co_promise_base {
public:
    template <class... Parameters>
    explicit co_promise(Parameters&...) {
        static_assert(!(dies_at_suspension<Parameters> || ...),
                      "a task_context or fork_context ends with the first suspension: a coroutine "
                      "cannot take one");
    }
    co<void> get_return_object() noexcept;
    static co<void> get_return_object_on_allocation_failure() noexcept;
    void return_void() const noexcept {}
    void take() { rethrow(); }
};

template <class T>
struct co_awaiter {
    std::coroutine_handle<co_promise<T>> frame;

    bool await_ready() const noexcept { return !frame; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) const noexcept {
        co_loop* const loop = by.promise().loop;
        frame.promise().loop = loop;
        frame.promise().awaited_by = by;
        loop->current = frame;
    }
    T await_resume() const {
#if BRAID_HAS_EXCEPTIONS
        if (!frame) throw broken_promise{};
#endif
        return frame.promise().take();
    }
};

}  // namespace detail

/// A coroutine, which starts when it is awaited or spawned, once. Movable; it owns the frame. Empty
/// where there was no memory for that: then co_spawn() gives an empty future, and awaiting it
/// throws broken_promise.
template <class T>
class [[nodiscard]] co {
public:
    using promise_type = detail::co_promise<T>;

    co() = default;
    explicit co(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    co(co&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    co& operator=(co&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~co() {
        if (frame_) frame_.destroy();
    }
    explicit operator bool() const { return static_cast<bool>(frame_); }

    /// By another coroutine: in the same task, no scheduler involved.
    auto operator co_await() && noexcept { return detail::co_awaiter<T>{frame_}; }

    /// For co_spawn().
    std::coroutine_handle<promise_type> internals() const { return frame_; }

private:
    std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
co<T> co_promise<T>::get_return_object() noexcept {
    return co<T>(std::coroutine_handle<co_promise>::from_promise(*this));
}
template <class T>
co<T> co_promise<T>::get_return_object_on_allocation_failure() noexcept {
    return {};
}
inline co<void> co_promise<void>::get_return_object() noexcept {
    return co<void>(std::coroutine_handle<co_promise>::from_promise(*this));
}
inline co<void> co_promise<void>::get_return_object_on_allocation_failure() noexcept { return {}; }

/// What lies in the task.
template <class T>
struct co_body {
    explicit co_body(co<T>&& c) : outermost(std::move(c)) {}

    co<T> outermost;
    co_loop loop;

    /// True: it has returned.
    bool run(task_context& context) {
        auto& promise = outermost.internals().promise();
        if (promise.loop == nullptr) {
            promise.loop = &loop;
            loop.current = outermost.internals();
        }
        loop.run(context);
        return !loop.current;
    }
};

template <class T>
void run_co(void* storage, task_context* context) {
    using stored_body = stored<co_body<T>>;
    if (context == nullptr) return stored_body::destroy(storage);
    co_body<T>& self = stored_body::get(storage);
    if (!self.run(*context)) return;
    bool destroyed = false;
    guarded(*context, [&] {
        auto& promise = self.outermost.internals().promise();
        if constexpr (std::is_void_v<T>) {
            promise.take();
        } else {
            T value = promise.take();
            stored_body::destroy(storage);
            destroyed = true;
            if (stored<T>::put(runtime_of(*context), storage, std::move(value))) {
                keep_value(*context, [](void* s, task_context*) { stored<T>::destroy(s); });
            }
        }
    });
    if (!destroyed) stored_body::destroy(storage);
}

/// Awaits tasks: until all of them are complete.
template <bool throws>
struct task_awaiter {
    const task_id* first;
    std::size_t count;
    co_loop* loop = nullptr;

    bool await_ready() const noexcept { return count == 0; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        loop = by.promise().loop;
        loop->suspend();
        for (std::size_t i = 0; i < count; ++i) await_task(*loop->context, first[i]);
    }
    auto await_resume() const {
        if constexpr (throws) {
            if (loop != nullptr) loop->raise();
        } else {
            return loop != nullptr ? std::exchange(loop->came, {}) : resumption{};
        }
    }
};

/// The one id lies in the awaiter itself, which stays in the frame.
template <bool throws>
struct one_task_awaiter {
    task_id id;
    task_awaiter<throws> all{};

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        all.first = &id;
        all.count = 1;
        all.await_suspend(by);
    }
    auto await_resume() const { return all.await_resume(); }
};

template <class T>
struct future_awaiter {
    future<T> awaited;
    one_task_awaiter<true> task;

    explicit future_awaiter(future<T>&& f) : awaited(std::move(f)), task{awaited.id()} {}
    bool await_ready() const noexcept { return awaited.ready(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        task.await_suspend(by);
    }
    T await_resume() {
        if (task.all.loop != nullptr) task.await_resume();
        return awaited.get();
    }
};

}  // namespace detail

/// Makes a task of it. The task's options are those of every task; its value, or what the coroutine
/// threw, is the future's. Empty: no memory, or shut down.
template <class T>
future<T> co_spawn(scheduler& s, const task_options& options, co<T>&& c) {
    if (!c) return {};
    detail::runtime& rt = s.internals();
    const task_id id = detail::submit_as<detail::co_body<T>>(
        rt, nullptr, options, detail::draft_kind::valued, &detail::run_co<T>, std::move(c));
    return id ? future<T>(rt, id) : future<T>();
}

/// Gives the thread back until that task is complete, and throws what it failed with;
/// task_cancelled if it was cancelled, or if the awaiting task is not wanted any more: once, then
/// destructors run.
inline auto operator co_await(task_id id) { return detail::one_task_awaiter<true>{id}; }
/// Does that for its task, and gives the value.
template <class T>
auto operator co_await(future<T>&& f) {
    return detail::future_awaiter<T>(std::move(f));
}
/// Throws nothing: `co_await as_result(id)` is a detail::resumption, {error, cancelled}.
inline auto as_result(task_id id) { return detail::one_task_awaiter<false>{id}; }
/// Until all are complete; the ids must stay where they are meanwhile.
inline auto when_all(task_ids ids) { return detail::task_awaiter<true>{ids.data, ids.size}; }

BRAID_NAMESPACE_END
