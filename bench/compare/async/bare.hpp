#pragma once
// The least that coroutines need which call each other: a loop that resumes them, and frames from a
// free list. No exceptions, no threads, no task.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace bench::async {

/// Frames of one size, on one thread.
class bare_frames {
public:
    static void* take(std::size_t bytes) {
        if (bytes > frame_bytes) std::terminate();
        if (first_ == nullptr) return ::operator new(frame_bytes);
        return std::exchange(first_, first_->next);
    }
    static void give(void* frame) { first_ = ::new (frame) link{first_}; }

private:
    struct link {
        link* next;
    };
    static constexpr std::size_t frame_bytes = 256;
    static inline constinit thread_local link* first_ = nullptr;
};

struct bare_loop {
    std::coroutine_handle<> current;
    void run() {
        while (current) current.resume();
    }
};

template <class T>
class [[nodiscard]] bare {
public:
    struct promise_type {
        bare get_return_object() noexcept {
            return bare(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        auto final_suspend() const noexcept {
            struct back {
                const promise_type& own;
                bool await_ready() const noexcept { return false; }
                void await_suspend(std::coroutine_handle<>) const noexcept {
                    own.loop->current = own.awaited_by;
                }
                void await_resume() const noexcept {}
            };
            return back{*this};
        }
        void unhandled_exception() const noexcept { std::terminate(); }
        void return_value(T v) noexcept { value = v; }
        static void* operator new(std::size_t bytes) { return bare_frames::take(bytes); }
        static void operator delete(void* frame) { bare_frames::give(frame); }

        bare_loop* loop = nullptr;
        std::coroutine_handle<> awaited_by;
        T value;
    };

    explicit bare(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    bare(bare&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    bare& operator=(bare&&) = delete;
    ~bare() {
        if (frame_) frame_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) const noexcept {
        bare_loop* const loop = by.promise().loop;
        frame_.promise().loop = loop;
        frame_.promise().awaited_by = by;
        loop->current = frame_;
    }
    T await_resume() const noexcept { return frame_.promise().value; }

    /// Outside of coroutines.
    T run() {
        bare_loop loop{frame_};
        frame_.promise().loop = &loop;
        loop.run();
        return frame_.promise().value;
    }

private:
    std::coroutine_handle<promise_type> frame_;
};

}  // namespace bench::async
