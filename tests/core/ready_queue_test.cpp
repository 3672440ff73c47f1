// The ring of ready tasks: owner, thieves, and claims from the middle.
#include "core/ready/ready_queue.hpp"

#include "scale.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using braid::detail::ready_queue;

struct ring {
    explicit ring(std::size_t size) : cells(new ready_queue::cell[size]{}) {
        queue.attach(cells.get(), size);
    }
    std::unique_ptr<ready_queue::cell[]> cells;
    ready_queue queue;
};

TEST(ReadyQueue, TheOwnerPopsTheNewestAndThievesTakeTheOldest) {
    ring r(4);
    for (std::uint64_t id = 1; id <= 4; ++id) ASSERT_TRUE(r.queue.push(id));
    EXPECT_EQ(r.queue.steal(), 1U);
    EXPECT_EQ(r.queue.pop(), 4U);
    EXPECT_EQ(r.queue.steal(), 2U);
    EXPECT_EQ(r.queue.pop(), 3U);
    EXPECT_EQ(r.queue.pop(), 0U);
    EXPECT_EQ(r.queue.steal(), 0U);
    EXPECT_FALSE(r.queue.maybe_work());
}

TEST(ReadyQueue, AFullRingRefusesAndKeepsWhatItHas) {
    // H5: an overflow was only an assertion.
    ring r(2);
    EXPECT_TRUE(r.queue.push(1));
    EXPECT_TRUE(r.queue.push(2));
    EXPECT_FALSE(r.queue.push(3));
    EXPECT_EQ(r.queue.steal(), 1U);
    EXPECT_TRUE(r.queue.push(3));
    EXPECT_EQ(r.queue.steal(), 2U);
    EXPECT_EQ(r.queue.steal(), 3U);
}

TEST(ReadyQueue, AThiefTakesHalfOfTheOldestAtOnce) {
    ring r(16);
    for (std::uint64_t id = 1; id <= 11; ++id) ASSERT_TRUE(r.queue.push(id));
    std::uint64_t ids[8] = {};
    ASSERT_EQ(r.queue.steal(ids, 8), 6U);
    for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(ids[i], i + 1);
    EXPECT_EQ(r.queue.steal(ids, 2), 2U) << "the limit";
    EXPECT_EQ(ids[0], 7U);
    EXPECT_EQ(r.queue.pop(), 11U);
    EXPECT_EQ(r.queue.steal(ids, 8), 1U) << "of two one";
    EXPECT_EQ(r.queue.steal(ids, 8), 1U) << "one alone is not left behind";
    EXPECT_EQ(r.queue.steal(ids, 8), 0U);
}

TEST(ReadyQueue, ARefillIsPoppedInTheOrderOfItsIdsAndStolenFromItsEnd) {
    ring r(4);
    for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(r.queue.push(id));
    while (r.queue.steal() != 0) {
    }
    ASSERT_EQ(r.queue.newest(), 0U) << "empty, with indices apart";
    const std::uint64_t ids[] = {4, 5, 6, 7};
    r.queue.refill(ids, 4);
    EXPECT_FALSE(r.queue.push(8)) << "full";
    EXPECT_EQ(r.queue.pop(), 4U);
    EXPECT_EQ(r.queue.steal(), 7U);
    EXPECT_EQ(r.queue.pop(), 5U);
    EXPECT_EQ(r.queue.pop(), 6U);
    EXPECT_EQ(r.queue.pop(), 0U);
}

TEST(ReadyQueue, ClaimsFromTheMiddleLeaveTheOthersInOrder) {
    ring r(8);
    for (std::uint64_t id = 1; id <= 6; ++id) ASSERT_TRUE(r.queue.push(id));
    const auto is = [](std::uint64_t wanted) {
        return [wanted](std::uint64_t id) { return id == wanted; };
    };
    EXPECT_EQ(r.queue.claim_newest_if(is(3), 64), 3U);
    EXPECT_EQ(r.queue.claim_oldest_if(is(4), 64), 4U);
    EXPECT_EQ(r.queue.claim_oldest_if(is(4), 64), 0U);
    EXPECT_EQ(r.queue.claim_newest_if(is(1), 2), 0U) << "beyond the limit";
    EXPECT_EQ(r.queue.steal(), 1U);
    EXPECT_EQ(r.queue.pop(), 6U);
    EXPECT_EQ(r.queue.pop(), 5U);
    EXPECT_EQ(r.queue.pop(), 2U);
    EXPECT_EQ(r.queue.pop(), 0U);
}

TEST(ReadyQueue, ManyRoundsOfASmallRingNeverShowAnEntryOfTheLapBefore) {
    // H3, D6: a stale index over a ring that has turned.
    ring r(2);
    for (std::uint64_t id = 1; id < 1000; ++id) {
        ASSERT_TRUE(r.queue.push(id));
        ASSERT_EQ(id % 2 == 0 ? r.queue.steal() : r.queue.pop(), id);
        ASSERT_EQ(r.queue.steal(), 0U);
        ASSERT_EQ(r.queue.pop(), 0U);
    }
}

TEST(ReadyQueue, OwnerThievesAndClaimersTakeEachEntryExactlyOnceOnARingOfFour) {
    // H3, H4: an entry that ran twice, and entries that a jumping index lost.
    for (int round = 0; round < 5; ++round) {
        ring r(4);
        const std::uint64_t count = braid_test::scaled(20'000);
        std::vector<std::atomic<int>> taken(count + 1);
        std::atomic<bool> over{false};
        std::vector<std::thread> others;
        for (int t = 0; t < 2; ++t) {
            others.emplace_back([&, t] {
                while (!over) {
                    const std::uint64_t id =
                        t == 0 ? r.queue.steal()
                               : r.queue.claim_newest_if(
                                     [](std::uint64_t entry) { return entry % 3 == 0; }, 4);
                    if (id != 0) ++taken[id];
                }
            });
        }
        for (std::uint64_t id = 1; id <= count;) {
            if (r.queue.push(id)) {
                ++id;
                if (id % 5 != 0) continue;
            }
            if (const std::uint64_t own = r.queue.pop()) ++taken[own];
        }
        while (const std::uint64_t own = r.queue.pop()) ++taken[own];
        over = true;
        for (std::thread& t : others) t.join();
        while (const std::uint64_t own = r.queue.pop()) ++taken[own];
        for (std::uint64_t id = 1; id <= count; ++id) ASSERT_EQ(taken[id], 1) << id;
    }
}

}  // namespace
