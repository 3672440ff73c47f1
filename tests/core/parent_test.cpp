// C3: a task is complete when its own work and all its children are.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(Parent);

TEST_P(Parent, CompletesOnlyAfterAChildThatIsAddedLate) {
    braid::scheduler s(options());
    for (int round = 0; round < 50; ++round) {
        std::atomic<bool> late_ran{false};
        bool parent_was_open = false;
        braid::task_id parent;
        const auto first_child = [&](braid::task_context& child) {
            // The parent's own work may be long over; this child keeps it open.
            parent_was_open = s.state(parent) == braid::task_state::open;
            child.spawn({.parent = parent}, [&late_ran] { late_ran = true; });
        };
        auto building = s.begin({}, [] {});
        parent = building.id();
        building.add_child(first_child);
        building.finish();
        s.wait(parent);
        ASSERT_TRUE(parent_was_open);
        ASSERT_TRUE(late_ran);
    }
}

TEST_P(Parent, CompletionPropagatesThroughTenLevels) {
    braid::scheduler s(options());
    std::atomic<int> leaves{0};
    struct level {
        std::atomic<int>& leaves;
        int depth;
        void operator()(braid::task_context& task) const {
            if (depth == 10) {
                ++leaves;
                return;
            }
            task.spawn_child(level{leaves, depth + 1});
            task.spawn_child(level{leaves, depth + 1});
        }
    };
    const braid::task_id root = s.spawn(level{leaves, 0});
    s.wait(root);
    EXPECT_EQ(leaves, 1024);
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Parent, ItsSuccessorsSeeWhatAllDescendantsWrote) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < scaled(100); ++round) {
        int plain[4] = {};
        const auto parent = s.spawn([&plain](braid::task_context& task) {
            for (int& value : plain) {
                task.spawn_child([&value](braid::task_context& child) {
                    child.spawn_child([&value] { value = 1; });
                });
            }
        });
        int sum = 0;
        s.wait(s.spawn({.after = {parent}}, [&] {
            for (const int value : plain) sum += value;
        }));
        ASSERT_EQ(sum, 4);
    }
}

TEST_P(Parent, HalfAMillionDeepCompletesWithoutStack) {
    const std::size_t depth = scaled(500'000);
    braid::scheduler s(options());
    auto root = s.begin({}, braid::empty);
    auto gate = s.begin({}, braid::empty);
    braid::task_id deepest = root.id();
    for (std::size_t i = 0; i < depth; ++i) {
        deepest = s.spawn({.after = {gate.id()}, .parent = deepest}, braid::empty);
    }
    const braid::task_id id = root.finish();
    EXPECT_EQ(s.state(id), braid::task_state::open);
    gate.finish();
    s.wait(id);
    EXPECT_TRUE(s.done(deepest));
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Parent, AChildOfACompleteTaskIsRefusedAndReported) {
    // B1, B2: adding to a task that is complete.
    braid::scheduler s(options());
    const auto over = s.spawn([] {});
    s.wait(over);
    EXPECT_FALSE(s.spawn({.parent = over}, [] { FAIL() << "refused work ran"; }));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Parent, ATaskThatWaitsForItsOwnAncestorIsDiagnosed) {
    // B6: parent waits for child, child waits for parent.
    braid::scheduler s(options());
    const auto parent = s.spawn([&s](braid::task_context& task) {
        const braid::task_id self = task.id();
        task.wait(self);
        s.wait(self);
        task.spawn_child([&s, self](braid::task_context& child) {
            child.wait(self);
            s.wait(self);
        });
    });
    s.wait(parent);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 4U);
}

}  // namespace
