// C28: exclusive resources and counting limits, waited for without holding a thread.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <array>

namespace {

using braid_test::door;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(Resource);

TEST_P(Resource, TenThousandTasksOnThreeNeverShareAndNobodyBlocks) {
    braid::scheduler s(options());
    braid::resource a(s, "a"), b(s, "b"), c(s, "c");
    std::array<braid::resource*, 3> all{&a, &b, &c};
    std::array<std::atomic<int>, 3> users{};
    std::atomic<int> collisions{0};
    std::atomic<std::size_t> ran{0};
    braid::scope scope(s);
    const std::size_t tasks = scaled(10'000);
    for (std::size_t i = 0; i < tasks; ++i) {
        const std::size_t x = i % 3, y = (i / 3) % 3;
        const auto body = [&, x, y] {
            collisions += ++users[x] != 1;
            if (y != x) collisions += ++users[y] != 1;
            ++ran;
            if (y != x) --users[y];
            --users[x];
        };
        // Both orders, so that taking them as named would lock up.
        if (x == y) {
            scope.spawn({.uses = {all[x]}}, body);
        } else {
            scope.spawn({.uses = {all[x], all[y]}}, body);
        }
    }
    scope.wait();
    EXPECT_EQ(ran, tasks);
    EXPECT_EQ(collisions, 0);
    expect_all_ended(s);
}

TEST_P(Resource, WhoWaitsForItHoldsNoThread) {
    braid::scheduler s(options());
    braid::resource r(s);
    door go;
    std::atomic<bool> held{false};
    std::atomic<int> users{0}, others{0};
    braid::scope waiting(s);
    std::thread holder([&] {
        s.wait(s.spawn({.runs_as = braid::task_class::background, .uses = {&r}}, [&] {
            held = true;
            go.pass();
        }));
    });
    braid_test::until([&] { return held.load(); });
    for (int i = 0; i < 1000; ++i) waiting.spawn({.uses = {&r}}, [&] { ++users; });
    braid::scope free(s);
    for (int i = 0; i < 1000; ++i) free.post([&] { ++others; });
    free.wait();
    EXPECT_EQ(others, 1000);
    EXPECT_EQ(users, 0);
    go.open();
    holder.join();
    waiting.wait();
    EXPECT_EQ(users, 1000);
}

TEST_P(Resource, IsGrantedInTheOrderOfArrival) {
    braid::scheduler s(options());
    braid::resource r(s);
    std::vector<int> order;  // guarded by the resource
    braid::scope all(s);
    std::vector<int> expected;
    for (int i = 0; i < 500; ++i) {
        expected.push_back(i);
        all.spawn({.priority = static_cast<braid::priority_level>(i % 3), .uses = {&r}},
                  [&order, i] { order.push_back(i); });
    }
    all.wait();
    EXPECT_EQ(order, expected);
}

TEST_P(Resource, ALimitIsReachedAndNeverExceeded) {
    braid::scheduler s(options());
    braid::resource three(s, "three", 3);
    std::atomic<int> now{0}, most{0};
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 600; ++i) {
        all.spawn({.uses = {&three}}, [&] {
            const int n = ++now;
            for (int seen = most; n > seen && !most.compare_exchange_weak(seen, n);) {
            }
            ++ran;
            --now;
        });
    }
    all.wait();
    EXPECT_EQ(ran, 600);
    EXPECT_LE(most, 3);
    if (GetParam() < 3) return;
    // The limit says how many are inside at once.
    door go;
    std::atomic<int> inside{0};
    for (int i = 0; i < 4; ++i) {
        all.spawn({.uses = {&three}}, [&] {
            ++inside;
            go.pass();
        });
    }
    braid_test::until([&] { return inside == 3; });
    go.open();
    all.wait();
    EXPECT_EQ(inside, 4);
}

TEST_P(Resource, NamedTwiceByOneTaskIsTakenOnce) {
    braid::scheduler s(options());
    braid::resource r(s), other(s);
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) s.wait(s.spawn({.uses = {&r, &other, &r}}, [&] { ++ran; }));
    EXPECT_EQ(ran, 10);
}

TEST_P(Resource, IsHeldForTheOwnWorkNotForTheChildren) {
    braid::scheduler s(options());
    braid::resource r(s);
    std::atomic<int> ran{0};
    s.wait(s.spawn({.uses = {&r}}, [&](braid::task_context& task) {
        task.spawn({.parent = task.id(), .uses = {&r}}, [&] { ++ran; });
    }));
    EXPECT_EQ(ran, 1);
}

TEST_P(Resource, OfATaskThatFailsOrIsCancelledComesFree) {
    braid::scheduler s(options());
    braid::resource r(s);
    EXPECT_THROW(s.async({.uses = {&r}}, [] { throw 1; }).get(), int);
    braid::scope dropped(s);
    dropped.cancel();
    for (int i = 0; i < 10; ++i) {
        dropped.spawn({.uses = {&r}}, [] { ADD_FAILURE() << "was cancelled"; });
    }
    dropped.wait();
    bool ran = false;
    s.wait(s.spawn({.uses = {&r}}, [&] { ran = true; }));
    EXPECT_TRUE(ran);
}

TEST_P(Resource, OrdersWhatItsHoldersWrite) {
    braid::scheduler s(options());
    braid::resource r(s);
    std::uint64_t plain = 0;  // no atomic: the sanitizer would see a missing order
    braid::scope all(s);
    for (int i = 0; i < 1000; ++i) all.spawn({.uses = {&r}}, [&] { ++plain; });
    all.wait();
    EXPECT_EQ(plain, 1000U);
}

}  // namespace
