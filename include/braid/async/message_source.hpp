#pragma once
// Tasks from messages: any thread pushes, and one task after the other takes what came, in order.
// No thread waits for messages, and nobody who pushes waits for a task.
//
//   braid::message_source<request> inbox(scheduler, {.name = "requests", .batch = 16},
//                                        [&](std::span<request> some) { answer(some); });
//   inbox.push(request{...});   // any thread

#include "braid/async/source_task.hpp"
#include "braid/base/bounded_queue.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

/// A number outside its range counts as the nearest inside, and is reported to the scheduler's log.
struct message_options {
    static constexpr std::uint32_t least_capacity = 2, most_capacity = std::uint32_t{1} << 20;
    static constexpr std::uint32_t most_batch = 4096;

    const char* name = "messages";  // of its tasks, too; outlives the source
    std::uint32_t capacity = 256;   // least_capacity..most_capacity, rounded up to a power of two
    std::uint32_t batch = 1;        // messages that a task takes at most: 1..most_batch
    source_task task = {};
    std::source_location where = std::source_location::current();
};

namespace detail {

/// When a message_source has a task; the same for messages of any type.
class message_tasks {
public:
    struct functions {
        void (*serve)(void* self, task_context& task) = nullptr;  // takes a batch
        bool (*left)(const void* self) = nullptr;                 // there are messages
        void (*drop)(void* self) = nullptr;  // gives all memory back: the scheduler ends
        void* self = nullptr;
        const void* captures = nullptr;  // of the program's callable
        std::size_t captured_bytes = 0;
    };

    /// Brings the numbers into their ranges.
    BRAID_API message_tasks(runtime& rt, message_options& options);
    message_tasks(const message_tasks&) = delete;
    message_tasks& operator=(const message_tasks&) = delete;
    ~message_tasks() = default;

    /// Nothing is served before.
    BRAID_API void open(const functions& f);
    /// Returns when all was served, or nothing will be. False, and reported: by its own task.
    BRAID_API bool close();
    BRAID_API bool accepts() const;
    /// A message has come.
    BRAID_API void pushed();
    BRAID_API task_id newest() const;

private:
    struct state;
    runtime& rt_;
    state* state_ = nullptr;  // null: no memory, or the scheduler has ended
};

/// Default-constructed objects in the scheduler's memory, which outlives them.
template <class T>
class source_array {
public:
    source_array(runtime& rt, std::size_t count) : rt_(rt) {
        void* const bytes = allocate_closure(rt, sizeof(T) * count, alignof(T));
        if (bytes == nullptr) return;
        first_ = static_cast<T*>(bytes);
        count_ = count;
        std::uninitialized_default_construct_n(first_, count);
    }
    ~source_array() { reset(); }
    source_array(const source_array&) = delete;
    source_array& operator=(const source_array&) = delete;
    void reset() {
        if (first_ == nullptr) return;
        std::destroy_n(first_, count_);
        release_closure(rt_, std::exchange(first_, nullptr), sizeof(T) * count_, alignof(T));
    }
    T* data() const { return first_; }

private:
    runtime& rt_;
    T* first_ = nullptr;
    std::size_t count_ = 0;
};

template <class F, class T>
concept message_callable = source_callable<F, std::span<T>> || std::is_invocable_v<F&, T&> ||
                           std::is_invocable_v<F&, task_context&, T&>;

}  // namespace detail

/// `f` is called as f(std::span<T>) for a batch, or as f(T&) for each message of one; either with a
/// task_context& first. A T is default-constructed and moved in; when its batch has been served,
/// also by a task that failed, T{} is assigned to it, so that what a message holds is given back
/// then. In the order in which they were pushed, and never two tasks at a time. What `f` throws is
/// the task's failure; the rest of its batch is dropped.
///
/// push() makes the task where there is none. Without memory for that the messages wait for the
/// next push(). A source must be destroyed before its scheduler. Cost: sizeof(T) + 8 bytes for each
/// message that there is room for; a push 50 ns and, where there is no task, what it takes to spawn
/// one.
template <class T>
class message_source {
    using ring = bounded_queue<T>;

public:
    template <class F>
        requires detail::message_callable<std::decay_t<F>, T>
    message_source(scheduler& s, message_options options, F&& f)
        : rt_(s.internals()),
          tasks_(rt_, options),
          cells_(rt_, std::bit_ceil(std::size_t{options.capacity})),
          batch_(rt_, options.batch),
          most_(options.batch),
          queue_(cells_.data() != nullptr ? cells_.data() : none_,
                 cells_.data() != nullptr ? std::bit_ceil(std::size_t{options.capacity}) : 2) {
        if (cells_.data() == nullptr || batch_.data() == nullptr || !keep(std::forward<F>(f))) {
            return;
        }
        tasks_.open({.serve = &serve,
                     .left = &left,
                     .drop = &drop,
                     .self = this,
                     .captures = body_.object(),
                     .captured_bytes = body_.size()});
    }
    /// Takes no more; returns when all that was pushed was served, and helps with it. After a
    /// shutdown began what is left is dropped. Not from a task of its own: that is reported, and
    /// memory stays.
    ~message_source() {
        if (tasks_.close()) body_.reset(rt_);
    }
    message_source(const message_source&) = delete;
    message_source& operator=(const message_source&) = delete;

    /// Any thread. False: full, no memory, or the scheduler is shut down.
    bool push(T message) {
        if (!tasks_.accepts()) return false;
        if (!queue_.push_with([&message](T& to) { to = std::move(message); })) return false;
        tasks_.pushed();
        return true;
    }
    /// Messages that no task has taken.
    std::size_t size() const { return queue_.size(); }
    /// The latest one; empty: there was none.
    task_id task() const { return tasks_.newest(); }

private:
    template <class F>
    bool keep(F&& f) {
        using callable = std::decay_t<F>;
        if constexpr (detail::source_callable<callable, std::span<T>>) {
            return body_.emplace(rt_, std::forward<F>(f));
        } else if constexpr (std::is_invocable_v<callable&, task_context&, T&>) {
            return body_.emplace(rt_, [g = callable(std::forward<F>(f))](
                                          task_context& task, std::span<T> some) mutable {
                for (T& one : some) g(task, one);
            });
        } else {
            return body_.emplace(rt_,
                                 [g = callable(std::forward<F>(f))](std::span<T> some) mutable {
                                     for (T& one : some) g(one);
                                 });
        }
    }
    static void serve(void* self, task_context& task) {
        auto& s = *static_cast<message_source*>(self);
        struct taken {
            T* first;
            std::size_t count = 0;
            ~taken() {
                for (std::size_t i = 0; i != count; ++i) first[i] = T{};
            }
        } batch{s.batch_.data()};
        while (batch.count < s.most_ && s.queue_.pop_with([&batch](T& from) {
            batch.first[batch.count] = std::exchange(from, T{});  // moving may be copying
        })) {
            ++batch.count;
        }
        if (batch.count != 0) s.body_.call(task, std::span<T>(batch.first, batch.count));
    }
    static bool left(const void* self) {
        return static_cast<const message_source*>(self)->size() != 0;
    }
    static void drop(void* self) {
        auto& s = *static_cast<message_source*>(self);
        s.body_.reset(s.rt_);
        s.batch_.reset();
        s.cells_.reset();
    }

    detail::runtime& rt_;
    detail::message_tasks tasks_;
    typename ring::cell none_[2];  // where there is no memory
    detail::source_array<typename ring::cell> cells_;
    detail::source_array<T> batch_;
    const std::uint32_t most_;
    ring queue_;
    detail::source_body<std::span<T>> body_;
};

BRAID_NAMESPACE_END
