// Messages: in order, all of them, never two tasks at a time.
#include <braid/async/message_source.hpp>

#include "refusing_memory.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::message_source;
using braid_test::recorder;

BRAID_SCHEDULER_TEST(MessageSource);

TEST_P(MessageSource, ServesAllInOrderAndNeverTwoAtATime) {
    braid::scheduler s(options());
    std::vector<int> got;
    std::atomic<int> inside{0}, most{0};
    {
        message_source<int> inbox(s, {.capacity = 1024}, [&](int& message) {
            most = std::max<int>(most, ++inside);
            got.push_back(message);
            --inside;
        });
        for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(inbox.push(i));
    }
    ASSERT_EQ(got.size(), 1'000U);
    for (int i = 0; i < 1'000; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(most, 1);
}

TEST_P(MessageSource, ATaskTakesUpToABatch) {
    braid::scheduler s(options());
    std::size_t longest = 0, sum = 0;
    std::atomic<bool> go_on{false};
    {
        message_source<std::string> inbox(
            s, {.batch = 16}, [&](braid::task_context& task, std::span<std::string> some) {
                EXPECT_TRUE(task.id());
                if (GetParam() != 0) {
                    while (!go_on) braid::active_policy::relax();
                }
                longest = std::max(longest, some.size());
                for (const std::string& one : some) sum += one.size();
            });
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(inbox.push(std::string(30, 'x')));
        go_on = true;
    }
    EXPECT_EQ(sum, 3'000U);
    EXPECT_EQ(longest, 16U);
}

TEST_P(MessageSource, ManyThreadsPush) {
    braid::scheduler s(options());
    std::atomic<int> served{0};
    constexpr int each = 2'000, threads = 3;
    {
        message_source<int> inbox(s, {.capacity = 8192, .batch = 7}, [&](int&) { ++served; });
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([&] {
                for (int i = 0; i < each; ++i) {
                    while (!inbox.push(i)) std::this_thread::yield();
                }
            });
        }
        for (std::thread& one : all) one.join();
    }
    EXPECT_EQ(served, each * threads);
}

TEST_P(MessageSource, SaysThatItIsFull) {
    braid::scheduler s(options());
    std::atomic<bool> go_on{false};
    std::atomic<int> served{0};
    {
        message_source<int> inbox(s, {.capacity = 4}, [&](int&) {
            if (GetParam() != 0) {
                while (!go_on) braid::active_policy::relax();
            }
            ++served;
        });
        int pushed = 0;
        while (inbox.push(pushed)) ++pushed;
        EXPECT_GE(pushed, 4);
        EXPECT_LE(pushed, 5);
        go_on = true;
    }
    EXPECT_GE(served, 4);
}

TEST_P(MessageSource, MessagesAreDestroyed) {
    auto shared = std::make_shared<int>(7);
    {
        braid::scheduler s(options());
        message_source<std::shared_ptr<int>> inbox(s, {}, [](std::shared_ptr<int>&) {});
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(inbox.push(shared));
        s.shut_down(braid::shutdown::discard);
        EXPECT_FALSE(inbox.push(shared));
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(MessageSource, InAScopeThatIsCancelledServesNoMore) {
    braid::scheduler s(options());
    braid::scope level(s);
    std::atomic<int> served{0};
    {
        message_source<int> inbox(s, {.task = {.within = &level}}, [&](int&) { ++served; });
        EXPECT_TRUE(inbox.push(1));
        while (served != 1) s.wait(inbox.task());
        level.cancel();
        EXPECT_TRUE(inbox.push(2));
    }
    EXPECT_EQ(served, 1);
    level.wait();
}

/// Counts those that hold something. Copied, never moved, as a type of before C++11 is.
class counted {
public:
    counted() = default;
    explicit counted(std::atomic<int>& holders) : holders_(&holders) { ++holders; }
    counted(const counted& other) : holders_(other.holders_) {
        if (holders_ != nullptr) ++*holders_;
    }
    counted& operator=(const counted& other) {
        counted copy(other);
        std::swap(holders_, copy.holders_);
        return *this;
    }
    ~counted() {
        if (holders_ != nullptr) --*holders_;
    }

private:
    std::atomic<int>* holders_ = nullptr;
};

TEST_P(MessageSource, KeepsNothingOfMessagesThatWereServed) {
    braid::scheduler s(options());
    std::atomic<int> holders{0};
    message_source<counted> inbox(s, {.capacity = 8, .batch = 4}, [](std::span<counted>) {});
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(inbox.push(counted(holders)));
    while (inbox.size() != 0 || !s.done(inbox.task())) s.wait(inbox.task());
    braid_test::until([&] { return holders == 0; });  // the last task may not be the newest yet
}

TEST_P(MessageSource, KeepsNothingOfABatchThatFailed) {
    braid::scheduler s(options());
    std::atomic<int> holders{0};
    message_source<counted> inbox(s, {.capacity = 8, .batch = 4},
                                  [](std::span<counted>) { throw std::runtime_error("planned"); });
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(inbox.push(counted(holders)));
    while (inbox.size() != 0 || !s.done(inbox.task())) {
        try {
            s.wait(inbox.task());
        } catch (const std::runtime_error&) {
        }
    }
    braid_test::until([&] { return holders == 0; });
}

TEST_P(MessageSource, ThatOutlivesItsSchedulerIsReported) {
    auto s = std::make_unique<braid::scheduler>(options());
    message_source<int> left(*s, {}, [](int&) {});
    EXPECT_TRUE(left.push(1));
    s.reset();
    EXPECT_EQ(notes_.count(&recorder::misuse, "before their scheduler"), 1U);
    EXPECT_FALSE(left.push(2));
    EXPECT_FALSE(left.task());
    EXPECT_EQ(memory_.live, 0);
}

TEST_P(MessageSource, NumbersBeyondTheirRangesAreReported) {
    braid::scheduler s(options());
    for (const std::uint32_t n : {0U, 1U, 2U, UINT32_MAX}) {
        std::atomic<int> served{0};
        {
            message_source<char> inbox(s, {.capacity = n, .batch = n}, [&](char&) { ++served; });
            EXPECT_TRUE(inbox.push('x'));
        }
        EXPECT_EQ(served, 1);
    }
    EXPECT_EQ(notes_.count(&recorder::log, "message_options::capacity"), 3U);
    EXPECT_EQ(notes_.count(&recorder::log, "message_options::batch"), 2U);
}

TEST_P(MessageSource, LosesNothingItTookWhereMemoryRunsOutAtAnyPoint) {
    for (int granted = 0; granted < 30; ++granted) {
        braid_test::refusing_memory memory(memory_.hooks());
        auto o = options();
        o.memory = memory.hooks();
        std::atomic<int> served{0};
        int taken = 0;
        {
            braid::scheduler s(o);
            memory.refuse_after(granted);
            message_source<int> inbox(s, {}, [&](int&) { ++served; });
            for (int i = 0; i < 10; ++i) taken += inbox.push(i);
            memory.give_back();
            if (taken != 0) taken += inbox.push(0);
        }
        EXPECT_EQ(served, taken);
    }
}

}  // namespace
