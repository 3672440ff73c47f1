// F2: data in several copies; a reader and a writer of one copy never meet unseen.
#include <braid/frame/n_buffered.hpp>
#include <braid/graph/graph.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"
#include "tiny_game.hpp"

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(NBuffered);

// The seed: one copy is populated while the other is rendered, and the copies are swapped at the
// end of the frame. Its network orders the swap after the writer; nothing orders it after the
// renderer.
TEST_P(NBuffered, ASwapWithoutAnEdgeFromTheReaderIsCaught) {
    braid::scheduler s(options());
    {
        // Rendering of one frame is held while the swap of the next comes: two tasks, no edge.
        braid::n_buffered<int> commands(s, "commands");
        braid::event reads(s, braid::reset::manual), swapped(s, braid::reset::manual);
        *commands.write() = 1;
        EXPECT_TRUE(commands.swap());
        const auto render = s.spawn({.name = "render"}, [&] {
            const auto from = commands.read();
            EXPECT_TRUE(from);
            reads.set();
            s.do_work_while_waiting_for(swapped);
            EXPECT_EQ(*from, 1) << "the swap was refused, nobody writes here";
        });
        const auto populate = s.spawn({.name = "populate"}, [&] {
            s.do_work_while_waiting_for(reads);
            *commands.write() = 2;
        });
        const auto swap = s.spawn({.name = "swap", .after = {populate}}, [&] {
            EXPECT_FALSE(commands.swap());
            swapped.set();
        });
        s.wait(swap);
        s.wait(render);
        EXPECT_EQ(notes_.count(&braid_test::recorder::misuse,
                               "the swap of 'commands' overtakes 'render', which still reads frame "
                               "1: give it an edge from there"),
                  1U);
        EXPECT_TRUE(commands.swap()) << "nobody reads any more";
        EXPECT_EQ(*commands.read(), 2);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

TEST_P(NBuffered, WithTheEdgeTheSwapIsATaskLikeAnyOther) {
    braid::scheduler s(options());
    braid::n_buffered<int> commands(s, "commands");
    braid::graph frame(s, "frame");
    int next = 0;
    std::vector<int> rendered;
    // Populating frame n and rendering frame n - 1 run beside each other.
    const auto populate = frame.add({.name = "populate"}, [&] { *commands.write() = ++next; });
    const auto render = frame.add({.name = "render"}, [&] {
        if (const auto from = commands.read()) rendered.push_back(*from);
    });
    const auto swap = frame.add({.name = "swap"}, [&] { EXPECT_TRUE(commands.swap()); });
    frame.precede(populate, swap);
    frame.precede(render, swap);
    *commands.write() = 0;
    EXPECT_TRUE(commands.swap());
    const int frames = static_cast<int>(scaled(200));
    for (int i = 0; i < frames; ++i) frame.run_and_wait();
    ASSERT_EQ(rendered.size(), static_cast<std::size_t>(frames));
    for (int i = 0; i < frames; ++i) EXPECT_EQ(rendered[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(notes_.misuse, std::vector<std::string>());
}

TEST_P(NBuffered, ASwapThatOvertakesTheWriterIsCaught) {
    braid::scheduler s(options());
    braid::n_buffered<int> commands(s, "commands");
    const auto wait_for = s.spawn({.name = "populate"}, [&] {
        const auto to = commands.write();
        EXPECT_FALSE(commands.swap());
        EXPECT_FALSE(commands.read(1)) << "while it is written";
        EXPECT_FALSE(commands.write(3)) << "the same copy";
    });
    s.wait(wait_for);
    EXPECT_EQ(
        notes_.count(&braid_test::recorder::misuse, "overtakes 'populate', which still writes"),
        1U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse,
                           "'populate' reads 'commands' for frame 1 while 'populate' writes it"),
              1U);
    EXPECT_EQ(
        notes_.count(&braid_test::recorder::misuse, "that 'populate' still writes for frame 1"),
        1U);
    EXPECT_TRUE(commands.swap());
}

TEST_P(NBuffered, TooFewCopiesForTheDepthOfALoopAreCaught) {
    braid::scheduler s(options());
    {
        // One copy, two frames in flight: the first is rendered until the second has tried to
        // write.
        braid::n_buffered<int, 1> scene(s, "scene");
        braid::frame_loop loop(s, {.depth = 1});
        braid::frame_stage simulate(loop, {.name = "simulate"}), render(loop, {.name = "render"});
        braid::event reads(s, braid::reset::manual), tried(s, braid::reset::manual);
        simulate.add({.name = "populate"}, [&](const braid::frame_context& f) {
            if (f.frame == 2) s.do_work_while_waiting_for(reads);
            EXPECT_EQ(static_cast<bool>(scene.write(f.frame)), f.frame == 1);
            if (f.frame == 2) tried.set();
        });
        render.add({.name = "present"}, [&](const braid::frame_context& f) {
            const auto from = scene.read(f.frame);
            EXPECT_EQ(static_cast<bool>(from), f.frame == 1);
            reads.set();
            if (f.frame == 1) s.do_work_while_waiting_for(tried);
        });
        loop.advance();
        loop.advance();
        loop.finish();
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse,
                           "'populate' writes 'scene' for frame 2 into the copy that 'present' "
                           "still reads for frame 1: give it an edge from there"),
              1U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 2U) << "and the second is not rendered";
}

TEST_P(NBuffered, ACopyThatHoldsAnotherFrameIsNotRead) {
    braid::scheduler s(options());
    braid::n_buffered<int, 3> scene(s, "scene");
    EXPECT_FALSE(scene.read(1)) << "nothing yet";
    *scene.write(1) = 10;
    *scene.write(2) = 20;
    EXPECT_EQ(*scene.read(1), 10);
    *scene.write(4) = 40;
    EXPECT_FALSE(scene.read(1)) << "frame 4 has its copy";
    EXPECT_EQ(*scene.read(2), 20);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse,
                           "reads 'scene' for frame 1, but the copy holds frame 4"),
              1U);
    // Any number of readers.
    const auto a = scene.read(2), b = scene.read(2);
    EXPECT_TRUE(a && b);
    EXPECT_FALSE(scene.write(5));
}

}  // namespace
