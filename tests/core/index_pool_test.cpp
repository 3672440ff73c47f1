// The pool of slots: what it makes when it grows, and who waits for that.
#include "core/slots/index_pool.hpp"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace {

using braid::detail::accounted_memory;
using braid::detail::index_pool;
using braid::detail::no_index;
using braid::detail::pool_cache;

struct counted {
    static inline std::size_t made = 0, destroyed = 0;
    counted() { ++made; }
    ~counted() { ++destroyed; }
    std::size_t body[4];
};

/// Hands out memory until it refuses; counts the calls that were refused and the handler's.
struct allocator {
    bool refuses = false;
    int refused = 0, reported = 0;

    static void* allocate(void* user, std::size_t bytes, std::size_t alignment, braid::memory_tag) {
        auto& self = *static_cast<allocator*>(user);
        self.refused += self.refuses;
        if (self.refuses) return nullptr;
        return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
    }
    static void release(void*, void* pointer, std::size_t, std::size_t alignment,
                        braid::memory_tag) {
        ::operator delete(pointer, std::align_val_t(alignment));
    }
    static void report(void* user, std::size_t, const char*) {
        ++static_cast<allocator*>(user)->reported;
    }

    braid::memory_hooks hooks() { return {.allocate = allocate, .release = release, .user = this}; }
};

class IndexPool : public ::testing::Test {
protected:
    // Segments of up to 1,024 objects are made at once.
    static constexpr std::size_t small = 1024;
    static constexpr std::uint32_t beginning_of_large = 256 + 512 + 1024;

    IndexPool() { counted::made = counted::destroyed = 0; }

    /// Takes until the pool has handed out `end` objects; the most that one take has made.
    std::size_t take_to(std::uint32_t end) {
        std::size_t most = 0;
        while (pool.size() < end || cache.count != 0) {
            const std::size_t before = counted::made;
            const std::uint32_t index = pool.take(cache);
            EXPECT_NE(index, no_index);
            if (index == no_index) break;
            most = std::max(most, counted::made - before);
            taken.push_back(index);
        }
        return most;
    }

    allocator from;
    accounted_memory memory{from.hooks(), 0, {allocator::report, &from}};
    index_pool<counted> pool{memory, braid::memory_tag::slot};
    pool_cache cache;
    std::vector<std::uint32_t> taken;
};

TEST_F(IndexPool, NoTakeMakesALargeSegment) {
    EXPECT_LE(take_to(beginning_of_large / 4 * 3), small);
    const std::size_t most = take_to(200'000);
    EXPECT_LE(most, small);
    EXPECT_LE(take_to(400'000), 256u);
    for (std::uint32_t i = 0; i < taken.size(); ++i) {
        ASSERT_TRUE(pool.contains(taken[i]));
        pool[taken[i]].body[0] = i;
    }
    for (std::uint32_t i = 0; i < taken.size(); ++i) ASSERT_EQ(pool[taken[i]].body[0], i);
}

TEST_F(IndexPool, WhatIsMadeAheadIsReadyWhenItsTimeComes) {
    // At the end of a segment nothing is left to make of the next.
    take_to(beginning_of_large + 2048);
    const std::size_t before = counted::made;
    EXPECT_NE(pool.take(cache), no_index);
    EXPECT_EQ(counted::made, before);
}

TEST_F(IndexPool, NoMemoryAheadOfTimeIsNoFailure) {
    take_to(beginning_of_large);
    from.refuses = true;
    take_to(beginning_of_large + 2048);
    EXPECT_EQ(from.refused, 1);
    EXPECT_EQ(from.reported, 0) << "nothing was missing yet";
    EXPECT_EQ(pool.take(cache), no_index);
    EXPECT_EQ(from.reported, 1);
    from.refuses = false;
    EXPECT_NE(pool.take(cache), no_index);
    EXPECT_EQ(counted::made, beginning_of_large + 2048u + 4096u) << "all at once, then";
}

TEST_F(IndexPool, ACallerThatMayNotBlockMakesNothing) {
    take_to(beginning_of_large + 1536 + 32);
    std::size_t before = counted::made;
    while (pool.size() < beginning_of_large + 2048) ASSERT_NE(pool.take(cache, false), no_index);
    while (cache.count != 0) pool.take(cache, false);
    EXPECT_EQ(pool.take(cache, false), no_index);
    EXPECT_EQ(counted::made, before);
    before = counted::made;
    EXPECT_NE(pool.take(cache), no_index) << "one that may makes the rest";
    EXPECT_GT(counted::made, before);
}

TEST_F(IndexPool, WhatSuchCallersLeaveUnmadeIsMadeWhenItIsNeeded) {
    take_to(beginning_of_large + 1536 + 32);
    while (pool.size() < beginning_of_large + 1536 + 128) {
        ASSERT_NE(pool.take(cache, false), no_index);
    }
    while (cache.count != 0) pool.take(cache, false);
    take_to(beginning_of_large + 2048);
    EXPECT_LT(counted::made, beginning_of_large + 2048u + 4096u) << "nothing was left";
    take_to(beginning_of_large + 2048 + 4096);
    EXPECT_GE(counted::made, beginning_of_large + 2048u + 4096u);
    for (std::uint32_t i = 0; i < pool.size(); ++i) pool[i].body[0] = i;
    for (std::uint32_t i = 0; i < pool.size(); ++i) ASSERT_EQ(pool[i].body[0], i);
}

TEST_F(IndexPool, WithABudgetNothingIsTakenAheadOfTime) {
    accounted_memory counting{from.hooks(), std::size_t{1} << 30, {allocator::report, &from}};
    index_pool<counted> bounded{counting, braid::memory_tag::slot};
    pool_cache own;
    while (bounded.size() < beginning_of_large + 2048) bounded.take(own);
    EXPECT_EQ(counted::made, beginning_of_large + 2048u);
}

TEST_F(IndexPool, ReservingMakesTheRest) {
    take_to(beginning_of_large + 1536 + 32);
    ASSERT_TRUE(pool.reserve(beginning_of_large + 2048 + 4096));
    EXPECT_EQ(counted::made, beginning_of_large + 2048u + 4096u);
    EXPECT_EQ(take_to(beginning_of_large + 2048 + 1024), 0u);
}

TEST(IndexPoolEnd, WhatWasMadeIsDestroyedAndGivenBack) {
    for (const std::uint32_t end : {0u, 32u, 3'500u, 3'840u, 20'000u}) {
        counted::made = counted::destroyed = 0;
        allocator from;
        accounted_memory memory{from.hooks(), 0, {}};
        {
            index_pool<counted> pool{memory, braid::memory_tag::slot};
            pool_cache cache;
            while (pool.size() < end) ASSERT_NE(pool.take(cache), no_index);
        }
        EXPECT_EQ(counted::made, counted::destroyed);
        EXPECT_EQ(memory.bytes(braid::memory_tag::slot), 0u);
    }
}

}  // namespace
