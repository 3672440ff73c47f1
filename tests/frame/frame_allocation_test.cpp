// A loop in its steady state takes no memory, neither the scheduler's nor any other.
#include "counted_news.hpp"
#include "quiet_rounds.hpp"
#include "tiny_game.hpp"

#include <braid/frame/command_buffer.hpp>
#include <braid/frame/spread_work.hpp>

namespace {

class FrameAllocation : public braid_test::allocation_test {};
INSTANTIATE_TEST_SUITE_P(Workers, FrameAllocation, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(FrameAllocation, AFrameTakesNoneOnceTheLoopHasRun) {
    braid::scheduler s(options());
    braid_test::tiny_game game(s, {.depth = 2}, 5000);
    braid::n_buffered<braid::command_buffer<int>, 3> commands(s, "commands", s);
    braid::spread_work later(s);
    game.simulate.add([&](const braid::frame_context& f) {
        for (int i = 0; i < 100; ++i) f.arena.allocate(200);
        auto to = commands.write(f.frame);
        to->clear();
        {
            auto out = to->record(1);
            for (int i = 0; i < 1000; ++i) out.push(static_cast<std::uint64_t>(i * 7 % 100), i);
        }
        to->sort(f.task);
        later.run_frame();
    });
    std::uint64_t sum = 0;
    game.render.add([&](const braid::frame_context& f) {
        commands.read(f.frame)->play([&sum](int i) { sum += static_cast<std::uint64_t>(i); });
    });
    std::size_t frames = 0;
    const auto round = [&] {
        for (int i = 0; i < 2; ++i) game.loop.advance();
        frames += 2;
        game.simulate.set_serial(frames % 8 == 0);
    };
    // The hooks take their memory by operator new.
    EXPECT_TRUE(braid_test::comes_to_stand_still([] { return braid_test::news.load(); }, round));
    game.loop.finish();
    EXPECT_EQ(sum, frames * 499'500);
    EXPECT_GT(s.bytes(braid::memory_tag::frame), 0U);
}

}  // namespace
