#pragma once
// Memory that lasts for one frame. Many threads allocate at once by advancing a pointer, and
// everything is released together. A frame_loop has one arena for each frame in flight.

#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/frame/frame_handle.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

BRAID_NAMESPACE_BEGIN

struct frame_arena_options {
    static constexpr std::size_t least_block_bytes = 4096;
    static constexpr std::size_t most_block_bytes = std::size_t{1} << 40;

    const char* name = "frame arena";  // for messages; outlives the arena
    /// The size of the blocks that the arena takes from the scheduler's memory, the first one at
    /// the first allocation: least_block_bytes..most_block_bytes, or what the limit still allows. A
    /// value outside the range counts as the nearest inside, and is reported to the log.
    std::size_t block_bytes = std::size_t{1} << 20;
    /// The limit of all blocks together, any number. 0 means that the scheduler's budget is the
    /// limit.
    std::size_t limit_bytes = 0;
};

/// Sizes are in bytes. The numbers are exact while nobody allocates.
struct frame_arena_statistics {
    std::size_t used = 0;        // in this frame; chunks that threads took count as a whole
    std::size_t high_water = 0;  // the most that any frame used
    std::size_t reserved = 0;    // taken from the scheduler, and kept until the arena ends
    std::uint64_t growths = 0;   // blocks that were added because a frame needed more
    std::uint64_t refused = 0;   // allocations that returned null
};

/// Each thread takes chunks of 4 KB with one atomic operation, and allocates from its own chunk
/// without any. Objects are not destroyed, so they must not need a destructor.
class frame_arena {
public:
    BRAID_API explicit frame_arena(scheduler& s, const frame_arena_options& options = {});
    BRAID_API ~frame_arena();
    frame_arena(const frame_arena&) = delete;
    frame_arena& operator=(const frame_arena&) = delete;

    /// Allocates memory for this frame; any thread may call it. It takes about 10 ns on threads of
    /// the scheduler. Other threads, sizes from 1 KB on and alignments above 64 cost an atomic
    /// operation. `bytes` is any number; 0 counts as 1. `alignment` is a power of two. Returns null
    /// if the limit is reached, which is logged once a frame, or if there is no memory, which the
    /// out-of-memory handler gets. A smaller allocation may still find room. A block that is added
    /// after the first one is logged, too.
    BRAID_API void* allocate(std::size_t bytes, std::size_t alignment = 16);

    /// Allocates and constructs a T. Returns null where allocate() does, without calling the
    /// constructor.
    template <class T, class... Arguments>
        requires std::constructible_from<T, Arguments...>
    T* make(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would call its destructor");
        void* bytes = allocate(sizeof(T), alignof(T));
        return bytes != nullptr ? ::new (bytes) T(std::forward<Arguments>(arguments)...) : nullptr;
    }
    /// Allocates an array of `count` value-initialized objects. Returns null where allocate() does,
    /// and also if the size in bytes would overflow.
    template <std::default_initializable T>
    T* make_array(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would call its destructor");
        if (count > SIZE_MAX / 2 / sizeof(T)) return static_cast<T*>(refuse(SIZE_MAX / 2));
        void* bytes = allocate(count * sizeof(T), alignof(T));
        if (bytes == nullptr) return nullptr;
        T* first = static_cast<T*>(bytes);
        std::uninitialized_value_construct_n(first, count);
        return first;
    }

    /// Makes a handle of this frame for an object in this arena.
    template <class T>
    frame_handle<T> handle_of(T* object) const {
        return {object, frame()};
    }
    /// Returns the object of `handle`. Returns null, and reports it, if the handle is of another
    /// frame.
    template <class T>
    T* get(frame_handle<T> handle) const {
        return handle.frame == frame() ? handle.object : static_cast<T*>(reject(handle.frame));
    }

    /// Releases everything that was allocated; the memory then serves `frame`. Nobody may allocate
    /// or use the memory meanwhile. Costs a few ns a block, and returns nothing to the scheduler.
    BRAID_API void reset(std::uint64_t frame);
    BRAID_API std::uint64_t frame() const;

    BRAID_API frame_arena_statistics statistics() const;

private:
    struct state;
    struct block;
    BRAID_API void* refuse(std::size_t bytes);
    BRAID_API void* reject(std::uint64_t frame) const;
    void* take(std::size_t bytes, std::size_t alignment);
    bool grow(const block* seen, std::size_t bytes);

    detail::runtime& rt_;
    state* state_;  // null if there was no memory for it
};

BRAID_NAMESPACE_END
