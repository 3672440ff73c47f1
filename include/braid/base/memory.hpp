#pragma once
// Every byte that a scheduler takes goes through the two functions in memory_hooks (I7, C30).

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// What an allocation is for. scheduler::bytes(tag) returns the bytes in use for a tag.
enum class memory_tag : std::uint8_t {
    runtime,
    worker,
    slot,
    edge,
    detail,
    closure,
    queue,
    graph,
    job_list,
    frame,
    completion,
    coroutine,  // frames above 1 KiB
    device,     // external processors: buffers, and what was submitted
    file,       // file readers: buffers, and what was requested
    count
};

/// Both functions are called from any thread. `allocate` returns null if it has no memory.
/// `release` gets the size and alignment that were requested. The default is aligned operator new.
struct memory_hooks {
    void* (*allocate)(void* user, std::size_t bytes, std::size_t alignment,
                      memory_tag tag) = nullptr;
    void (*release)(void* user, void* pointer, std::size_t bytes, std::size_t alignment,
                    memory_tag tag) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
