#pragma once
// Completions stand for work outside the scheduler. A device, a file reader, a socket or another
// process does this work. A task calls defer(), passes the completion's id to the party that does
// the work, and returns. The task stays open until the completion is settled. No thread waits in
// the meantime.

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN

/// Identifies one completion. An id is plain data that fits into io_uring's user_data, a void* or a
/// message. Ids are never reused. The id of a completion that was settled long ago still reads as
/// settled.
struct completion_id {
    std::uint64_t value = 0;

    /// Returns false for the empty id, which a refused defer() returns.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(completion_id, completion_id) = default;
    /// Returns the id of the task that represents the completion. Other tasks can wait for this
    /// task or run after it. The task is complete when the completion is settled, the task's
    /// children are complete, and the object in completion_options::keep is destroyed.
    constexpr task_id task() const { return {value}; }
};

/// The outcome of the work outside the scheduler. The default values mean success.
struct completion_result {
    /// Any code but 0 means that the work failed. The task that called defer() then fails with a
    /// completion_error.
    int code = 0;
    /// The what() text of the completion_error. The text is copied. If `sentence` is null, the text
    /// is made from the completion's name and the code.
    const char* sentence = nullptr;
    /// If `error` is set, the task fails with this exception, and `code` and `sentence` are
    /// ignored.
    std::exception_ptr error = nullptr;
};

/// The exception of a task whose completion failed or missed its deadline.
class BRAID_API completion_error : public std::runtime_error {
public:
    completion_error(int code, const char* sentence) : runtime_error(sentence), code_(code) {}
    int code() const noexcept { return code_; }
    /// The value of code() for a completion that missed its deadline.
    static constexpr int deadline_passed = -2147483647 - 1;

private:
    int code_;
};

/// Holds one object of at most 48 bytes whose move constructor does not throw: a buffer that a
/// device writes into, a handle, or a reference that keeps something alive.
class completion_keep {
public:
    static constexpr std::size_t capacity = 48;

    completion_keep() = default;
    template <class T>
        requires(!std::is_same_v<std::remove_cvref_t<T>, completion_keep>)
    completion_keep(T&& object) {
        using kept = std::remove_cvref_t<T>;
        static_assert(!std::is_lvalue_reference_v<T> || std::is_copy_constructible_v<kept>,
                      "give `keep` the object itself: std::move() it in");
        static_assert(sizeof(kept) <= capacity && alignof(kept) <= 16,
                      "a completion keeps 48 bytes at most: keep a pointer that owns the object");
        static_assert(std::is_nothrow_move_constructible_v<kept>,
                      "what a completion keeps must move without an exception");
        ::new (static_cast<void*>(bytes_)) kept(std::forward<T>(object));
        move_ = [](void* to, void* from) noexcept {
            kept& old = *std::launder(static_cast<kept*>(from));
            if (to != nullptr) ::new (to) kept(std::move(old));
            old.~kept();
        };
    }
    completion_keep(completion_keep&& other) noexcept { take(other); }
    completion_keep& operator=(completion_keep&& other) noexcept {
        if (this == &other) return *this;
        reset();
        take(other);
        return *this;
    }
    ~completion_keep() { reset(); }

    explicit operator bool() const { return move_ != nullptr; }
    void reset() noexcept {
        if (auto* const end = std::exchange(move_, nullptr)) end(nullptr, bytes_);
    }

    /// This function is for the core. It returns the address of the function that destroys the
    /// object. This address is in the module that supplied the object.
    const void* code() const { return reinterpret_cast<const void*>(move_); }

private:
    void take(completion_keep& other) noexcept {
        move_ = std::exchange(other.move_, nullptr);
        if (move_ != nullptr) move_(bytes_, other.bytes_);
    }

    alignas(16) std::byte bytes_[capacity];
    void (*move_)(void* to, void* from) noexcept = nullptr;  // only destroys if `to` is null
};

/// A function that asks the work outside the scheduler to stop. It is called at most once: when the
/// completion's scope is cancelled, when a discarding shutdown begins, or when the deadline passes,
/// whichever is first. `ask` must return true only if nobody outside the scheduler accesses
/// anything of the completion anymore. If it returns true, the completion is settled at once. It is
/// settled as late if the deadline was the cause, and as cancelled otherwise. If `ask` returns
/// false, the work continues, and the party that does the work must call complete(). `ask` is
/// called on a thread of the scheduler or in a wait. It must not wait itself, but it may call
/// complete(). The object that `data` points to must live until the completion's task is complete.
struct completion_hint {
    bool (*ask)(void* data, completion_id id) = nullptr;
    void* data = nullptr;
};

struct completion_options {
    /// The name in messages and profiles: a literal, or text that outlives the task. If `name` is
    /// null, the task's name is used.
    const char* name = nullptr;
    /// The time from now until the deadline, by the clock of timers. A value of 0 or less means
    /// that the deadline passes at once. `no_limit` means that there is no deadline. If the
    /// completion misses its deadline, the task fails with a completion_error. defer() is refused
    /// if there is no memory or no thread for a timer.
    nanoseconds deadline = no_limit;
    completion_hint cancel = {};
    /// An object that the completion keeps alive. The object is destroyed before other threads can
    /// see that the completion is complete. A thread of the scheduler, a waiting thread or the
    /// thread in complete() destroys it. If a completion keeps an object and has no `cancel`
    /// function, only complete() or try_complete() settles it, even after the deadline, because a
    /// device may still write to the object.
    completion_keep keep = {};
    /// The source location that observers receive.
    std::source_location where = std::source_location::current();
};

/// Describes one open completion in the list of scheduler::open_completions().
struct completion_info {
    completion_id id;
    task_id task;  // the task that called defer()
    const char* name = "";
    const char* task_name = "";
    std::uint8_t module = 0;
    nanoseconds age{0};  // accurate to a few ms
};

BRAID_NAMESPACE_END
