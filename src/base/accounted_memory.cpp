#include "base/accounted_memory.hpp"

#include <cstdint>
#include <exception>
#include <iterator>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

const char* text(memory_tag tag) {
    constexpr const char* names[] = {"runtime",    "worker",    "slot",   "edge",     "detail",
                                     "closure",    "queue",     "graph",  "job_list", "frame",
                                     "completion", "coroutine", "device", "file"};
    static_assert(std::size(names) == static_cast<std::size_t>(memory_tag::count));
    return names[static_cast<std::size_t>(tag)];
}

/// What asks for no more than that need not say so, which is several times as fast.
constexpr bool is_plain(std::size_t alignment) {
    return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

void* take_new(std::size_t bytes, std::size_t alignment) {
    return is_plain(alignment) ? ::operator new(bytes, std::nothrow)
                               : ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}

void give_new(void* pointer, std::size_t alignment) {
    if (is_plain(alignment)) return ::operator delete(pointer);
    ::operator delete(pointer, std::align_val_t{alignment});
}

}  // namespace

accounted_memory::accounted_memory(const memory_hooks& hooks, std::size_t budget,
                                   const out_of_memory_handler& handler)
    : hooks_(hooks), handler_(handler), budget_(budget) {}

bool accounted_memory::reserve(std::size_t bytes) {
    // More cannot be addressed, and operator new would round it up to next to nothing.
    if (bytes > PTRDIFF_MAX) return false;
    const std::size_t before = total_.fetch_add(bytes, relaxed);
    if (budget_ == 0 || (bytes <= budget_ && before <= budget_ - bytes)) return true;
    total_.fetch_sub(bytes, relaxed);
    return false;
}

void* accounted_memory::allocate(std::size_t bytes, std::size_t alignment, memory_tag tag) {
    void* const pointer = try_allocate(bytes, alignment, tag);
    if (pointer == nullptr && handler_.function != nullptr) {
        handler_.function(handler_.user, bytes, text(tag));
    }
    return pointer;
}

void* accounted_memory::try_allocate(std::size_t bytes, std::size_t alignment, memory_tag tag) {
    if (!reserve(bytes)) return nullptr;
    void* const pointer = hooks_.allocate != nullptr
                              ? hooks_.allocate(hooks_.user, bytes, alignment, tag)
                              : take_new(bytes, alignment);
    if (pointer == nullptr) {
        total_.fetch_sub(bytes, relaxed);
        return nullptr;
    }
    allocations_.fetch_add(1, relaxed);
    used_[static_cast<std::size_t>(tag)].fetch_add(bytes, relaxed);
    return pointer;
}

void* accounted_memory::allocate_or_terminate(std::size_t bytes, std::size_t alignment,
                                              memory_tag tag) {
    void* const pointer = allocate(bytes, alignment, tag);
    if (pointer == nullptr) std::terminate();
    return pointer;
}

void accounted_memory::take_over(accounted_memory& other) {
    total_.fetch_add(other.total_.exchange(0, relaxed), relaxed);
    allocations_.fetch_add(other.allocations_.exchange(0, relaxed), relaxed);
    for (std::size_t tag = 0; tag < static_cast<std::size_t>(memory_tag::count); ++tag) {
        used_[tag].fetch_add(other.used_[tag].exchange(0, relaxed), relaxed);
    }
}

void accounted_memory::release(void* pointer, std::size_t bytes, std::size_t alignment,
                               memory_tag tag) {
    if (pointer == nullptr) return;
    total_.fetch_sub(bytes, relaxed);
    used_[static_cast<std::size_t>(tag)].fetch_sub(bytes, relaxed);
    if (hooks_.release != nullptr) {
        hooks_.release(hooks_.user, pointer, bytes, alignment, tag);
    } else {
        give_new(pointer, alignment);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
