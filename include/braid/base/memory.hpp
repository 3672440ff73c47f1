#pragma once
// Every byte that the library takes goes through these two functions (I7, C30).

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// What an allocation is for; `scheduler::bytes(tag)` returns the bytes in use of each.
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
    device,     // of processors: buffers, and what was submitted
    file,       // of readers: buffers, and what was asked for
    count
};

/// Both functions are called from any thread. `allocate` returns null when it has no memory.
/// `release` gets the size and alignment that were asked for. Default: aligned operator new.
struct memory_hooks {
    void* (*allocate)(void* user, std::size_t bytes, std::size_t alignment,
                      memory_tag tag) = nullptr;
    void (*release)(void* user, void* pointer, std::size_t bytes, std::size_t alignment,
                    memory_tag tag) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
