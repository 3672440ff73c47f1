#include "async/news.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// relaxed: a count, which is read when all who allocate have been waited for.
std::atomic<bool> counting{false};
std::atomic<std::uint64_t> news{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (counting.load(std::memory_order_relaxed)) news.fetch_add(1, std::memory_order_relaxed);
    if (bytes == 0) bytes = 1;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void* const p = allocate(bytes, alignment);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}

constexpr std::size_t plain = alignof(std::max_align_t);

}  // namespace

namespace bench::async {

counted_news::counted_news() {
    news.store(0, std::memory_order_relaxed);
    counting.store(true, std::memory_order_relaxed);
}
counted_news::~counted_news() { counting.store(false, std::memory_order_relaxed); }
std::uint64_t counted_news::count() const { return news.load(std::memory_order_relaxed); }

}  // namespace bench::async

// The others call these.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, plain); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes, plain);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
