#pragma once
// The memory of an arena: chunks that are filled from their begin, and what lies where in them.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// `count` objects of one type in a row.
struct allocation {
    std::byte* at = nullptr;
    std::uint64_t count = 0;  // 0: it was given back
    std::uint64_t bytes = 0;
    std::uint32_t type = 0;
    std::byte* moved = nullptr;  // while state migrates: the objects' new place
};

class arena_memory {
public:
    arena_memory() = default;
    ~arena_memory();
    arena_memory(const arena_memory&) = delete;
    arena_memory& operator=(const arena_memory&) = delete;
    void swap(arena_memory& other) noexcept;

    /// Memory with at least one byte between it and the next, so that a pointer behind its last
    /// object is no pointer to another one. Throws std::bad_alloc.
    std::byte* take(std::uint32_t type, std::uint64_t count, std::uint64_t size,
                    std::uint64_t alignment);
    /// The allocation that this address lies in, or just behind; null: none.
    allocation* find(const void* address);

    template <class F>
    void for_each(const F& f) {
        for (chunk& one : chunks_) {
            for (allocation& a : one.all) {
                if (a.count != 0) f(a);
            }
        }
    }

private:
    struct chunk {
        std::byte* begin = nullptr;
        std::size_t size = 0, used = 0;
        std::vector<allocation> all;  // by address
    };
    chunk& chunk_with(std::size_t bytes);

    std::vector<chunk> chunks_;    // by address
    std::byte* filled_ = nullptr;  // the begin of the chunk that has room
    std::size_t next_size_ = 64 * 1024;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
