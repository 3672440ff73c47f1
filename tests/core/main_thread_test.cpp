// C10: threads of the program take part under a name.
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid_test::door;

BRAID_SCHEDULER_TEST(MainThread);

TEST_P(MainThread, TheConstructingThreadTakesPartUnderItsName) {
    braid::scheduler_options o = options();
    o.main_thread = "update";
    braid::scheduler s(o);
    ASSERT_TRUE(s.this_thread());
    EXPECT_STREQ(s.statistics(s.this_thread().seat).name, "update");
    bool here = false;
    const std::thread::id me = std::this_thread::get_id();
    s.wait(s.spawn({.on = s.this_thread()}, [&] { here = std::this_thread::get_id() == me; }));
    EXPECT_TRUE(here);
}

TEST_P(MainThread, WithoutANameTheConstructingThreadStaysForeign) {
    braid::scheduler_options o = options();
    o.main_thread = nullptr;
    braid::scheduler s(o);
    EXPECT_FALSE(s.this_thread());
    bool ran = false;
    s.wait(s.spawn([&] { ran = true; }));
    EXPECT_TRUE(ran);
}

TEST_P(MainThread, UpdateAndRenderExchangeWorkForEachOther) {
    braid::scheduler s(options());
    braid::event stop(s, braid::reset::manual);
    braid::thread_ref render;
    door registered;
    std::thread second([&] {
        const braid::main_thread me(s, "render");
        EXPECT_STREQ(s.statistics(me.ref().seat).name, "render");
        render = me.ref();
        registered.open();
        s.do_work_while_waiting_for(stop);  // an event's waiter serves its whole inbox
    });
    registered.pass();
    const braid::thread_ref update = s.this_thread();
    std::atomic<int> right{0};
    for (int i = 0; i < 200; ++i) {
        const braid::task_id draw =
            s.spawn({.on = render}, [&] { right += s.this_thread() == render; });
        s.wait(
            s.spawn({.after = {draw}, .on = update}, [&] { right += s.this_thread() == update; }));
    }
    stop.set();
    second.join();
    EXPECT_EQ(right, 400);
}

TEST_P(MainThread, RegisteringTwiceIsAReportedMistake) {
    braid::scheduler s(options());
    {
        const braid::main_thread again(s, "again");
        EXPECT_FALSE(again.ref());
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "takes part"), 1U);
    EXPECT_TRUE(s.this_thread()) << "the first registration stays";
}

TEST_P(MainThread, AThreadThatHasLeftIsForeign) {
    braid::scheduler s(options());
    std::thread([&] {
        {
            const braid::main_thread me(s, "render");
            EXPECT_EQ(s.this_thread(), me.ref());
        }
        EXPECT_FALSE(s.this_thread());
    }).join();
}

TEST_P(MainThread, ManyComeAndGo) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    for (int round = 0; round < 20; ++round) {
        std::thread([&] {
            const braid::main_thread me(s, "visitor");
            s.wait(s.spawn({.on = me.ref()}, [&] { ++ran; }));
        }).join();
    }
    EXPECT_EQ(ran, 20);
}

// A seat lives as long as the scheduler, so a thread that comes back must get an old one.
TEST_P(MainThread, ComingAndGoingForEverNeedsNoMoreSeats) {
    braid::scheduler s(options());
    for (int round = 0; round < 400; ++round) {
        std::thread([&] {
            const braid::main_thread me(s, "visitor");
            EXPECT_TRUE(me.ref()) << round;
        }).join();
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::log), 0U);
}

}  // namespace
