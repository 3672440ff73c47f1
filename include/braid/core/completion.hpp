#pragma once
// Work that somebody outside the scheduler ends: a device, a file reader, a socket or another
// process. A task calls defer(), passes the completion's id to the one that does the work, and
// returns. The task is complete when the completion was completed, too. No thread waits in the
// meantime.

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

/// Names one completion forever. It is plain data, which fits into io_uring's user_data, a void* or
/// a message. Ids are never used again. The id of a completion that was settled long ago still
/// reads as settled.
struct completion_id {
    std::uint64_t value = 0;

    /// Returns false for the empty id, which a refused defer() returns.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(completion_id, completion_id) = default;
    /// Returns the completion as a task, for others to wait for or to come after. The task is
    /// complete when the completion was settled and nothing of it is left: its children are
    /// complete, and what it kept is destroyed.
    constexpr task_id task() const { return {value}; }
};

/// How the work outside went. If all members have their defaults, it succeeded.
struct completion_result {
    /// Any code but 0 means that the work failed. The task that deferred fails with a
    /// completion_error.
    int code = 0;
    /// The what() text of the completion_error. It is copied. If it is null, the text is a sentence
    /// made of the completion's name and the code.
    const char* sentence = nullptr;
    /// If it is set, the task fails with this exception, and `code` and `sentence` are ignored.
    std::exception_ptr error = nullptr;
};

/// The exception with which a task fails if its completion failed or missed its deadline.
class BRAID_API completion_error : public std::runtime_error {
public:
    completion_error(int code, const char* sentence) : runtime_error(sentence), code_(code) {}
    int code() const noexcept { return code_; }
    /// The code of a completion that missed its deadline.
    static constexpr int deadline_passed = -2147483647 - 1;

private:
    int code_;
};

/// Holds one object of at most 48 bytes that can be moved without an exception: a buffer that a
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

    /// For the core: the function that destroys the object, which lies in the code that supplied
    /// it.
    const void* code() const { return reinterpret_cast<const void*>(move_); }

private:
    void take(completion_keep& other) noexcept {
        move_ = std::exchange(other.move_, nullptr);
        if (move_ != nullptr) move_(bytes_, other.bytes_);
    }

    alignas(16) std::byte bytes_[capacity];
    void (*move_)(void* to, void* from) noexcept = nullptr;  // if `to` is null, it only destroys
};

/// A function that is called at most once: when the completion's scope is cancelled, a discarding
/// shutdown begins, or the deadline passes, whichever comes first. If it returns true, nobody
/// outside touches anything of the completion anymore, and the completion ends now: as late if the
/// deadline was the cause, and otherwise as cancelled. If it returns false, the work goes on, and
/// the one that does the work will call complete(). The function is called on a thread of the
/// scheduler or in a wait. It must not wait itself. It may call complete(). What `data` points to
/// must live until the completion's task is complete.
struct completion_hint {
    bool (*ask)(void* data, completion_id id) = nullptr;
    void* data = nullptr;
};

struct completion_options {
    /// The name in messages and profiles: a literal, or text that outlives the task. If it is null,
    /// the task's name is used.
    const char* name = nullptr;
    /// The time from now until the deadline, by the clock of timers. With 0 or less, the deadline
    /// passes at once. With `no_limit` there is no deadline. A task that was late fails with a
    /// completion_error. defer() is refused if there is no memory or no thread for a timer.
    nanoseconds deadline = no_limit;
    completion_hint cancel = {};
    /// An object that the completion keeps alive. It is destroyed before the completion is visible
    /// as complete: by a thread of the scheduler, in a wait, or in complete(). A completion that
    /// keeps something and has no `cancel` ends only by complete() or try_complete(), even if it is
    /// late, because a device may still write there.
    completion_keep keep = {};
    /// The place in the source that observers get.
    std::source_location where = std::source_location::current();
};

/// An open completion, as scheduler::open_completions() lists it.
struct completion_info {
    completion_id id;
    task_id task;  // the task that deferred
    const char* name = "";
    const char* task_name = "";
    std::uint8_t module = 0;
    nanoseconds age{0};  // accurate to a few ms
};

BRAID_NAMESPACE_END
