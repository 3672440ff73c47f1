#pragma once
// A future holds the value of a task. It needs no shared state apart from the task itself, because
// the value is stored in the task's slot.

#include "braid/core/error.hpp"
#include "braid/core/scheduler.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Records that the storage of the running task holds a value from now on, and that `destroy`
/// destroys this value.
BRAID_API void keep_value(task_context& context, closure_fn destroy);
BRAID_API runtime& runtime_of(task_context& context);
BRAID_API void wait_value(runtime& rt, task_id id);
/// Rethrows the task's exception if the task failed with an exception. Otherwise returns the
/// storage of the task's value if the task has a value. If the task has neither, throws
/// broken_promise if it was cancelled, is still open, or failed without memory to record the
/// failure. Returns null in all other cases.
BRAID_API void* take_value(runtime& rt, task_id id);
BRAID_API bool value_ready(runtime& rt, task_id id);
BRAID_API void release_value(runtime& rt, task_id id);
/// Returns the exception with which a complete task failed, and marks the exception as observed.
/// Returns null if there is no exception.
BRAID_API std::exception_ptr take_failure(runtime& rt, task_id id);
/// Returns the storage of a complete task's value, or null if the task has no value.
BRAID_API void* value_of(runtime& rt, task_id id);

template <class F>
using result_of = std::remove_cvref_t<decltype(call_task(std::declval<std::decay_t<F>&>(),
                                                         std::declval<task_context&>()))>;

template <class F, class T>
void run_valued(void* storage, task_context* context) {
    if (context == nullptr) {
        stored<F>::destroy(storage);
        return;
    }
    bool destroyed = false;
    guarded(*context, [&] {
        if constexpr (std::is_void_v<T>) {
            call_task(stored<F>::get(storage), *context);
        } else {
            T value = call_task(stored<F>::get(storage), *context);
            stored<F>::destroy(storage);
            destroyed = true;
            if (stored<T>::put(runtime_of(*context), storage, std::move(value))) {
                keep_value(*context, [](void* s, task_context*) { stored<T>::destroy(s); });
            }
        }
    });
    if (!destroyed) stored<F>::destroy(storage);
}

}  // namespace detail

/// Owns the outcome of a task. A future can be moved, and only one thread may use it at a time. If
/// the future is destroyed early, the task still runs.
template <class T>
class future {
public:
    future() = default;
    future(detail::runtime& rt, task_id id) : rt_(&rt), id_(id) {}
    future(future&& other) noexcept
        : rt_(std::exchange(other.rt_, nullptr)), id_(std::exchange(other.id_, {})) {}
    future& operator=(future&& other) noexcept {
        std::swap(rt_, other.rt_);
        std::swap(id_, other.id_);
        return *this;
    }
    ~future() {
        if (id_) detail::release_value(*rt_, id_);
    }

    /// Returns false if the future was moved from, if its value was taken, or if the task was
    /// refused.
    bool valid() const { return static_cast<bool>(id_); }
    task_id id() const { return id_; }
    /// Returns true if the task is complete. Also returns true if the future is not valid.
    bool ready() const { return !id_ || detail::value_ready(*rt_, id_); }
    void wait() const {
        if (id_) detail::wait_value(*rt_, id_);
    }

    /// Waits for the task and moves the value out of the future. The calling thread runs work that
    /// the task needs during the wait. get() can be called only once. Rethrows the task's
    /// exception. Throws broken_promise if the task never ran or the future is not valid.
    T get() {
        if (!id_) throw_broken();
        future done(std::move(*this));
        detail::wait_value(*done.rt_, done.id_);
        void* storage = detail::take_value(*done.rt_, done.id_);
        if constexpr (!std::is_void_v<T>) {
            if (storage == nullptr) throw_broken();
            return std::move(detail::stored<T>::get(storage));
        }
    }

    /// Internal access for code that awaits the future.
    detail::runtime& internals() const { return *rt_; }

    /// Spawns a task that runs `f(value)` after the task of this future, and returns a future for
    /// the new task. If the task of this future fails, the new task is cancelled with the same
    /// cause. `options.after_all` is overwritten. If this future is not valid, the returned future
    /// is not valid either.
    template <class F>
    auto then(task_options options, F&& f) &&;
    template <class F>
    auto then(F&& f, std::source_location where = std::source_location::current()) && {
        return std::move(*this).then(task_options{.where = where}, std::forward<F>(f));
    }

private:
    [[noreturn]] static void throw_broken() {
#if BRAID_HAS_EXCEPTIONS
        throw broken_promise{};
#else
        std::terminate();
#endif
    }

    detail::runtime* rt_ = nullptr;
    task_id id_;
};

namespace detail {

template <class F>
auto spawn_valued(runtime& rt, const task_options& options, F&& f) {
    using callable = std::decay_t<F>;
    using value = result_of<F>;
    const task_id id = submit_as<callable>(rt, nullptr, options, draft_kind::valued,
                                           &run_valued<callable, value>, std::forward<F>(f));
    return id ? future<value>(rt, id) : future<value>();
}

}  // namespace detail

template <detail::task_callable F>
auto scheduler::async(const task_options& options, F&& f) {
    return detail::spawn_valued(*rt_, options, std::forward<F>(f));
}

template <class T>
template <class F>
auto future<T>::then(task_options options, F&& f) && {
    detail::runtime* const rt = rt_;
    const task_id before = id_;
    options.after_all = task_ids(&before, 1);
    auto body = [value = std::move(*this), next = std::forward<F>(f)]() mutable {
        if constexpr (std::is_void_v<T>) {
            value.get();
            return next();
        } else {
            return next(value.get());
        }
    };
    using continuation = decltype(detail::spawn_valued(*rt, options, std::move(body)));
    return before ? detail::spawn_valued(*rt, options, std::move(body)) : continuation();
}

BRAID_NAMESPACE_END
