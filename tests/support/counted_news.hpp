#pragma once
// Counts every operator new of the program. Replaces the operators, so that exactly one source of a
// test program includes it.

#include "scheduler_test.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace braid_test {

inline std::atomic<std::uint64_t> news{0};

[[gnu::noinline]] inline void* counted_allocation(std::size_t bytes,
                                                  std::size_t alignment) noexcept {
    news.fetch_add(1, std::memory_order_relaxed);
    bytes = (bytes + alignment - 1) / alignment * alignment;
#if defined(_WIN32)
    return _aligned_malloc(bytes == 0 ? alignment : bytes, alignment);
#else
    return std::aligned_alloc(alignment, bytes == 0 ? alignment : bytes);
#endif
}
[[gnu::noinline]] inline void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
    void* p = counted_allocation(bytes, alignment);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}

[[gnu::noinline]] inline void give_back(void* p) noexcept {
#if defined(_WIN32)
    _aligned_free(p);
#else
    std::free(p);
#endif
}

/// A test that looks at allocations, by way of the scheduler's hooks or beside them.
class allocation_test : public scheduler_test {
protected:
    /// Steady: 20 rounds in a row without an allocation. Pools grow until every thread's cache is
    /// filled; a pool that goes on growing with the number of tasks never gets there.
    template <class Round>
    void expect_steady_state(Round&& round) {
        int quiet = 0;
        for (int i = 0; i < 2000 && quiet < 20; ++i) {
            const std::uint64_t hooks = memory_.calls;
            const std::uint64_t others = news;
            round();
            quiet = hooks == memory_.calls && others == news ? quiet + 1 : 0;
        }
        EXPECT_EQ(quiet, 20) << "still allocating after 2000 rounds";
    }
};

}  // namespace braid_test

void* operator new(std::size_t bytes) { return braid_test::counted_or_throw(bytes, 16); }
void* operator new[](std::size_t bytes) { return braid_test::counted_or_throw(bytes, 16); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return braid_test::counted_allocation(bytes, 16);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return braid_test::counted_allocation(bytes, 16);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
    return braid_test::counted_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
    return braid_test::counted_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
    return braid_test::counted_allocation(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { braid_test::give_back(p); }
void operator delete[](void* p) noexcept { braid_test::give_back(p); }
void operator delete(void* p, std::size_t) noexcept { braid_test::give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { braid_test::give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { braid_test::give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { braid_test::give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { braid_test::give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
    braid_test::give_back(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept { braid_test::give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { braid_test::give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
    braid_test::give_back(p);
}
