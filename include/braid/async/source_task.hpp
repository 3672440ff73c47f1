#pragma once
// The parts that timers and other sources share are the options of their tasks and the callable of
// a source.

#include "braid/core/closure.hpp"
#include "braid/core/task_context.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

/// The options for the tasks of a source. Each member has the same meaning as in task_options. The
/// objects that the pointers point to must outlive the source.
struct source_task {
    priority_level priority = priority_level::normal;
    std::uint8_t category = 0;
    task_class runs_as = task_class::frame;
    thread_ref on = {};
    std::uint64_t workers = 0;
    scope* within = nullptr;
    const task_environment* environment = nullptr;
    bool never_waits = false;
    bool may_be_long = false;
    std::uint8_t module = 0;
};

namespace detail {

/// A callable that a source can call as f(), f(const What&), f(task_context&) or f(task_context&,
/// const What&).
template <class F, class What>
concept source_callable =
    std::is_invocable_v<F&> || std::is_invocable_v<F&, What> ||
    std::is_invocable_v<F&, task_context&> || std::is_invocable_v<F&, task_context&, What>;

/// The callable of a source. It is constructed once, and the tasks of the source call it one after
/// the other. A callable that is small and trivially copyable is stored in this object. Any other
/// callable is stored in memory of the scheduler.
template <class What>
class source_body {
public:
    source_body() = default;
    source_body(const source_body&) = delete;
    source_body& operator=(const source_body&) = delete;

    /// Constructs the callable. Returns false if there is no memory.
    template <class F>
    bool emplace(runtime& rt, F&& f) {
        using callable = std::decay_t<F>;
        size_ = sizeof(callable);
        call_ = &call_as<callable>;
        if constexpr (lies_here<callable>) {
            object_ = ::new (static_cast<void*>(here_)) callable(std::forward<F>(f));
            destroy_ = [](runtime&, void*) {};
            return true;
        } else {
            return emplace_outside<callable>(rt, std::forward<F>(f));
        }
    }
    /// Moves the callable of `from` into this object, which must not have a callable yet.
    void take(source_body& from) {
        void* const object = std::exchange(from.object_, nullptr);
        object_ = object == from.here_ ? here_ : object;
        std::memcpy(here_, from.here_, sizeof here_);
        size_ = from.size_;
        call_ = from.call_;
        destroy_ = from.destroy_;
    }
    void call(task_context& task, What what) const { call_(object_, task, what); }
    void reset(runtime& rt) {
        if (void* const object = std::exchange(object_, nullptr)) destroy_(rt, object);
    }
    // code(), object() and size() describe the callable to a code_search.
    const void* code() const { return reinterpret_cast<const void*>(call_); }
    const void* object() const { return object_; }
    std::size_t size() const { return size_; }

private:
    static constexpr std::size_t bytes_here = 3 * sizeof(void*);
    template <class F>
    static constexpr bool lies_here =
        sizeof(F) <= bytes_here && alignof(F) <= alignof(void*) && std::is_trivially_copyable_v<F>;

    template <class Callable, class F>
    bool emplace_outside(runtime& rt, F&& f) {
        struct guard {
            runtime& to;
            void* bytes;
            ~guard() {
                if (bytes == nullptr) return;
                release_closure(to, bytes, sizeof(Callable), alignof(Callable));
            }
        } g{rt, allocate_closure(rt, sizeof(Callable), alignof(Callable))};
        if (g.bytes == nullptr) return false;
        ::new (g.bytes) Callable(std::forward<F>(f));
        object_ = std::exchange(g.bytes, nullptr);
        destroy_ = [](runtime& of, void* object) {
            std::launder(static_cast<Callable*>(object))->~Callable();
            release_closure(of, object, sizeof(Callable), alignof(Callable));
        };
        return true;
    }
    template <class F>
    static void call_as(void* object, task_context& task, What what) {
        F& f = *std::launder(static_cast<F*>(object));
        if constexpr (std::is_invocable_v<F&, task_context&, What>) {
            f(task, what);
        } else if constexpr (std::is_invocable_v<F&, What>) {
            f(what);
        } else if constexpr (std::is_invocable_v<F&, task_context&>) {
            f(task);
        } else {
            f();
        }
    }

    alignas(void*) std::byte here_[bytes_here]{};
    void* object_ = nullptr;
    std::size_t size_ = 0;
    void (*call_)(void* object, task_context& task, What what) = nullptr;
    void (*destroy_)(runtime& of, void* object) = nullptr;
};

}  // namespace detail
BRAID_NAMESPACE_END
