#pragma once
// What a thread owns, and gives back as it ends.

#include <cstdint>

namespace braid::platform {

/// A step of a thread's end. It lies in what it gives back, so it needs no memory of its own.
struct thread_end_step {
    void (*run)(void* data) noexcept = nullptr;
    void* data = nullptr;
    thread_end_step* next = nullptr;
};

/// Calls `step.run` on the calling thread as it ends; the latest of several steps is the first.
/// Returns false if the thread's end has begun, or if Windows refuses; on Linux the C library ends
/// the process if it has no memory for a thread's first step. `step` must stay until it has run. In
/// the first thread of the process, steps run on Linux only.
///
/// A step waits for nobody, and takes no lock that somebody holds while a thread starts, ends or is
/// waited for, because Windows calls it with the loader's lock held. Nor does it touch a
/// thread_local object there: MinGW's library has freed them by then, and some accesses never
/// return.
bool at_thread_end(thread_end_step& step) noexcept;

#if defined(_WIN32)
/// A pointer that each thread has of its own, null at first; also valid in the steps of its end.
std::uint32_t make_thread_slot() noexcept;
void* read_thread_slot(std::uint32_t slot) noexcept;
/// Returns false if the system refuses.
bool write_thread_slot(std::uint32_t slot, void* value) noexcept;
#endif

/// The object of type T that the calling thread owns. T has a member `thread_end_step end`, and a
/// function `give_back() noexcept`, which is called as the thread ends and may delete the object.
template <class T>
class thread_owned {
public:
    /// Returns null if the thread owns none: not yet, or not any more.
    static T* get() noexcept {
#if defined(_WIN32)
        return static_cast<T*>(read_thread_slot(slot()));
#else
        return own_;
#endif
    }
    /// Returns false as at_thread_end() does; the object is the caller's then.
    static bool set(T& made) noexcept {
        made.end = {.run = &end, .data = &made};
        if (!store(&made)) return false;
        if (at_thread_end(made.end)) return true;
        store(nullptr);
        return false;
    }

    /// Owns the object, and never gives it back: for what set() has refused.
    static void hold(T& made) noexcept { store(&made); }

private:
    static void end(void* data) noexcept {
        static_cast<T*>(data)->give_back();
        store(nullptr);
    }
#if defined(_WIN32)
    static std::uint32_t slot() noexcept {
        static const std::uint32_t made = make_thread_slot();
        return made;
    }
    static bool store(T* value) noexcept { return write_thread_slot(slot(), value); }
#else
    static bool store(T* value) noexcept {
        own_ = value;
        return true;
    }
    inline static constinit thread_local T* own_ = nullptr;
#endif
};

}  // namespace braid::platform
