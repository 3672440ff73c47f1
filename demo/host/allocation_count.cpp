#include "allocation_count.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};

// Relaxed: only a count, read when the frame is over.
[[maybe_unused]] void* allocate(std::size_t bytes, std::size_t alignment) {
    if (counting.load(std::memory_order_relaxed))
        allocations.fetch_add(1, std::memory_order_relaxed);
    if (bytes == 0) bytes = 1;
    void* block =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(bytes)
            : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!block) throw std::bad_alloc();
    return block;
}

}  // namespace

// The array and nothrow forms of the library call these. Sanitizers bring operators of their own
// that know each form apart: there nothing is counted.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
#endif

namespace arena::host {

std::uint64_t counted_allocations() { return allocations.load(std::memory_order_relaxed); }
void count_allocations(bool on) { counting.store(on, std::memory_order_relaxed); }
bool counting_allocations() { return counting.load(std::memory_order_relaxed); }

}  // namespace arena::host
