#pragma once
// The closure of a task is its callable. It is constructed in the task's slot if it fits, and on
// the heap otherwise.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

class task_context;

namespace detail {

class runtime;
struct whole_seat;

inline constexpr std::size_t closure_bytes = 48;
inline constexpr std::size_t closure_alignment = 64;

/// Runs the callable in `storage` and destroys it. If `context` is null, the function only destroys
/// the callable.
using closure_fn = void (*)(void* storage, task_context* context);

/// A task slot that open_task() or open_plain() has reserved and that is not published yet. The
/// caller must construct the callable in `storage` and publish the task, or abandon the task.
struct draft {
    void* storage = nullptr;      // null if the task was refused
    whole_seat* owner = nullptr;  // the seat of the calling thread, if it has one
};

enum class draft_kind : std::uint8_t {
    posted,  // nobody gets the id, so nobody can wait for the task, depend on it or add children
    spawned,
    built,      // a task_builder keeps the task open
    valued,     // a future owns the task and keeps its slot
    resumable,  // like `valued`, and the storage begins with a resumable_body
    shared,     // the closure stays alive for the children until the task is complete
};

/// Reserves a slot for a task and applies the options. `w` must be the calling thread's seat, or
/// null if the caller does not know the seat. The returned draft has no storage if the task is
/// refused.
BRAID_API draft open_task(runtime& rt, whole_seat* w, const task_options& options, draft_kind kind);
BRAID_API task_id publish_task(runtime& rt, draft d, closure_fn run);
/// The options of a posted or spawned task for which options.plain() is true. Such a task takes a
/// shorter path through open_plain() and publish_plain(); see src/core/life/life_room.hpp.
struct plain_options {
    scope* within;
    const char* name;
    draft_kind kind;
    std::source_location where;
};
BRAID_API draft open_plain(runtime& rt, whole_seat* w, const plain_options& options);
BRAID_API task_id publish_plain(runtime& rt, draft d, closure_fn run);
/// Ends the task as cancelled. Call this if the callable could not be constructed.
BRAID_API void abandon_task(runtime& rt, draft d);

BRAID_API void* allocate_closure(runtime& rt, std::size_t bytes, std::size_t alignment);
BRAID_API void release_closure(runtime& rt, void* p, std::size_t bytes, std::size_t alignment);
BRAID_API void fail_task(task_context& context, std::exception_ptr error);

template <class F>
concept task_callable =
    std::is_invocable_v<std::decay_t<F>&> || std::is_invocable_v<std::decay_t<F>&, task_context&>;

/// Matches a braid::co, a coroutine that does not run before it is awaited or spawned.
template <class R>
concept unstarted_coroutine = requires { std::remove_cvref_t<R>::promise_type::is_of_a_co; };

template <class F>
decltype(auto) call_task(F& f, task_context& context) {
    if constexpr (std::is_invocable_v<F&, task_context&>) {
        return f(context);
    } else {
        return f();
    }
}

/// Stores an object in a slot's storage if it fits. Otherwise the object is on the heap, and the
/// storage holds a pointer to it.
template <class T, std::size_t Bytes = closure_bytes, std::size_t Alignment = closure_alignment>
struct stored {
    static constexpr bool fits = sizeof(T) <= Bytes && alignof(T) <= Alignment;
    struct box {
        T* object;
        runtime* rt;
    };

    static T& get(void* storage) {
        if constexpr (fits) {
            return *std::launder(static_cast<T*>(storage));
        } else {
            return *std::launder(static_cast<box*>(storage))->object;
        }
    }

    /// Constructs the object. Returns false if the object does not fit and there is no memory for
    /// it on the heap.
    template <class... Arguments>
    static bool put(runtime& rt, void* storage, Arguments&&... arguments) {
        if constexpr (fits) {
            ::new (storage) T(std::forward<Arguments>(arguments)...);
        } else {
            struct block {
                runtime& rt;
                void* bytes;
                ~block() {
                    if (bytes != nullptr) release_closure(rt, bytes, sizeof(T), alignof(T));
                }
            } b{rt, allocate_closure(rt, sizeof(T), alignof(T))};
            if (b.bytes == nullptr) return false;
            T* object = ::new (b.bytes) T(std::forward<Arguments>(arguments)...);
            b.bytes = nullptr;
            ::new (storage) box{object, &rt};
        }
        return true;
    }

    /// Moves the object from the storage `from` to the storage `to`. Afterward, `from` holds
    /// nothing and must not be destroyed.
    static void move(void* to, void* from) noexcept {
        if constexpr (fits) {
            ::new (to) T(std::move(get(from)));
            get(from).~T();
        } else {
            ::new (to) box(*std::launder(static_cast<box*>(from)));
        }
    }

    static void destroy(void* storage) {
        if constexpr (fits) {
            get(storage).~T();
        } else {
            const box b = *std::launder(static_cast<box*>(storage));
            b.object->~T();
            release_closure(*b.rt, b.object, sizeof(T), alignof(T));
        }
    }
};

/// Calls `body`. If `body` throws, the task of `context` fails with that exception.
template <class Body>
void guarded(task_context& context, Body&& body) {
#if BRAID_HAS_EXCEPTIONS
    try {
        body();
    } catch (...) {
        fail_task(context, std::current_exception());
    }
#else
    static_cast<void>(context);
    body();
#endif
}

template <class F>
void run_closure(void* storage, task_context* context) {
    if (context != nullptr) {
        static_assert(!unstarted_coroutine<decltype(call_task(std::declval<F&>(), *context))>,
                      "a task that returns a coroutine would not run it: use co_spawn()");
        guarded(*context, [&] { call_task(stored<F>::get(storage), *context); });
    }
    stored<F>::destroy(storage);  // must come before the task is visible as complete
}

using publish_fn = task_id (*)(runtime& rt, draft d, closure_fn run);

/// Constructs a T in the storage of the slot `opened` and publishes the task. `run` later reads the
/// T from that storage. Returns the empty id if the task was refused or there is no memory for the
/// T. If the constructor of T throws, the task ends as cancelled and the exception passes to the
/// caller.
template <class T, class... Arguments>
task_id put_and_publish(runtime& rt, draft opened, publish_fn publish, closure_fn run,
                        Arguments&&... arguments) {
    struct guard {
        runtime& rt;
        draft d;
        ~guard() {
            if (d.storage != nullptr) abandon_task(rt, d);
        }
    } g{rt, opened};
    if (g.d.storage == nullptr) return {};
    if (!stored<T>::put(rt, g.d.storage, std::forward<Arguments>(arguments)...)) return {};
    const draft d = std::exchange(g.d, {});
    return publish(rt, d, run);
}

template <class T, class... Arguments>
task_id submit_as(runtime& rt, whole_seat* w, const task_options& options, draft_kind kind,
                  closure_fn run, Arguments&&... arguments) {
    return put_and_publish<T>(rt, open_task(rt, w, options, kind), publish_task, run,
                              std::forward<Arguments>(arguments)...);
}

template <class F>
task_id submit_plain(runtime& rt, whole_seat* w, scope* within, const char* name, draft_kind kind,
                     std::source_location where, F&& f) {
    using callable = std::decay_t<F>;
    return put_and_publish<callable>(rt, open_plain(rt, w, {within, name, kind, where}),
                                     publish_plain, &run_closure<callable>, std::forward<F>(f));
}

template <class F>
task_id submit(runtime& rt, whole_seat* w, const task_options& options, draft_kind kind, F&& f) {
    const bool simple = kind == draft_kind::posted || kind == draft_kind::spawned;
    if (simple && options.plain()) {
        return submit_plain(rt, w, options.within, options.name, kind, options.where,
                            std::forward<F>(f));
    }
    using callable = std::decay_t<F>;
    return submit_as<callable>(rt, w, options, kind, &run_closure<callable>, std::forward<F>(f));
}

}  // namespace detail

/// The callable of a task that has no work of its own. The task is complete when its predecessors
/// and children are complete.
struct empty_task {};
inline constexpr empty_task empty{};

BRAID_NAMESPACE_END
