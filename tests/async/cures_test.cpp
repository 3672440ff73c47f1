// The cures of docs/manual/hangs.md: each program, mended as the table says, ends and hears
// nothing.
#include "scheduler_test.hpp"

#include <braid/async.hpp>
#include <braid/core/resource.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::task_id;
using braid_test::door;

class CuresOfHangs : public braid_test::scheduler_test {
protected:
    void TearDown() override {
        EXPECT_EQ(notes_.log, std::vector<std::string>());
        scheduler_test::TearDown();
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, CuresOfHangs, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(CuresOfHangs, WhatFollowsAWaitIsATaskAfterTheAwaitedOne) {
    // 'a' and 'b' each needed a part of the other one: parts are tasks, and what follows comes
    // after.
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    const task_id first_of_a = s.spawn({.name = "first of a"}, [&] { ++ran; });
    const task_id first_of_b = s.spawn({.name = "first of b"}, [&] { ++ran; });
    const task_id rest_of_a =
        s.spawn({.name = "a", .after = {first_of_a, first_of_b}}, [&] { ++ran; });
    const task_id rest_of_b =
        s.spawn({.name = "b", .after = {first_of_b, first_of_a}}, [&] { ++ran; });
    s.wait(rest_of_a);
    s.wait(rest_of_b);
    EXPECT_EQ(ran, 4);
}

TEST_P(CuresOfHangs, WhatFollowsAWaitNeedsNoResourceOrTheAwaitedOneDoesNot) {
    braid::scheduler s(options());
    braid::resource file(s, "file");
    std::atomic<int> laid_out{0};
    for (const bool awaited_needs_it : {true, false}) {
        braid::scope all(s, "level");
        s.spawn({.name = "mesh", .uses = {&file}, .within = &all}, [&] {
            if (awaited_needs_it) {
                const task_id texture = s.spawn({.name = "texture", .uses = {&file}}, [] {});
                s.spawn({.name = "lay out", .after = {texture}}, [&] { ++laid_out; });
            } else {
                s.wait(s.spawn({.name = "texture"}, [] {}));
                ++laid_out;
            }
        });
        all.wait();
    }
    EXPECT_EQ(laid_out, 2);
}

TEST_P(CuresOfHangs, ATaskThatWaitsForItsParentGetsNoParent) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> parent{0};
    std::atomic<int> seen{0};
    braid::scope all(s, "all");
    const task_id id = s.spawn({.name = "parent", .within = &all}, [&] {
        s.spawn({.name = "not a child"}, [&] {
            braid_test::until([&] { return parent != 0; });
            s.wait({parent});
            ++seen;
        });
    });
    parent = id.value;
    all.wait();
    EXPECT_EQ(seen, 1);
}

TEST_P(CuresOfHangs, TheEventIsSetOnEveryPath) {
    braid::scheduler s(options());
    for (const bool fails : {false, true}) {
        braid::event loaded(s, "loaded");
        struct sets_it {
            braid::event& e;
            ~sets_it() { e.set(); }
        };
        braid::future<void> load = s.async({.name = "load"}, [&] {
            const sets_it at_the_end{loaded};
            if (fails) throw std::runtime_error("no file");
        });
        s.wait(s.spawn({.name = "show"}, [&] { s.do_work_while_waiting_for(loaded); }));
        if (fails) {
            EXPECT_THROW(load.get(), std::runtime_error);
        } else {
            load.get();
        }
    }
}

braid::co<> reads(braid::channel<int>& to, int models, int broken) {
    for (int i = 0; i != models; ++i) {
        if (i == broken) break;  // not co_return
        co_await to.push(i);
    }
    to.close();
}

braid::co<> converts(braid::channel<int>& from, int& sum) {
    try {
        for (;;) sum += co_await from.pop();
    } catch (const braid::channel_closed&) {
    }
}

TEST_P(CuresOfHangs, WhoPushesLastClosesTheChannelAlsoOnAnEarlyEnd) {
    braid::scheduler s(options());
    for (const int broken : {100, 10}) {
        int sum = 0;
        braid::channel<int> models(s, {.name = "models", .capacity = 2});
        auto read = braid::co_spawn(s, {.name = "read"}, reads(models, 20, broken));
        auto convert = braid::co_spawn(s, {.name = "convert"}, converts(models, sum));
        convert.get();
        read.get();
        EXPECT_EQ(sum, broken == 100 ? 190 : 45);
    }
}

TEST_P(CuresOfHangs, ABuilderIsFinishedAlsoOnThePathThatFails) {
    braid::scheduler s(options());
    for (const bool fails : {false, true}) {
        braid::task_builder level = s.begin({.name = "level"}, braid::empty);
        const task_id id = level.id();
        if (!fails) level.add_child({.name = "mesh"}, [] {});
        level.finish();
        s.wait(id);
        EXPECT_TRUE(s.done(id));
    }
}

TEST_P(CuresOfHangs, AThreadWithWorkOfItsOwnWaitsByAnEvent) {
    braid::scheduler_options o = options();
    o.main_threads = 2;
    braid::scheduler s(o);
    door here, given;
    braid::thread_ref render;
    braid::scope of_main(s, "of main"), of_render(s, "of render");
    std::thread thread([&] {
        const braid::main_thread part(s, "render");
        render = part.ref();
        here.open();
        given.pass();
        of_render.wait();  // needs the main thread
    });
    here.pass();
    of_render.spawn({.name = "for main", .on = s.this_thread()}, [] {});
    braid::event answered(s, "answered");
    of_main.spawn({.name = "for render", .on = render}, [&] { answered.set(); });
    given.open();
    s.work_until(answered);  // of_main.wait() would not run what is for this thread
    thread.join();
    of_main.wait();
}

}  // namespace
