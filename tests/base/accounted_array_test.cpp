// The array of the modules: what it holds outlives a refusal, and every byte is accounted for.
#include "base/accounted_array.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using braid::memory_tag;
using array = braid::detail::accounted_array<int, memory_tag::graph>;

/// Memory that can be refused.
struct fixture : testing::Test {
    bool refuse = false;
    braid::detail::accounted_memory memory{
        {.allocate = [](void* self, std::size_t bytes, std::size_t, memory_tag) -> void* {
             return static_cast<fixture*>(self)->refuse ? nullptr : std::malloc(bytes);
         },
         .release = [](void*, void* p, std::size_t, std::size_t, memory_tag) { std::free(p); },
         .user = this},
        0,
        {}};
};
using AccountedArray = fixture;

TEST_F(AccountedArray, KeepsWhatItHoldsWhenItCannotGrow) {
    array a(memory);
    int held = 0;
    while (held < 100) ASSERT_TRUE(a.push(held++));
    refuse = true;
    while (a.push(held)) ++held;
    EXPECT_FALSE(a.reserve(100'000));
    EXPECT_FALSE(a.reset(100'000));
    ASSERT_EQ(a.size(), static_cast<std::size_t>(held));
    for (int i = 0; i < held; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], i);
}

TEST_F(AccountedArray, GivesBackEveryByteUnderItsTag) {
    {
        array a(memory);
        for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(a.push(i));
        EXPECT_GE(memory.bytes(memory_tag::graph), 1'000 * sizeof(int));
        EXPECT_LE(memory.allocations(), 8U) << "it grows by factors";
    }
    EXPECT_EQ(memory.bytes(memory_tag::graph), 0U);
}

TEST_F(AccountedArray, IsZeroAfterAResetAndKeepsItsRoom) {
    array a(memory);
    for (int i = 1; i <= 50; ++i) ASSERT_TRUE(a.push(i));
    const auto before = memory.allocations();
    ASSERT_TRUE(a.reset(40));
    ASSERT_EQ(a.size(), 40U);
    for (const int value : a) EXPECT_EQ(value, 0);
    a.clear();
    EXPECT_EQ(a.size(), 0U);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(a.push(i));
    a.remove_if([](int value) { return value % 2 == 0; });
    ASSERT_EQ(a.size(), 25U);
    EXPECT_EQ(a[24], 49);
    EXPECT_EQ(memory.allocations(), before);
}

}  // namespace
