#pragma once
// A frame_arena provides memory that lasts for one frame. Many threads allocate at once by
// advancing a pointer, and reset() releases all allocations together. A frame_loop has one arena
// for each frame in flight.

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

    const char* name = "frame arena";  // for messages; must outlive the arena
    /// The size of the blocks that the arena allocates from the scheduler's memory. The arena
    /// clamps the size to least_block_bytes..most_block_bytes, and logs a message if the size was
    /// outside this range. A block is smaller if `limit_bytes` leaves less space. The arena
    /// allocates its first block at the first allocation.
    std::size_t block_bytes = std::size_t{1} << 20;
    /// The maximum total size of all blocks, in bytes. Any number is allowed. 0 means that the
    /// scheduler's memory budget is the limit.
    std::size_t limit_bytes = 0;
};

/// The statistics of an arena. All sizes are in bytes. The numbers are exact while no thread
/// allocates.
struct frame_arena_statistics {
    std::size_t used = 0;        // in this frame; includes all of each chunk that a thread took
    std::size_t high_water = 0;  // the maximum of `used` over all frames
    std::size_t reserved = 0;    // allocated from the scheduler, kept until the arena is destroyed
    std::uint64_t growths = 0;   // blocks that were added after the first one
    std::uint64_t refused = 0;   // allocations that returned null
};

/// An allocator for one frame at a time. Each thread takes chunks of 4 KB with one atomic
/// operation, and allocates from its own chunk without atomic operations. The arena does not
/// destroy objects, so the objects must not need a destructor.
class frame_arena {
public:
    BRAID_API explicit frame_arena(scheduler& s, const frame_arena_options& options = {});
    BRAID_API ~frame_arena();
    frame_arena(const frame_arena&) = delete;
    frame_arena& operator=(const frame_arena&) = delete;

    /// Allocates memory for this frame. Any thread may call allocate(). On threads of the
    /// scheduler, an allocation takes about 10 ns. An allocation costs an atomic operation on other
    /// threads, if it is 1 KB or larger, or if its alignment is above 64. `bytes` may be any
    /// number, and 0 means 1. `alignment` must be a power of two.
    /// Returns null if the limit is reached or if there is no memory. The arena logs the first such
    /// failure of a frame. If there is no memory, the arena also calls the out-of-memory handler. A
    /// smaller allocation may still succeed after a failure. The arena logs each block that it adds
    /// after the first block.
    BRAID_API void* allocate(std::size_t bytes, std::size_t alignment = 16);

    /// Allocates memory for a T and constructs the T. If allocate() returns null, make() returns
    /// null and does not call the constructor.
    template <class T, class... Arguments>
        requires std::constructible_from<T, Arguments...>
    T* make(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would call its destructor");
        void* bytes = allocate(sizeof(T), alignof(T));
        return bytes != nullptr ? ::new (bytes) T(std::forward<Arguments>(arguments)...) : nullptr;
    }
    /// Allocates an array of `count` value-initialized objects. Returns null if allocate() returns
    /// null, or if the size in bytes would overflow.
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

    /// Makes a handle for an object in this arena. The handle is valid in the current frame only.
    template <class T>
    frame_handle<T> handle_of(T* object) const {
        return {object, frame()};
    }
    /// Returns the object to which `handle` refers. If the handle belongs to another frame, get()
    /// calls the assertion handler and returns null.
    template <class T>
    T* get(frame_handle<T> handle) const {
        return handle.frame == frame() ? handle.object : static_cast<T*>(reject(handle.frame));
    }

    /// Releases all allocations and makes `frame` the current frame of the arena. During the call,
    /// no thread may allocate from the arena or use its memory. reset() costs a few ns per block,
    /// and returns no memory to the scheduler.
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
    state* state_;  // null if there was no memory for the state
};

BRAID_NAMESPACE_END
