// Numbers of a queue at the edges of their ranges, and beyond.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <climits>

namespace {

using braid_test::recorder;

class Limits : public testing::Test {
protected:
    braid::scheduler_options options() {
        braid::scheduler_options o;
        o.workers = 1;
        notes_.install(o);
        return o;
    }
    std::size_t reports() { return notes_.count(&recorder::log, "out of range"); }

    braid_test::deadline deadline_;
    recorder notes_;
};

TEST_F(Limits, AQueueHasRoomForItsCapacityWhateverItIs) {
    using range = braid::queue_options;
    braid::scheduler s(options());
    for (const std::uint32_t capacity :
         {0U, 1U, 2U, 3U, range::most_capacity - 1, range::most_capacity, UINT32_MAX}) {
        braid::queue q(s, {.threads = 0, .capacity = capacity, .full = braid::when_full::fail});
        int ran = 0;
        const std::uint32_t wanted = std::clamp(capacity, 2U, 1000U);
        for (std::uint32_t i = 0; i < wanted; ++i) EXPECT_TRUE(q.push([&] { ++ran; }));
        if (capacity <= 2) {
            EXPECT_FALSE(q.push([] {}));
        }
        q.drain();
        EXPECT_EQ(ran, static_cast<int>(wanted));
    }
    EXPECT_EQ(reports(), 3U);
    for (const unsigned threads : {1U, range::most_threads, UINT_MAX}) {
        std::atomic<int> ran{0};
        {
            braid::queue q(s, {.threads = threads, .nice = INT_MAX, .stack_bytes = SIZE_MAX});
            for (int i = 0; i < 100; ++i) q.push([&] { ++ran; });
        }
        EXPECT_EQ(ran, 100);
    }
    EXPECT_EQ(notes_.count(&recorder::log, "queue_options::threads"), 1U);
}

}  // namespace
