#pragma once
// Memory that lasts a frame: taken by adding to a pointer, on many threads at once, and given back
// all together. frame_loop has one for each frame in flight.

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
    /// What is taken from the scheduler's memory at a time, first when something is allocated:
    /// least_block_bytes..most_block_bytes, or what the limit still allows. What lies outside
    /// counts as the nearest of these, and is reported to the log.
    std::size_t block_bytes = std::size_t{1} << 20;
    /// No more than this in all, any number. 0: the scheduler's budget is the limit.
    std::size_t limit_bytes = 0;
};

/// In bytes; exact while nobody allocates.
struct frame_arena_statistics {
    std::size_t used = 0;  // of this frame, with what is lost at the ends of chunks and blocks
    std::size_t high_water = 0;  // the most that any frame used
    std::size_t reserved = 0;    // taken from the scheduler; kept until the arena ends
    std::uint64_t growths = 0;   // blocks that were added because a frame needed more
    std::uint64_t refused = 0;   // allocations that got nothing
};

/// Each thread takes chunks of 4 KB with one atomic operation, and allocates from its own without
/// any. Objects are not destroyed: they must not need it.
class frame_arena {
public:
    BRAID_API explicit frame_arena(scheduler& s, const frame_arena_options& options = {});
    BRAID_API ~frame_arena();
    frame_arena(const frame_arena&) = delete;
    frame_arena& operator=(const frame_arena&) = delete;

    /// Any thread; about 10 ns on threads of the scheduler, an atomic operation on others and from
    /// 1 KB on. `bytes`: any number; 0 counts as 1. `alignment`: a power of two. Null: the limit is
    /// reached, which is logged once a frame, or no memory, which its handler knows; a smaller
    /// allocation may still find room. A block that is added is logged, too.
    BRAID_API void* allocate(std::size_t bytes, std::size_t alignment = 16);

    /// Null as allocate(), without calling the constructor.
    template <class T, class... Arguments>
        requires std::constructible_from<T, Arguments...>
    T* make(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would call its destructor");
        void* bytes = allocate(sizeof(T), alignof(T));
        return bytes != nullptr ? ::new (bytes) T(std::forward<Arguments>(arguments)...) : nullptr;
    }
    /// `count` of them, value-initialised. Null as allocate(), also when the size has no number.
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

    /// A handle of this frame for what lies in this arena.
    template <class T>
    frame_handle<T> handle_of(T* object) const {
        return {object, frame()};
    }
    /// Null, and reported: the handle is of another frame.
    template <class T>
    T* get(frame_handle<T> handle) const {
        return handle.frame == frame() ? handle.object : static_cast<T*>(reject(handle.frame));
    }

    /// Everything that was allocated is gone; its memory serves `frame`. Nobody allocates or uses
    /// it meanwhile. Costs a few ns a block; frees nothing.
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
    state* state_;  // null: there was no memory for it
};

BRAID_NAMESPACE_END
