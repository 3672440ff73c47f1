// C37: several who freeze the scheduler at once do it one by one, and one thread may do it twice.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(FreezeTwice);

TEST_P(FreezeTwice, TasksThatFreezeAtOnceDoItOneByOneInsteadOfWaitingForEachOther) {
    braid::scheduler s(options());
    std::atomic<int> frozen_now{0}, most{0}, done{0};
    std::atomic<int> arrived{0};
    const int tasks = std::clamp(GetParam(), 1, 4);
    for (int round = 0; round < 20; ++round) {
        braid::scope all(s);
        arrived = 0;
        for (int i = 0; i < tasks; ++i) {
            all.post([&] {
                // Together, as far as there are threads for it.
                ++arrived;
                if (GetParam() >= tasks) braid_test::until([&] { return arrived == tasks; });
                s.freeze();
                const int now = ++frozen_now;
                most = std::max(most.load(), now);
                --frozen_now;
                ++done;
                s.resume();
            });
        }
        all.wait(braid::help::none);
    }
    EXPECT_EQ(done, 20 * tasks);
    EXPECT_EQ(most, 1) << "one at a time";
}

TEST_P(FreezeTwice, ForeignThreadsAndTasksDoItOneByOne) {
    braid::scheduler s(options());
    std::atomic<int> frozen_now{0}, most{0};
    const auto freeze_once = [&] {
        s.freeze();
        const int now = ++frozen_now;
        most = std::max(most.load(), now);
        --frozen_now;
        s.resume();
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 30; ++round) freeze_once();
        });
    }
    for (int round = 0; round < 10; ++round) s.wait(s.spawn(freeze_once));
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(most, 1);
}

TEST_P(FreezeTwice, OnOneThreadWantsAResumeForEach) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.freeze();
    s.freeze();
    s.post([&] { ++ran; });
    s.resume();
    std::thread other([&] {
        s.freeze();  // waits for the second resume()
        ++ran;
        s.resume();
    });
    s.resume();
    other.join();
    s.resume();  // one too many: nothing happens
    s.shut_down();
    EXPECT_EQ(ran, 2);
}

}  // namespace
