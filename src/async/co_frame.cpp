#include "braid/async/co_frame.hpp"

#include "async/co_frame_pool.hpp"
#include "core/extension.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Before a large frame: where it came from. Null: operator new.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) large_header {
    accounted_memory* from;
};

void* allocate_large(std::size_t bytes) {
    const std::size_t whole = bytes + sizeof(large_header);
    accounted_memory* const from = core::memory_of_current_task();
    void* const block = from != nullptr
                            ? from->allocate(whole, alignof(large_header), memory_tag::coroutine)
                            : ::operator new(whole, std::nothrow);
    return block != nullptr ? ::new (block) large_header{from} + 1 : nullptr;
}

void release_large(void* frame, std::size_t bytes) {
    large_header* const block = static_cast<large_header*>(frame) - 1;
    if (block->from == nullptr) return ::operator delete(block);
    block->from->release(block, bytes + sizeof(large_header), alignof(large_header),
                         memory_tag::coroutine);
}

}  // namespace

void* take_frame(std::size_t bytes) noexcept {
    return bytes <= pooled_frame_bytes ? take_pooled_frame(bytes) : allocate_large(bytes);
}

void give_frame(void* frame, std::size_t bytes) noexcept {
    if (bytes > pooled_frame_bytes) return release_large(frame, bytes);
    give_pooled_frame(frame, bytes);
}

}  // namespace detail
BRAID_NAMESPACE_END
