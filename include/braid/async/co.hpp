#pragma once
// This header makes tasks from coroutines. co_spawn() makes one task from a co<T>. This task stays
// open across all suspensions. A co_await releases the thread. A thread that waits for the task
// helps with the tasks that the coroutine awaits.

#include "braid/async/await.hpp"
#include "braid/async/co_frame.hpp"

#include <type_traits>

BRAID_NAMESPACE_BEGIN

template <class T = void>
class co;
class fork_context;

namespace detail {

template <class T>
inline constexpr bool dies_at_suspension = std::is_same_v<std::remove_cvref_t<T>, task_context> ||
                                           std::is_same_v<std::remove_cvref_t<T>, fork_context>;

/// report_second_await() calls the assertion handler because a coroutine was awaited or spawned
/// before. report_empty_await() logs a warning that an awaited `co` is empty.
BRAID_API void report_second_await(co_loop& loop);
BRAID_API void report_empty_await(co_loop& loop);

class co_promise_base {
public:
    static constexpr bool is_of_a_co = true;
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
    static void* operator new(std::size_t bytes) noexcept { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        release_frame(frame, bytes);
    }

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

/// The awaiter of a coroutine. The awaited coroutine runs in the task of the awaiting coroutine.
/// `Owner` is a co<T>, or a reference to a co<T>.
template <class T, class Owner>
class co_awaiter {
public:
    explicit co_awaiter(Owner&& of) : of_(std::forward<Owner>(of)) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> by) {
        co_loop* const loop = loop_of(by);
        if (!frame()) [[unlikely]] {
            report_empty_await(*loop);
            return false;
        }
        auto& own = frame().promise();
        if (own.loop != nullptr) [[unlikely]] {
            report_second_await(*loop);
            is_second_ = true;
            return false;
        }
        own.loop = loop;
        own.awaited_by = by;
        loop->current = frame();
        return true;
    }
    T await_resume() const {
#if BRAID_HAS_EXCEPTIONS
        if (!frame()) throw std::bad_alloc{};
        if (is_second_) throw broken_promise{};
#else
        if (is_second_) std::terminate();  // there is no value to return
#endif
        return frame().promise().take();
    }
    await_result<T> result() const {
        await_result<T> r;
        r.no_memory = !frame();
        if (r.no_memory) return r;
        if (is_second_) {
            r.cancelled = true;
            return r;
        }
        r.error = std::exchange(frame().promise().error, nullptr);
        if constexpr (!std::is_void_v<T>) {
            if (auto& value = frame().promise().value) r.value.emplace(std::move(*value));
        }
        return r;
    }

private:
    std::coroutine_handle<co_promise<T>> frame() const noexcept { return of_.internals(); }
    Owner of_;
    bool is_second_ = false;
};

}  // namespace detail

/// A coroutine. It starts when it is awaited or spawned, and runs once. A second await calls the
/// assertion handler and throws broken_promise. In a build without exceptions, a second await ends
/// the program, except within as_result().
///
/// A co can be moved, and owns its frame. A co is empty if there was no memory for its frame, or
/// after it was moved from. co_spawn() of an empty co returns an empty future. Awaiting an empty co
/// logs a warning and throws std::bad_alloc. A co that was created in a task must not outlive the
/// scheduler of that task. T must not be aligned to more than 16 bytes.
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

    /// Lets another coroutine await this coroutine, which then runs in the same task. The scheduler
    /// is not involved.
    friend auto operator co_await(co&& c) noexcept {
        return detail::co_awaiter<T, co&&>(std::move(c));
    }
    template <class Named>
        requires std::is_same_v<Named, co>
    friend auto operator co_await(Named& c) noexcept {
        static_assert(!std::is_same_v<Named, co>,
                      "a coroutine runs once: co_await std::move(c), or the call that makes it");
        return detail::co_awaiter<T, co&&>(std::move(c));
    }

    /// co_spawn() and the awaiters use this function.
    std::coroutine_handle<promise_type> internals() const { return frame_; }

private:
    std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
co<T> co_promise<T>::get_return_object() noexcept {
    static_assert(alignof(co_promise) <= 2 * sizeof(void*),
                  "what a coroutine returns must not be over-aligned");
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

/// Searches for the code that `to` looks for, in the frame that resumes next and in the frames that
/// await this frame. Reports the first match to `to` and returns true. Returns false if there is no
/// match.
BRAID_API bool show_frames(const resumable_body& loop, code_search& to, held_code what);

/// The body of a coroutine's task. It is constructed in the storage of the task, and is never
/// moved.
template <class T>
struct co_body {
    explicit co_body(co<T>&& c) : outermost(std::move(c)) {
        outermost.internals().promise().loop = &loop;
        loop.show_code = &show_frames;
        loop.current = outermost.internals();
    }
    co_body(const co_body&) = delete;
    co_body& operator=(const co_body&) = delete;

    co_loop loop;
    co<T> outermost;
    static_assert(sizeof(co_loop) + sizeof(co<T>) <= closure_bytes);

    /// Runs the coroutine until it suspends or returns. Returns true if the coroutine has returned.
    bool run(task_context& context) {
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

}  // namespace detail

/// Makes a task from the coroutine `c`. `options` are the usual options of a task. The future
/// receives the value that the coroutine returns, or the exception that the coroutine throws.
/// Returns an empty future if `c` is empty, there is no memory, or the scheduler is shut down.
template <class T>
future<T> co_spawn(scheduler& s, const task_options& options, co<T>&& c) {
    if (!c) return {};
    detail::runtime& rt = s.internals();
    const task_id id = detail::submit_as<detail::co_body<T>>(
        rt, nullptr, options, detail::draft_kind::resumable, &detail::run_co<T>, std::move(c));
    return id ? future<T>(rt, id) : future<T>();
}

namespace detail {

template <class T>
inline constexpr bool is_co = false;
template <class T>
inline constexpr bool is_co<co<T>> = true;

/// Calls `f` and awaits the coroutine that `f` returns. The frame of owning() owns `f` and the
/// arguments, so that captures and references to the arguments stay valid until the inner coroutine
/// has returned.
template <class F, class... Arguments, class Co = std::invoke_result_t<F&, Arguments&...>>
Co owning(F f, Arguments... arguments) {
    co_return co_await f(arguments...);
}

}  // namespace detail

/// Makes a task that calls `f(arguments…)` and runs the coroutine that this call returns. `f` and
/// copies of the arguments live until the coroutine has returned. So a lambda's captures may be
/// used after a suspension, and `f` may have parameters that are references. The cost is one
/// additional coroutine frame.
template <class F, class... Arguments>
    requires(!detail::is_co<std::remove_cvref_t<F>>)
auto co_spawn(scheduler& s, const task_options& options, F&& f, Arguments&&... arguments) {
    using callable = std::decay_t<F>;
    constexpr bool makes_one = [] {
        if constexpr (std::is_invocable_v<callable&, std::decay_t<Arguments>&...>) {
            return detail::is_co<std::invoke_result_t<callable&, std::decay_t<Arguments>&...>>;
        }
        return false;
    }();
    static_assert(makes_one,
                  "co_spawn() takes a coroutine, or a callable that makes one of the arguments");
    if constexpr (makes_one) {
        return co_spawn(s, options,
                        detail::owning<callable, std::decay_t<Arguments>...>(
                            std::forward<F>(f), std::forward<Arguments>(arguments)...));
    }
}

namespace detail {

class parked_at_event : public awaiter {
public:
    explicit parked_at_event(event_wait& w) : wait_(w) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend();
        if (!wait_.begin(*loop.context)) loop.refused = true;
    }
    await_status await_resume() { return take(); }

private:
    event_wait& wait_;
};

/// Waits until `e` is set. If the wait succeeds and the event is automatic, this task has consumed
/// the event.
inline co<await_status> until_set(event& e) {
    event_wait wait(e);
    await_status s;
    while (s && !wait.take()) s = co_await parked_at_event(wait);
    if (!s) wait.hand_on();
    co_return s;
}

class event_awaiter : public co_awaiter<await_status, co<await_status>> {
public:
    using co_awaiter::co_awaiter;
    void await_resume() { co_loop::raise(result()); }
    await_result<void> result() {
        const auto r = co_awaiter::result();
        if (r.value) return {*r.value};
        return {r};
    }
};

}  // namespace detail

/// `co_await e` waits until the event is set. An automatic event releases one waiter, which may be
/// a thread or a task. The event must outlive the wait.
inline auto operator co_await(event& e) { return detail::event_awaiter(detail::until_set(e)); }

BRAID_NAMESPACE_END
