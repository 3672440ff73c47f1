#pragma once
// message_source makes tasks from messages. Any thread may push messages. The tasks of the source
// run one after the other, and receive the messages in order. No thread waits for messages, and no
// push waits for a task.
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

/// A number outside its range is clamped to the range. The scheduler logs the correction.
struct message_options {
    static constexpr std::uint32_t least_capacity = 2, most_capacity = std::uint32_t{1} << 20;
    static constexpr std::uint32_t most_batch = 4096;

    const char* name = "messages";  // also the name of the tasks; must outlive the source
    std::uint32_t capacity = 256;   // least_capacity..most_capacity, rounded up to a power of two
    std::uint32_t batch = 1;        // maximum number of messages for one task, 1..most_batch
    source_task task = {};
    std::source_location where = std::source_location::current();
};

namespace detail {

/// Makes the tasks of a message_source. The class does not depend on the type of the messages.
class message_tasks {
public:
    struct functions {
        void (*serve)(void* self, task_context& task) = nullptr;  // takes and serves a batch
        bool (*left)(const void* self) = nullptr;  // returns true if there are messages
        void (*drop)(void* self) = nullptr;  // releases all memory if the scheduler ends first
        void* self = nullptr;
        const void* captures = nullptr;  // the captures of the program's callable
        std::size_t captured_bytes = 0;
    };

    /// Clamps the numbers of `options` to their ranges.
    BRAID_API message_tasks(runtime& rt, message_options& options);
    message_tasks(const message_tasks&) = delete;
    message_tasks& operator=(const message_tasks&) = delete;
    ~message_tasks() = default;

    /// Sets the functions. Nothing is served before this call.
    BRAID_API void open(const functions& f);
    /// Waits until all messages have been served, or until no more messages will be served, and
    /// returns true. If a task of this source calls close(), the assertion handler is called and
    /// close() returns false.
    BRAID_API bool close();
    BRAID_API bool accepts() const;
    /// Must be called after a message was pushed. Makes a task if the source has none.
    BRAID_API void pushed();
    BRAID_API task_id newest() const;

private:
    struct state;
    runtime& rt_;
    state* state_ = nullptr;  // null if there was no memory, or the scheduler has ended
};

/// An array of default-constructed objects in the scheduler's memory. The scheduler must outlive
/// the objects.
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

/// A task calls `f` as f(std::span<T>) for a batch of messages, or as f(T&) for each message of a
/// batch. In both forms, `f` may have a task_context& as its first parameter. The source has
/// default-constructed T objects, and moves each message into one of these objects. When a batch
/// has been served, even by a task that failed, the source assigns T{} to the objects of the batch,
/// so that the memory of the messages is released. Messages are served in the order in which they
/// were pushed, and never by two tasks at a time. If `f` throws, the task fails with this
/// exception, and the rest of the batch is dropped.
///
/// push() makes a task if the source has none. If there is no memory for the task, the messages
/// wait for the next push(). A source must be destroyed before its scheduler. Cost: sizeof(T) + 8
/// bytes for each message of the capacity, and 50 ns for a push. A push that makes a task also
/// costs as much as a spawn.
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
    /// Waits until all pushed messages have been served. The calling thread helps to serve them.
    /// The remaining messages are dropped if a shutdown began, if the latest task was cancelled, or
    /// if there is no memory for a task. A task of the source must not destroy the source. If it
    /// does, the assertion handler is called, and the memory of the source is not released.
    ~message_source() {
        if (tasks_.close()) body_.reset(rt_);
    }
    message_source(const message_source&) = delete;
    message_source& operator=(const message_source&) = delete;

    /// Pushes a message. Returns false if the queue is full, if the constructor of the source got
    /// no memory, or if the scheduler is shut down. Any thread may call push().
    bool push(T message) {
        if (!tasks_.accepts()) return false;
        if (!queue_.push_with([&message](T& to) { to = std::move(message); })) return false;
        tasks_.pushed();
        return true;
    }
    /// Returns the number of messages that no task has taken yet.
    std::size_t size() const { return queue_.size(); }
    /// Returns the latest task, or an empty id if the source has made no task.
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
            batch.first[batch.count] = std::exchange(from, T{});  // a move may be a copy
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
    typename ring::cell none_[2];  // used by queue_ if there is no memory
    detail::source_array<typename ring::cell> cells_;
    detail::source_array<T> batch_;
    const std::uint32_t most_;
    ring queue_;
    detail::source_body<std::span<T>> body_;
};

BRAID_NAMESPACE_END
