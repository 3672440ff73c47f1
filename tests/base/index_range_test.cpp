// What is left of a range that several threads share out: every index goes out once, at every size.
#include "braid/base/index_range.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using braid::index_range;
using braid::detail::shared_range;

TEST(SharedRange, HandsOutEachIndexFromBothEndsUpToItsCapacity) {
    constexpr std::size_t most = shared_range::capacity;
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, most - 1, most}) {
        shared_range r({0, n});
        index_range half;
        ASSERT_TRUE(r.take_half(half));
        EXPECT_EQ(half.end, n);
        EXPECT_EQ(half.size(), (n + 1) / 2) << "rounded up, so that the last one is taken, too";
        EXPECT_EQ(r.left(), n / 2);
        const shared_range::first_index first = r.take_first();
        EXPECT_EQ(first.left, n / 2);
        if (first.left == 0) continue;
        EXPECT_EQ(first.index, 0u);
        EXPECT_EQ(r.left(), n / 2 - 1);
        index_range piece{0, 1};
        for (std::size_t at = 1; r.take_front(piece); at = piece.end) EXPECT_EQ(piece.begin, at);
        EXPECT_EQ(piece.end, n / 2);
        EXPECT_FALSE(r.take_half(half));
    }
}

TEST(SharedRange, HasNothingAfterOneWasLookedForInVain) {
    shared_range r;
    EXPECT_EQ(r.take_first().left, 0u);
    index_range taken;
    EXPECT_FALSE(r.take_half(taken));
    EXPECT_FALSE(r.take_front(taken));
    EXPECT_EQ(r.left(), 0u);
    r.refill({shared_range::capacity - 1, shared_range::capacity});
    EXPECT_EQ(r.take_first().index, shared_range::capacity - 1);
    EXPECT_EQ(r.take_first().left, 0u) << "the front is one beyond the end, the end as it was";
    EXPECT_EQ(r.left(), 0u);
}

TEST(SharedRange, KeepsItsMarkWhateverIsTaken) {
    shared_range r({0, shared_range::capacity});
    EXPECT_TRUE(r.mark());
    EXPECT_FALSE(r.mark());
    EXPECT_TRUE(r.take_first().marked);
    index_range taken;
    while (r.take_half(taken)) EXPECT_FALSE(r.mark());
    EXPECT_TRUE(r.take_first().marked);
    r.refill({7, 9});
    EXPECT_EQ(r.left(), 2u);
    EXPECT_FALSE(r.mark());
    r.unmark();
    EXPECT_FALSE(r.take_first().marked);
    EXPECT_EQ(r.left(), 1u);
    EXPECT_TRUE(r.mark());
    r.close();
    EXPECT_TRUE(r.mark());
}

TEST(SharedRange, GivesNoIndexToTwoThreads) {
    constexpr std::size_t n = 100'000;
    std::vector<std::atomic<int>> given(n);
    const auto give = [&](index_range piece) {
        for (std::size_t i = piece.begin; i != piece.end; ++i) {
            given[i].fetch_add(1, std::memory_order_relaxed);
        }
    };
    shared_range r({0, n});
    {
        std::vector<std::jthread> threads;
        for (int k = 0; k != 3; ++k) {
            threads.emplace_back([&] {
                for (index_range piece; r.take_half(piece);) {
                    r.mark();
                    give(piece);
                    r.unmark();
                }
            });
        }
        for (auto first = r.take_first(); first.left != 0; first = r.take_first()) {
            give({first.index, first.index + 1});
        }
    }
    for (std::size_t i = 0; i != n; ++i) ASSERT_EQ(given[i].load(), 1) << i;
}

}  // namespace
