// The type whose time on the frame grew most is named, however busy others are.
#include "profile/analysis/compare.hpp"

#include "scenes.hpp"

#include <gtest/gtest.h>

namespace {

namespace profile = braid::profile;
using braid_test::us;

/// Ten frames: draw after skin, and beside them work that nothing waits for long.
profile::capture frames_with(std::uint64_t skin_us, std::uint64_t draw_us, std::uint64_t other_us) {
    braid_test::scene_builder b(2);
    std::uint64_t at = 0, id = 1;
    for (std::uint64_t f = 1; f <= 10; ++f, id += 3) {
        const std::uint64_t drawn = at + 10 + skin_us + 10 + draw_us, end = drawn + 20;
        b.say(0, at, braid_test::record_kind::frame_begin, 0, f);
        b.spawn(0, at + 5, id, b.skin).run(1, at + 10, at + 10 + skin_us, id, b.skin);
        b.spawn(0, at + 5, id + 1, b.draw, {id}).ready(1, at + 15 + skin_us, id + 1, id);
        b.run(1, at + 20 + skin_us, drawn, id + 1, b.draw);
        b.spawn(0, at + 5, id + 2, b.other).run(2, at + 10, at + 10 + other_us, id + 2, b.other);
        b.wait(0, at + 8, end - 1, 0, id + 1);
        b.say(0, end, braid_test::record_kind::frame_end, 0, f);
        at = end + 10;
    }
    return b.make();
}

profile::comparison compared(const profile::capture& before, const profile::capture& after) {
    return compare(make_history(before), make_history(after));
}

TEST(Compare, NamesTheTypeThatGrewOnThePath) {
    // `other` grew more in all, but nobody waits for it.
    const auto c = compared(frames_with(2000, 1000, 100), frames_with(3500, 1000, 2000));
    EXPECT_TRUE(c.regressed);
    EXPECT_EQ(c.types.front().name, "skin");
    EXPECT_EQ(c.types.front().path_growth(), static_cast<std::int64_t>(1500 * us));
    EXPECT_EQ(c.sentence,
              "A frame takes 4.5 ms at the median instead of 3.0 ms: 'skin' (skin.cpp:12) takes "
              "1.5 ms more of it, 3.5 ms instead of 2.0 ms.");
    const auto other = std::find_if(c.types.begin(), c.types.end(),
                                    [](const auto& t) { return t.name == "other"; });
    ASSERT_NE(other, c.types.end());
    EXPECT_EQ(other->path_growth(), 0);
    EXPECT_EQ(other->frame_after - other->frame_before, 1900 * us);
    EXPECT_EQ(other->after.p50 - other->before.p50, 1900 * us);
}

TEST(Compare, OfEqualCapturesFindsNothing) {
    const auto same = frames_with(2000, 1000, 100);
    const auto c = compared(same, same);
    EXPECT_FALSE(c.regressed);
    EXPECT_EQ(c.sentence.find("No regression"), 0U) << c.sentence;
    EXPECT_FALSE(compared(frames_with(2000, 1000, 100), frames_with(1000, 1000, 100)).regressed);
}

TEST(Compare, FindsATypeAgainByItsName) {
    profile::capture before = frames_with(2000, 1000, 100), after = frames_with(2000, 2000, 100);
    // The other capture numbers its types otherwise, and the lines moved.
    std::swap(after.types[1], after.types[3]);
    for (auto& lane : after.lanes) {
        for (auto& r : lane.records) {
            if (r.aux == 1 || r.aux == 3) r.aux = 4 - r.aux;
        }
    }
    for (auto& type : after.types) type.line += 10;
    const auto c = compared(before, after);
    EXPECT_TRUE(c.regressed);
    EXPECT_EQ(c.types.front().name, "draw");
    EXPECT_NE(c.sentence.find("'draw' (draw.cpp:17)"), std::string::npos) << c.sentence;
}

TEST(Compare, NamesATypeThatIsNew) {
    profile::capture before = frames_with(2000, 1, 100), after = frames_with(2000, 1000, 100);
    before.types[3].name = "gone";
    const auto c = compared(before, after);
    EXPECT_EQ(c.types.front().name, "draw");
    EXPECT_EQ(c.types.front().before_type, profile::none);
}

}  // namespace
