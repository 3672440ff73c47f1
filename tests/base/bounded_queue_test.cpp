// The ring behind named queues: the races of the original, each forced.
#include "braid/base/bounded_queue.hpp"

#include "scale.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using ring = braid::bounded_queue<int>;

struct ring_of_two {
    explicit ring_of_two(std::uint64_t first = 0) : queue(cells, 2, first) {}
    ring::cell cells[2];
    ring queue;

    bool push(int value) {
        return queue.push_with([value](int& to) { to = value; });
    }
    /// -1: empty.
    int pop() {
        int value = -1;
        queue.pop_with([&value](int& from) { value = from; });
        return value;
    }
};

TEST(BoundedQueue, ASlotIsNotReusedWhileItsEntryIsStillBeingCopied) {
    // H2: the read index was advanced first and the entry copied afterwards; a producer that came
    // in between overwrote it. The consumer pauses between the claim and the copy.
    ring_of_two r;
    ASSERT_TRUE(r.push(1));
    ASSERT_TRUE(r.push(2));
    braid_test::door claimed;
    braid_test::door copy;
    int first = 0;
    std::thread slow([&] {
        r.queue.pop_with([&](int& from) {
            claimed.open();
            copy.pass();
            first = from;
        });
    });
    claimed.pass();
    EXPECT_FALSE(r.push(3)) << "the claimed cell was given away before it was copied";
    EXPECT_EQ(r.pop(), 2);
    EXPECT_FALSE(r.push(4)) << "first come, first served: the next cell is the claimed one";
    copy.open();
    slow.join();
    EXPECT_EQ(first, 1);
    EXPECT_TRUE(r.push(5));
    EXPECT_EQ(r.pop(), 5);
}

TEST(BoundedQueue, AnEntryIsNotReadBeforeItIsWritten) {
    // H2 the other way round: the producer pauses between its claim and its store.
    ring_of_two r;
    braid_test::door claimed;
    braid_test::door write;
    std::thread slow([&] {
        r.queue.push_with([&](int& to) {
            claimed.open();
            write.pass();
            to = 7;
        });
    });
    claimed.pass();
    EXPECT_EQ(r.pop(), -1);
    write.open();
    slow.join();
    EXPECT_EQ(r.pop(), 7);
}

TEST(BoundedQueue, AStaleConsumerDoesNotRunAnOldEntryAfterTheRingHasTurned) {
    // H3: the test for "not empty" was stale and the index had come round: an entry ran twice.
    ring_of_two r;
    ASSERT_TRUE(r.push(1));
    braid_test::door entered;
    braid_test::door go_on;
    int slow_value = 0;
    std::thread slow([&] {
        r.queue.pop_with([&](int& from) {
            entered.open();
            go_on.pass();
            slow_value = from;
        });
    });
    entered.pass();
    std::vector<int> seen;
    for (int i = 2; i < 50; ++i) {
        if (r.push(i)) {
            const int value = r.pop();
            if (value != -1) seen.push_back(value);
        }
    }
    go_on.open();
    slow.join();
    EXPECT_EQ(slow_value, 1);
    for (const int value : seen) EXPECT_NE(value, 1);
}

TEST(BoundedQueue, PositionsPastTwoToThe32AndCloseToTwoToThe64StayInOrder) {
    // D6, D7: indices of 32 bits that wrap.
    for (const std::uint64_t first : {std::uint64_t{UINT32_MAX} - 5, UINT64_MAX - 100}) {
        ring_of_two r(first);
        for (int i = 0; i < 40; ++i) {
            ASSERT_TRUE(r.push(2 * i));
            ASSERT_TRUE(r.push(2 * i + 1));
            ASSERT_FALSE(r.push(-2));
            ASSERT_EQ(r.queue.size(), 2U);
            ASSERT_EQ(r.pop(), 2 * i);
            ASSERT_EQ(r.pop(), 2 * i + 1);
            ASSERT_EQ(r.pop(), -1);
        }
    }
}

TEST(BoundedQueue, EveryEntryIsTakenExactlyOnceByManyOnARingOfTwo) {
    // H3, H4, H6: N producers and consumers on the smallest ring. (All orders: the model test.)
    ring_of_two r;
    constexpr int producers = 3;
    constexpr int consumers = 2;
    const int each = static_cast<int>(braid_test::scaled(20'000));
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(producers * each));
    std::atomic<int> taken{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&, p] {
            for (int i = 0; i < each; ++i) {
                braid_test::until([&] { return r.push(p * each + i); });
            }
        });
    }
    for (int c = 0; c < consumers; ++c) {
        threads.emplace_back([&] {
            while (taken < producers * each) {
                const int value = r.pop();
                if (value == -1) {
                    std::this_thread::yield();
                    continue;
                }
                ++seen[static_cast<std::size_t>(value)];
                ++taken;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (const auto& n : seen) ASSERT_EQ(n, 1);
}

TEST(BoundedQueue, OneProducerAndOneConsumerKeepTheOrder) {
    ring_of_two r;
    const int count = static_cast<int>(braid_test::scaled(50'000));
    std::thread producer([&] {
        for (int i = 0; i < count; ++i) braid_test::until([&] { return r.push(i); });
    });
    for (int i = 0; i < count; ++i) {
        int value = -1;
        braid_test::until([&] { return (value = r.pop()) != -1; });
        ASSERT_EQ(value, i);
    }
    producer.join();
}

}  // namespace
