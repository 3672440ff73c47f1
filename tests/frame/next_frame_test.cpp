// A1: coroutines that go on in each frame.
#include <braid/async.hpp>
#include <braid/frame/frame_stage.hpp>
#include <braid/frame/next_frame.hpp>

#include "scheduler_test.hpp"
#include "work_until.hpp"

#include <vector>

namespace {

using braid::co;
using braid::future;
using braid_test::work_until;

class NextFrame : public braid_test::scheduler_test {};
INSTANTIATE_TEST_SUITE_P(Workers, NextFrame, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(NextFrame, GoesOnOnceInEachFrame) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 1});
    braid::frame_stage stage(loop, {.name = "stage"});
    stage.add([](const braid::frame_context&) {});
    constexpr int frames = 20;
    std::vector<std::uint64_t> seen;
    const auto follows = [&]() -> co<> {
        for (int i = 0; i < frames; ++i) {
            seen.push_back(co_await braid::next_frame(loop));
        }
    };
    future<void> f = braid::co_spawn(s, {}, follows());
    for (unsigned i = 1; i <= frames; ++i) {
        // From its suspension on it is in the loop's list; its completion is open before that.
        work_until(s, [&] { return s.statistics().suspensions == i; });
        loop.advance();
    }
    f.get();
    loop.finish();
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(frames));
    for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i], seen[i - 1]);
}

TEST_P(NextFrame, OfALoopThatEndsIsZero) {
    braid::scheduler s(options());
    future<std::uint64_t> f;
    {
        braid::frame_loop loop(s);
        const auto waits = [](braid::frame_loop& of) -> co<std::uint64_t> {
            co_return co_await braid::next_frame(of);
        };
        f = braid::co_spawn(s, {}, waits(loop));
        // The end of the loop releases what is in its list.
        work_until(s, [&] { return s.statistics().suspensions == 1; });
    }
    EXPECT_EQ(f.get(), 0U);
    expect_all_ended(s);
}

TEST_P(NextFrame, IsCancelledAtOnce) {
    braid::scheduler s(options());
    braid::frame_loop loop(s);
    braid::scope level(s);
    const auto waits = [](braid::frame_loop& of) -> co<> { co_await braid::next_frame(of); };
    future<void> f = braid::co_spawn(s, {.within = &level}, waits(loop));
    work_until(s, [&] { return s.open_completions(nullptr, 0) != 0; });
    level.cancel();
    EXPECT_THROW(f.get(), braid::task_cancelled);
    try {
        level.wait();
    } catch (const braid::task_cancelled&) {
    }
}

}  // namespace
