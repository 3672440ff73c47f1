// Memory with a page at each end that nobody may touch.
#include "base/platform/platform.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstddef>
#include <cstdint>

namespace {

namespace platform = braid::platform;

TEST(PlatformMemory, IsWritableFromEndToEndAndZeroAtFirst) {
    constexpr std::size_t size = 100'000;
    auto* const memory = static_cast<std::byte*>(platform::map_guarded(size));
    ASSERT_NE(memory, nullptr);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(memory[i], std::byte{0});
    memory[0] = memory[size - 1] = std::byte{1};
    platform::unmap_guarded(memory, size);
}

TEST(PlatformMemoryDeathTest, HasAPageAtEachEndThatEndsWhoTouchesIt) {
    const auto page = platform::page_bytes();
    auto* const memory = static_cast<std::byte*>(platform::map_guarded(2 * page));
    ASSERT_NE(memory, nullptr);
    for (std::byte* const at :
         {memory - 1, memory - page, memory + 2 * page, memory + 3 * page - 1}) {
        EXPECT_DEATH(*at = std::byte{1}, "");
        EXPECT_DEATH(_exit(static_cast<int>(*at)), "");
    }
    platform::unmap_guarded(memory, 2 * page);
}

TEST(PlatformMemory, ThatTheSystemDoesNotHaveIsNull) {
    EXPECT_EQ(platform::map_guarded(SIZE_MAX), nullptr);
    EXPECT_EQ(platform::map_guarded(SIZE_MAX / 2), nullptr);
}

}  // namespace
