#pragma once
// Work that somebody outside ends: a device, a reader of files, a socket, another process. A task
// defers, gives the completion's id to the one who does the work, and returns; it is complete when
// that one says so. No thread waits meanwhile.

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

/// Names one completion for ever: plain data, which fits io_uring's user_data, a void* or a
/// message. Never used again; one that was settled long ago still reads as settled.
struct completion_id {
    std::uint64_t value = 0;

    /// False for the empty id: defer() was refused.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(completion_id, completion_id) = default;
    /// The completion as a task that others may wait for or come after. Complete when it was
    /// settled and nothing is left of it.
    constexpr task_id task() const { return {value}; }
};

/// How the work outside went. All empty: well.
struct completion_result {
    /// Not 0: it failed. The task that deferred fails with a completion_error.
    int code = 0;
    /// For that error's what(); copied. Null: a sentence of the completion's name and the code.
    const char* sentence = nullptr;
    /// In their place: the task fails with this.
    std::exception_ptr error = nullptr;
};

/// What a task fails with that was waiting for somebody outside.
class BRAID_API completion_error : public std::runtime_error {
public:
    completion_error(int code, const char* sentence) : runtime_error(sentence), code_(code) {}
    int code() const noexcept { return code_; }
    /// The code of one whose deadline passed.
    static constexpr int deadline_passed = -2147483647 - 1;

private:
    int code_;
};

/// Up to 48 bytes of anything that can be moved without an exception: a buffer that a device writes
/// into, a handle, a reference that keeps something alive.
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

    /// For the core: what destroys it, in the code of who gave it.
    const void* code() const { return reinterpret_cast<const void*>(move_); }

private:
    void take(completion_keep& other) noexcept {
        move_ = std::exchange(other.move_, nullptr);
        if (move_ != nullptr) move_(bytes_, other.bytes_);
    }

    alignas(16) std::byte bytes_[capacity];
    void (*move_)(void* to, void* from) noexcept = nullptr;  // without `to`: destroys
};

/// Asked once, when the completion's scope is cancelled, a discarding shutdown begins, or its
/// deadline passes, whichever comes first. True: nobody outside touches anything of it any more,
/// and it ends as cancelled (or late) now. False: the work
/// goes on, and the one who does it will call complete(). Called on a thread of the scheduler or in
/// a wait; must not wait itself. May call complete(). What `data` points to must live until the
/// completion's task is complete.
struct completion_hint {
    bool (*ask)(void* data, completion_id id) = nullptr;
    void* data = nullptr;
};

struct completion_options {
    /// For messages and profiles. A literal, or text that outlives the task. Null: the task's.
    const char* name = nullptr;
    /// From now on, by the clock of timers; 0 and less: at once. `no_limit`: none. A task that was
    /// late fails with a completion_error. defer() is refused where there is no memory or thread
    /// for a timer.
    nanoseconds deadline = no_limit;
    completion_hint cancel = {};
    /// Destroyed before the completion is visible as complete, by a thread of the scheduler, in a
    /// wait, or in complete(). Without `cancel` a completion that keeps something ends by
    /// complete() alone, also when it is late: a device may still write there.
    completion_keep keep = {};
    /// The place in the source that observers get.
    std::source_location where = std::source_location::current();
};

/// One that is open, for scheduler::open_completions().
struct completion_info {
    completion_id id;
    task_id task;  // which has deferred
    const char* name = "";
    const char* task_name = "";
    std::uint8_t module = 0;
    nanoseconds age{0};  // to a few ms
};

BRAID_NAMESPACE_END
