// C1, C22: what a task can be made of, and when its captures end.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <memory>

namespace {

BRAID_SCHEDULER_TEST(Task);

TEST_P(Task, LambdaMoveOnlyCallableAndRawFunctionAllRun) {
    // S7: the original took copyable std::function only; a unique_ptr capture was refused.
    int lambda = 0;
    int raw = 0;
    int moved = 0;
    {
        braid::scheduler s(options());
        s.wait(s.spawn([&lambda] { lambda = 1; }));
        s.wait(s.spawn([&moved, owned = std::make_unique<int>(2)] { moved = *owned; }));
        ASSERT_TRUE(s.try_post([](void* data) { *static_cast<int*>(data) = 3; }, &raw));
        s.shut_down();
        expect_all_ended(s);
    }
    EXPECT_EQ(lambda, 1);
    EXPECT_EQ(moved, 2);
    EXPECT_EQ(raw, 3);
}

TEST_P(Task, AFunctionPointerAndAFunctionObjectRun) {
    static std::atomic<int> calls;
    calls = 0;
    struct object {
        void operator()() const { ++calls; }
    };
    braid::scheduler s(options());
    s.wait(s.spawn(+[] { ++calls; }));
    s.wait(s.spawn(object{}));
    EXPECT_EQ(calls, 2);
}

TEST_P(Task, ACallableWithAContextLearnsItsIdNameAndSeat) {
    braid::scheduler s(options());
    braid::task_id inside;
    std::string name;
    unsigned seat = UINT32_MAX;
    const braid::task_id id = s.spawn({.name = "curious"}, [&](braid::task_context& task) {
        inside = task.id();
        name = task.name();
        seat = task.seat();
        EXPECT_EQ(braid::this_task::id(), task.id());
        EXPECT_STREQ(braid::this_task::name(), "curious");
    });
    s.wait(id);
    EXPECT_EQ(inside, id);
    EXPECT_EQ(name, "curious");
    EXPECT_LT(seat, s.seat_count());
    EXPECT_FALSE(braid::this_task::id());
    EXPECT_STREQ(braid::this_task::name(), "");
}

TEST_P(Task, ALargeOrOverAlignedClosureKeepsItsBytesAndAlignment) {
    braid::scheduler s(options());
    std::array<std::uint64_t, 64> large{};
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = i * i;
    struct alignas(128) wide {
        std::uint64_t value = 7;
    };
    bool same = false;
    bool aligned = false;
    s.wait(s.spawn([&same, large] {
        same = true;
        for (std::size_t i = 0; i < large.size(); ++i) same = same && large[i] == i * i;
    }));
    s.wait(s.spawn([&aligned, w = wide{}] {
        aligned = reinterpret_cast<std::uintptr_t>(&w) % alignof(wide) == 0 && w.value == 7;
    }));
    EXPECT_TRUE(same);
    EXPECT_TRUE(aligned);
    EXPECT_EQ(s.bytes(braid::memory_tag::closure), 0U);
}

TEST_P(Task, CapturesAreGoneWhenTheWaitReturns) {
    // C22, S1: the original kept its captures until the slot was used again.
    braid::scheduler s(options());
    for (int i = 0; i < 200; ++i) {
        auto captured = std::make_shared<int>(i);
        const std::weak_ptr<int> seen = captured;
        s.wait(s.spawn([captured = std::move(captured)] {}));
        ASSERT_TRUE(seen.expired());
    }
}

TEST_P(Task, CapturesAreGoneBeforeASuccessorStarts) {
    braid::scheduler s(options());
    for (int i = 0; i < 100; ++i) {
        auto captured = std::make_shared<int>(i);
        const std::weak_ptr<int> seen = captured;
        const braid::task_id first = s.spawn([captured = std::move(captured)] {});
        bool expired = false;
        s.wait(s.spawn({.after = {first}}, [&] { expired = seen.expired(); }));
        ASSERT_TRUE(expired);
    }
}

TEST_P(Task, CapturesOfAThrowingAndOfACancelledTaskAreGoneWhenTheWaitReturns) {
    braid::scheduler s(options());
    for (int i = 0; i < 50; ++i) {
        auto first = std::make_shared<int>(1);
        auto second = std::make_shared<int>(2);
        const std::weak_ptr<int> thrower = first;
        const std::weak_ptr<int> cancelled = second;
        auto builder = s.begin({}, braid::empty);
        const braid::task_id fails = s.spawn({.after = {builder.id()}}, [first = std::move(first)] {
            throw std::runtime_error("planned");
        });
        const braid::task_id never = s.spawn({.after = {fails}}, [second = std::move(second)] {});
        builder.finish();
        EXPECT_ANY_THROW({
            s.wait(never);
            throw std::runtime_error("the wait came after the end");
        });
        ASSERT_TRUE(thrower.expired());
        ASSERT_TRUE(cancelled.expired());
    }
    s.shut_down();
    notes_.lost.clear();
}

TEST_P(Task, ACallableWhoseConstructorThrowsLeavesNothingBehind) {
    struct throws_when_moved {
        throws_when_moved() = default;
        throws_when_moved(throws_when_moved&&) { throw std::runtime_error("no move"); }
        void operator()() const {}
    };
    braid::scheduler s(options());
    const braid::task_id parent = s.spawn([&s](braid::task_context& task) {
        EXPECT_THROW(task.spawn({.parent = task.id()}, throws_when_moved{}), std::runtime_error);
        EXPECT_THROW(s.begin({.parent = task.id()}, throws_when_moved{}), std::runtime_error);
        EXPECT_THROW(s.async({.parent = task.id()}, throws_when_moved{}), std::runtime_error);
    });
    // The three never ran: their parent says so.
    try {
        s.wait(parent);
    } catch (const braid::task_cancelled&) {
    }
    EXPECT_TRUE(s.done(parent));
    EXPECT_THROW(s.post(throws_when_moved{}), std::runtime_error);
    s.shut_down();
    expect_all_ended(s);
    EXPECT_EQ(s.statistics().cancelled, 4U);
}

}  // namespace
