#pragma once
// A scheduler allocates every byte of its memory through the two functions in memory_hooks.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

/// The purpose of an allocation. scheduler::bytes(tag) returns the number of bytes in use for a
/// tag.
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
    device,     // external processors: buffers and submissions
    file,       // file readers: buffers and requests
    count
};

/// The scheduler's memory functions. Any thread may call both functions, and several threads may
/// call them at the same time. `allocate` must return null if it has no memory. `release` gets the
/// size and alignment that were requested. The default is aligned operator new.
struct memory_hooks {
    void* (*allocate)(void* user, std::size_t bytes, std::size_t alignment,
                      memory_tag tag) = nullptr;
    void (*release)(void* user, void* pointer, std::size_t bytes, std::size_t alignment,
                    memory_tag tag) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
