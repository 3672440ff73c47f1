// Frames in Tracy: each begins and ends once, and no two of a name overlap, whatever is in flight.
#include "told.hpp"

#include <braid/frame/frame_loop.hpp>
#include <braid/graph/graph.hpp>

namespace {

using braid_test::told;

BRAID_TRACY_TEST(TracyFrames);

std::map<std::string, std::size_t> by_name(const told& all) {
    std::map<std::string, std::size_t> counts;
    for (const braid_test::told_frame& f : all.frames) ++counts[f.name];
    return counts;
}

TEST_P(TracyFrames, BeginAndEndAtEveryDepth) {
    constexpr std::size_t frames = 40;
    for (unsigned depth = 0; depth <= braid::frame_loop_options::most_depth; ++depth) {
        const told all = watch([&](braid::scheduler& s) {
            braid::frame_loop loop(s, {.name = "game", .depth = depth});
            braid::frame_stage simulate(loop, {.name = "simulate"});
            braid::frame_stage draw(loop, {.name = "draw"});
            simulate.add({.name = "think"}, [](const braid::frame_context&) {});
            draw.add({.name = "paint"}, [](const braid::frame_context&) {});
            for (std::size_t i = 0; i < frames; ++i) loop.advance();
            loop.finish();
        });
        EXPECT_EQ(all.frames.size(), frames);
        EXPECT_EQ(all.count("paint"), frames);
        const std::map<std::string, std::size_t> names = by_name(all);
        EXPECT_LE(names.size(), depth + 1);
        EXPECT_TRUE(names.contains("game"));
        for (const auto& [name, count] : names) EXPECT_EQ(name.substr(0, 4), "game");
    }
}

/// Two frames in flight on purpose: the first one's last stage waits for the second one's first.
TEST_P(TracyFrames, ThatOverlapHaveNamesOfTheirOwn) {
    const told all = watch([&](braid::scheduler& s) {
        braid::frame_loop loop(s, {.name = "game", .depth = 1});
        braid::frame_stage simulate(loop, {.name = "simulate"});
        braid::frame_stage draw(loop, {.name = "draw"});
        braid::event second_began(s);
        simulate.add({.name = "think"}, [&](const braid::frame_context& f) {
            if (f.frame == 2) second_began.set();
        });
        draw.add({.name = "paint"}, [&](const braid::frame_context& f) {
            if (f.frame == 1) s.do_work_while_waiting_for(second_began);
        });
        for (int i = 0; i < 4; ++i) loop.advance();
        loop.finish();
    });
    const std::map<std::string, std::size_t> names = by_name(all);
    EXPECT_EQ(all.frames.size(), 4U);
    EXPECT_EQ(names.size(), 2U);
    EXPECT_TRUE(names.contains("game 2"));
}

/// Events as a loop tells them, without one.
class TracyFrameEvents : public testing::Test {
protected:
    TracyFrameEvents() { stand_in::take_calls(); }
    static void tell(braid::observer& to, braid::event_kind kind, std::uint64_t number,
                     const char* name = "frame") {
        to.on_event({.kind = kind, .other = {number}, .name = name});
    }
    static std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& f : braid_test::read_calls(stand_in::take_calls()).frames) {
            all.push_back(f.name);
        }
        return all;
    }
    static constexpr auto begin = braid::event_kind::frame_begin;
    static constexpr auto end = braid::event_kind::frame_end;
};

TEST_F(TracyFrameEvents, TakeTheFirstNameThatIsFree) {
    braid::profile::tracy_observer tracy;
    tell(tracy, begin, 1);
    tell(tracy, begin, 2);
    tell(tracy, end, 1);
    tell(tracy, begin, 3);
    tell(tracy, begin, 4);
    for (const std::uint64_t n : {2U, 3U, 4U}) tell(tracy, end, n);
    tell(tracy, end, 4);  // once more: nobody began it
    EXPECT_EQ(names(), (std::vector<std::string>{"frame", "frame 2", "frame", "frame 3"}));
}

TEST_F(TracyFrameEvents, OfTwoLoopsWithOneNameDoNotOverlap) {
    braid::profile::tracy_observer first, second;
    tell(first, begin, 1);
    tell(second, begin, 1);
    tell(first, end, 1);
    tell(first, begin, 2);
    tell(second, end, 1);
    tell(first, end, 2);
    EXPECT_EQ(names(), (std::vector<std::string>{"frame", "frame 2", "frame"}));
}

TEST_F(TracyFrameEvents, EndWithTheObserverAtTheLatest) {
    {
        braid::profile::tracy_observer tracy;
        tell(tracy, begin, 1, nullptr);
        tell(tracy, begin, 1, "other");
    }
    braid::profile::tracy_observer next;
    tell(next, begin, 1);
    tell(next, end, 1);
    EXPECT_EQ(names(), (std::vector<std::string>{"frame", "other", "frame"}));
}

TEST_F(TracyFrameEvents, MoreThanThereIsRoomForAreLeftOut) {
    braid::profile::tracy_observer tracy;
    for (std::uint64_t n = 0; n < 100; ++n) tell(tracy, begin, n);
    for (std::uint64_t n = 0; n < 100; ++n) tell(tracy, end, n);
    EXPECT_EQ(names().size(), 64U);
}

}  // namespace
