// C39: allocator, scope and trace id reach everything below a task.
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(Environment);

TEST_P(Environment, ReachesEveryTaskBelow) {
    braid::scheduler s(options());
    int arena = 0;
    const braid::task_environment e{.allocator = &arena, .trace_id = 77};
    std::atomic<int> seen{0};
    const auto look = [&](braid::task_context& task) {
        const braid::task_environment mine = task.environment();
        seen += mine.allocator == &arena && mine.trace_id == 77;
    };
    s.wait(s.spawn({.environment = &e}, [&](braid::task_context& task) {
        look(task);
        task.spawn_child(look);
        task.spawn_child([&](braid::task_context& child) {
            look(child);
            child.spawn_child(look);
        });
        task.wait(s.spawn(look));
        task.wait(s.spawn({.priority = braid::priority_level::high}, look));
        s.async([&](braid::task_context& t) { look(t); }).get();
    }));
    EXPECT_EQ(seen, 7);
}

TEST_P(Environment, IsTheParentsForAChildThatComesFromOutside) {
    braid::scheduler s(options());
    const braid::task_environment e{.trace_id = 5};
    std::atomic<std::uint64_t> trace{0};
    auto builder = s.begin({.environment = &e}, braid::empty);
    builder.add_child([&](braid::task_context& task) { trace = task.environment().trace_id; });
    s.wait(builder.finish());
    EXPECT_EQ(trace, 5U);
}

TEST_P(Environment, OfTheTaskItselfWinsOverTheInherited) {
    braid::scheduler s(options());
    const braid::task_environment outer{.trace_id = 1};
    const braid::task_environment inner{.trace_id = 2};
    std::atomic<std::uint64_t> trace{0};
    s.wait(s.spawn({.environment = &outer}, [&](braid::task_context& task) {
        task.wait(task.spawn({.environment = &inner},
                             [&](braid::task_context& t) { trace = t.environment().trace_id; }));
    }));
    EXPECT_EQ(trace, 2U);
}

TEST_P(Environment, OfATaskPassesThroughTheScopesItMakes) {
    braid::scheduler s(options());
    int arena = 0;
    const braid::task_environment e{.allocator = &arena, .trace_id = 9};
    std::atomic<int> seen{0};
    s.wait(s.spawn({.environment = &e}, [&] {
        braid::scope all(s);
        for (int i = 0; i < 10; ++i) {
            all.spawn({}, [&](braid::task_context& task) {
                seen += task.environment().trace_id == 9 && task.environment().allocator == &arena;
            });
        }
        all.wait();
    }));
    EXPECT_EQ(seen, 10);
}

TEST_P(Environment, BringsItsScopeAlong) {
    braid::scheduler s(options());
    braid::scope all(s, braid::on_failure::go_on, {.trace_id = 3});
    std::atomic<int> seen{0};
    all.spawn({}, [&](braid::task_context& task) {
        seen += task.environment().within == &all && task.environment().trace_id == 3;
        task.spawn([&](braid::task_context& t) { seen += t.environment().within == &all; });
    });
    all.wait();
    EXPECT_EQ(seen, 2);
    EXPECT_EQ(all.account().created, 2U);
}

TEST_P(Environment, IsEmptyWithoutOne) {
    braid::scheduler s(options());
    bool empty = false;
    s.wait(s.spawn([&](braid::task_context& task) {
        const braid::task_environment e = task.environment();
        empty = e.within == nullptr && e.allocator == nullptr && e.trace_id == 0;
    }));
    EXPECT_TRUE(empty);
}

}  // namespace
