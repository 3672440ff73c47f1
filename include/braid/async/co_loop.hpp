#pragma once
// The state that all coroutine frames of one task share.
//
// A loop in the task, co_loop::run(), resumes the frames. The frames do not transfer control
// directly to each other, because g++ 12 uses stack for each symmetric transfer when it compiles
// without optimization or with sanitizers. With the loop, a chain of coroutines of any length uses
// no stack.

#include "braid/core/error.hpp"
#include "braid/core/suspend.hpp"
#include "braid/core/task_context.hpp"

#include <coroutine>
#include <exception>
#include <new>
#include <optional>
#include <utility>

BRAID_NAMESPACE_BEGIN

/// The outcome of an await. `co_await as_result(…)` returns it. An await_status converts to true if
/// the await succeeded.
struct await_status {
    std::exception_ptr error;  // the exception of the awaited task if it failed, or null
    /// Set if the awaited task or the awaiting task itself was cancelled. A cancellation of the
    /// awaiting task is reported once, even if `error` is set as well.
    bool cancelled = false;
    bool no_memory = false;  // there was not enough memory for the wait
    explicit operator bool() const { return error == nullptr && !cancelled && !no_memory; }
};

/// The outcome of an await, with the value that the await returned if it succeeded.
template <class T>
struct await_result : await_status {
    std::optional<T> value;
};
template <>
struct await_result<void> : await_status {};

namespace detail {

struct co_loop;

/// Returns a reference to a coroutine's pointer to its loop. The pointer is null until the
/// coroutine has started.
template <class Promise>
co_loop*& loop_of(std::coroutine_handle<Promise> of) {
    constexpr bool is_braids = requires(Promise& p) { p.is_of_a_co; };
    static_assert(
        is_braids,
        "what Braid gives to co_await is awaited in a coroutine that returns a braid::co");
    if constexpr (is_braids) {
        return of.promise().loop;
    } else {
        static co_loop* none = nullptr;
        return none;
    }
}

/// Runs the frames of one task. The object is stored in the storage of the task.
struct co_loop : resumable_body {
    std::coroutine_handle<> current;  // next to resume; null if the outermost frame has returned
    task_context* context = nullptr;  // valid while the body runs
    bool suspended = false;
    bool came = false;     // the last wait has ended, and take() has not been called yet
    bool refused = false;  // there was no memory for the wait
    bool foreign = false;  // a future belongs to another scheduler; the await ends as cancelled

    void run(task_context& task) {
        context = &task;
        came = std::exchange(suspended, false);
        while (current && !suspended) current.resume();
    }
    void suspend(const suspension& how = {}) {
        if (std::exchange(came, false)) end_suspension(*context);
        begin_suspension(*context, how);
        suspended = true;
        refused = foreign = false;
    }
    void await(task_id id) {
        if (await_task(*context, id) == awaiting::no_memory) refused = true;
    }
    /// Returns how the wait ended. It must be called once after each resumption. With
    /// suspension::first_is_enough, `first` receives the first task that became complete, or an
    /// empty id if none did.
    await_status take(task_id* first = nullptr) {
        came = false;
        const resumption r = end_suspension(*context);
        if (first != nullptr) *first = r.first;
        await_status s{r.error, r.cancelled || foreign, refused};
        if (r.not_wanted) {
            s.cancelled = true;
            shield(*context);
        }
        return s;
    }
    static void raise([[maybe_unused]] const await_status& s) {
#if BRAID_HAS_EXCEPTIONS
        if (s.error != nullptr) std::rethrow_exception(s.error);
        if (s.no_memory) throw std::bad_alloc{};
        if (s.cancelled) throw task_cancelled{};
#endif
    }
};

}  // namespace detail
BRAID_NAMESPACE_END
