#pragma once
// The memory of coroutines' frames.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Up to this many bytes a frame comes from a pool of the process, of which each thread has a part:
/// any thread frees, and in steady state nothing is allocated. What the pool takes from the system
/// (64 KiB at a time) it keeps until the process ends.
inline constexpr std::size_t pooled_frame_bytes = 1024;

/// A larger one comes from the memory of the scheduler whose task makes it, as
/// memory_tag::coroutine; outside of tasks from operator new. Null: no memory. Aligned for any
/// object that is not over-aligned.
BRAID_API void* allocate_frame(std::size_t bytes) noexcept;
BRAID_API void release_frame(void* frame, std::size_t bytes) noexcept;

}  // namespace detail
BRAID_NAMESPACE_END
