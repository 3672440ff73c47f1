#pragma once
// The functions that allocate and release the frames of coroutines.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A frame of up to this many bytes is allocated from a pool that all threads of the process share.
/// Each thread has its own part of the pool. Any thread may release a frame. In steady state the
/// pool allocates nothing. It allocates 64 KiB at a time by operator new, and keeps this memory
/// until the process ends.
inline constexpr std::size_t pooled_frame_bytes = 1024;
inline constexpr std::size_t frame_step = 32;
inline constexpr std::size_t frame_sizes = pooled_frame_bytes / frame_step;
constexpr std::size_t frame_size_of(std::size_t bytes) {
    return bytes == 0 ? 0 : (bytes - 1) / frame_step;
}

struct free_frame {
    free_frame* next = nullptr;
    free_frame* next_batch = nullptr;  // used only in the first frame of a batch in the pool
};
/// A list of `count` free frames of one size. The list has room for `room` frames.
struct frame_list {
    free_frame* first = nullptr;
    std::uint32_t count = 0;
    std::uint32_t room = 0;
};
struct frame_lists {
    frame_list of[frame_sizes];
};

/// The slow paths of allocate_frame() and release_frame(). take_frame() is called if the thread has
/// no free frame of the size. give_frame() is called if the thread's list of that size is full.
/// Both functions also serve frames that are too large for the pool. The memory of such a frame is
/// allocated by the scheduler whose task creates the frame, with memory_tag::coroutine. Outside of
/// tasks, the memory is allocated by operator new. take_frame() returns null if there is no memory.
BRAID_API void* take_frame(std::size_t bytes) noexcept;
BRAID_API void give_frame(void* frame, std::size_t bytes) noexcept;

#if defined(_WIN32)
inline void* allocate_frame(std::size_t bytes) noexcept { return take_frame(bytes); }
inline void release_frame(void* frame, std::size_t bytes) noexcept { give_frame(frame, bytes); }
#else
/// Points to the calling thread's part of the pool. If the thread has no part, the variable points
/// to lists that have no frames and no room. Each call of a coroutine allocates a frame and
/// releases it again, so reading the variable must not cost a function call. For this reason its
/// TLS model is initial-exec.
extern BRAID_API constinit thread_local __attribute__((tls_model("initial-exec")))
frame_lists* frames_of_thread;

/// Allocates a frame. The memory is aligned for any object that is not over-aligned. Returns null
/// if there is no memory.
inline void* allocate_frame(std::size_t bytes) noexcept {
    if (bytes > pooled_frame_bytes) return take_frame(bytes);
    frame_list& own = frames_of_thread->of[frame_size_of(bytes)];
    free_frame* const frame = own.first;
    if (frame == nullptr) [[unlikely]]
        return take_frame(bytes);
    own.first = frame->next;
    --own.count;
    return frame;
}

inline void release_frame(void* frame, std::size_t bytes) noexcept {
    if (bytes > pooled_frame_bytes) return give_frame(frame, bytes);
    frame_list& own = frames_of_thread->of[frame_size_of(bytes)];
    if (own.count == own.room) [[unlikely]]
        return give_frame(frame, bytes);
    own.first = ::new (frame) free_frame{own.first};
    ++own.count;
}
#endif

}  // namespace detail
BRAID_NAMESPACE_END
