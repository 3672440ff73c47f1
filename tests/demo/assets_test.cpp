// Levels of detail as pages: when a frame shows them, and what it wants.
#include "game/assets.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

using namespace arena;

namespace {

using page_and_frame = std::pair<std::uint32_t, std::uint64_t>;

class Levels : public ::testing::Test {
protected:
    Levels() {
        pages.of = this;
        pages.want = [](void* of, std::uint32_t page, std::uint64_t frame) {
            static_cast<Levels*>(of)->wanted.emplace_back(page, frame);
        };
        own->setup.assets = &pages;
        own->model_count = 2;
    }

    /// What is shown of a model that should be at `level`.
    std::uint32_t shown(std::uint64_t frame, std::uint32_t level, std::size_t model = 1) {
        levels_of_frame levels(*own, frame);
        const std::uint32_t shows = levels.show(model, level);
        wanted.clear();
        levels.want();
        return shows;
    }

    std::unique_ptr<game> own = std::make_unique<game>();
    asset_pages pages;
    std::vector<page_and_frame> wanted;
};

TEST_F(Levels, AreShownFourFramesAfterTheyWereWanted) {
    for (std::uint64_t frame = 1; frame <= 4; ++frame) EXPECT_EQ(shown(frame, 1), coarsest);
    for (std::uint64_t frame = 5; frame <= 8; ++frame) EXPECT_EQ(shown(frame, 1), 1u);
    // It comes nearer, and shows what it has until the finer one may be used.
    for (std::uint64_t frame = 9; frame <= 12; ++frame) EXPECT_EQ(shown(frame, 0), 1u);
    EXPECT_EQ(shown(13, 0), 0u);
    // One that is coarser was not wanted either, but the coarsest needs no page.
    EXPECT_EQ(shown(14, 2), coarsest);
}

TEST_F(Levels, AreWantedForTheFrameThatMayShowThem) {
    shown(3, 1);
    EXPECT_EQ(wanted, (std::vector<page_and_frame>{{asset_pages::level(1, 1), 7}}));
    shown(4, coarsest);
    EXPECT_TRUE(wanted.empty()) << "the model has it";
}

TEST_F(Levels, OfOneModelAreNotThoseOfAnother) {
    for (std::uint64_t frame = 1; frame <= 4; ++frame) shown(frame, 0, 0);
    levels_of_frame levels(*own, 5);
    EXPECT_EQ(levels.show(0, 0), 0u);
    EXPECT_EQ(levels.show(1, 0), coarsest);
    EXPECT_TRUE(own->levels_shown.has(0, 0));
    EXPECT_FALSE(own->levels_shown.has(1, 0));
}

TEST(AssetPages, HaveANumberEach) {
    EXPECT_EQ(asset_pages::gait(max_models - 1, max_clips - 1, asset_pages::variants - 1) + 1,
              asset_pages::levels_at);
    EXPECT_EQ(asset_pages::level(0, 0), asset_pages::levels_at);
    EXPECT_EQ(asset_pages::level(max_models - 1, coarsest) + 1, asset_pages::count);
}

}  // namespace
