// The overlay's first line says what runs, and what waits without a thread.
#include "host/overlay.hpp"
#include "host/backends/braid_frames.hpp"

#include "scheduler_test.hpp"

#include <gtest/gtest.h>
#include <braid/async.hpp>

#include <string>
#include <vector>

using namespace arena;
using namespace arena::host;

namespace {

std::string headline_of(const waiting_work& waiting) {
    renderer picture({.width = 64, .height = 64, .draw_arena = false});
    picture.begin_frame({});
    lane_numbers lanes;
    recorder times(lanes);
    times.begin_frame();
    times.end_frame();
    overlay over;
    over.paint(picture, {}, times, {"braid", 1, 60, waiting});
    return over.headline();
}

/// One look at the counts may come between two of them.
void until_it_says(const braid_frames& frames, const char* what) {
    braid_test::until(
        [&] { return headline_of(frames.waiting()).find(what) != std::string::npos; });
}

braid::co<> waits_for(braid::task_id first, braid::event& second) {
    co_await first;
    co_await second;
}

}  // namespace

TEST(Overlay, CountsSuspendedTasksAndWhatSomebodyOutsideEnds) {
    const braid_test::deadline limit;
    braid_frames frames(1, {});
    EXPECT_NE(headline_of(frames.waiting()).find("0 suspended, 0 outside"), std::string::npos);

    braid::scheduler& s = frames.own_scheduler();
    auto gate = s.begin({}, braid::empty);
    braid::event open(s, braid::reset::manual);
    std::vector<braid::future<void>> all;
    for (int i = 0; i < 3; ++i) all.push_back(braid::co_spawn(s, {}, waits_for(gate.id(), open)));
    until_it_says(frames, "3 suspended, 0 outside");
    gate.finish();
    until_it_says(frames, "3 suspended, 3 outside");
    open.set();
    for (auto& one : all) one.get();
    EXPECT_NE(headline_of(frames.waiting()).find("0 suspended, 0 outside"), std::string::npos);
}

TEST(Overlay, ShowsWhichPagesAreInMemory) {
    renderer picture({.width = 640, .height = 360, .draw_arena = false});
    lane_numbers lanes;
    recorder times(lanes);
    times.begin_frame();
    times.end_frame();
    overlay over;
    const auto painted = [&](const pages_seen& pages) {
        picture.begin_frame({});
        over.paint(picture, {}, times, {"braid", 1, 60, {}, pages});
        const auto pixels = picture.pixels();
        return std::vector(pixels.begin(), pixels.end());
    };
    const auto none = painted({});
    EXPECT_EQ(over.pages_line(), "");
    const auto few = painted({.count = 240, .resident = {0, 7}, .bytes = 3 << 19});
    EXPECT_EQ(over.pages_line(), "2 of 240 pages, 1.5 MiB; 0 MiB read, 0 stalls");
    const auto others = painted({.count = 240, .resident = {0, 130}, .bytes = 3 << 19});
    EXPECT_NE(none, few);
    EXPECT_NE(few, others);
}
