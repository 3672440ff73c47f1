// What explain() says of a task in each state that it can be in.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include "core/control/runtime.hpp"

#include <braid/core/completion.hpp>
#include <braid/queue/queue.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using braid::task_id;
using braid_test::door;
using braid_test::until;

BRAID_SCHEDULER_TEST(Explain);

std::string explain(const braid::scheduler& s, braid::task_id id) { return s.explain(id).text; }

std::string number(braid::task_id id) {
    return "#" + std::to_string(static_cast<std::uint32_t>(id.value)) + "." +
           std::to_string(id.value >> 32);
}

TEST_P(Explain, SaysOfIdsThatNoOpenTaskHasWhatTheyAre) {
    braid::scheduler_options o = options();
    o.name = "game";
    braid::scheduler s(o);
    EXPECT_EQ(explain(s, {}), "Task #0.0 was never issued by 'game'.");
    const braid::task_id later{std::uint64_t{9'000'000} << 32 | 5};
    EXPECT_EQ(explain(s, later), "Task #5.9000000 was never issued by 'game'.");
    const braid::task_id done = s.spawn({.name = "load"}, [] {});
    s.wait(done);
    EXPECT_EQ(explain(s, done), "Task " + number(done) + " is complete.");
}

TEST_P(Explain, FollowsDependenciesToTheTaskThatRuns) {
    braid::scheduler s(options());
    door entered, leaves;
    const braid::task_id first = s.spawn({.name = "first"}, [&] {
        entered.open();
        leaves.pass();
    });
    const braid::task_id second = s.spawn({.name = "second", .after = {first}}, [] {});
    const braid::task_id both[] = {first, second};
    const braid::task_id third = s.spawn({.name = "third", .after_all = both}, [] {});
    std::thread runs([&] { s.wait(third); });
    entered.pass();
    const std::string text = explain(s, third);
    EXPECT_EQ(text.substr(0, text.rfind(" on '")),
              "'third' begins only after 1 other and 'second', which begins only after 'first', "
              "which runs");
    leaves.open();
    runs.join();
}

TEST_P(Explain, NamesWhatAWaitIsFor) {
    braid::scheduler s(options());
    braid::event never(s), entered(s);
    const braid::task_id waits = s.spawn({.name = "waits"}, [&] {
        entered.set();
        s.do_work_while_waiting_for(never);
    });
    const braid::task_id outer = s.spawn({.name = "outer"}, [&] { s.wait(waits); });
    std::thread runs([&] { s.wait(outer); });
    until([&] { return explain(s, outer).find("waits for an event") != std::string::npos; });
    const std::string text = explain(s, outer);
    const bool on_one_stack = text.find("lies on the stack") != std::string::npos;
    if (!on_one_stack) {
        EXPECT_EQ(text, "'outer' waits for 'waits', which waits for an event.");
    }
    EXPECT_EQ(explain(s, waits), "'waits' waits for an event.");
    never.set();
    runs.join();
}

TEST_P(Explain, NamesTheEventOrTheScopeThatAWaitIsFor) {
    braid::scheduler s(options());
    braid::event loaded(s, "loaded", braid::reset::manual);
    const braid::task_id of_event =
        s.spawn({.name = "of event"}, [&] { s.do_work_while_waiting_for(loaded); });
    std::thread runs_first([&] { s.wait(of_event); });
    until([&] { return explain(s, of_event) == "'of event' waits for the event 'loaded'."; });
    const braid::task_id of_scope = s.spawn({.name = "of scope"}, [&] {
        braid::scope level(s, "level");
        level.spawn({.name = "member", .after = {of_event}}, [] {});
        level.wait();
    });
    std::thread runs_second([&] { s.wait(of_scope); });
    const std::string text = "'of scope' waits for the scope 'level', and so for task #";
    until([&] { return explain(s, of_scope).substr(0, text.size()) == text; });
    loaded.set();
    runs_first.join();
    runs_second.join();
}

TEST_P(Explain, SaysThatABuilderHasNotFinished) {
    braid::scheduler s(options());
    braid::task_builder b = s.begin({.name = "built"}, braid::empty_task{});
    EXPECT_EQ(explain(s, b.id()), "'built' is being built: finish() was not called yet.");
    const braid::task_id id = b.finish();
    s.wait(id);
}

TEST_P(Explain, NamesTheChildThatATaskIsCompleteWith) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    const braid::task_id parent = s.spawn({.name = "parent"}, [&](braid::task_context& context) {
        s.spawn({.name = "child", .parent = context.id(), .on = here}, [] {});
    });
    std::thread runs([&] { s.wait(parent); });
    const std::string text =
        "'parent' has run, and is complete when its children are: 'child', which is ready, and no "
        "thread has begun with it: only the thread 'main' may run it, and 'main' is in no wait of "
        "'braid'.";
    until([&] { return explain(s, parent) == text; });
    s.wait(parent);
    runs.join();
}

TEST_P(Explain, NamesTheResourceThatATaskWaitsForInLine) {
    braid::scheduler s(options());
    braid::resource file(s, "file");
    braid::event leaves(s, braid::reset::manual);
    std::atomic<bool> inside{false};
    const braid::task_id holder = s.spawn({.name = "holder", .uses = {&file}}, [&] {
        inside = true;
        s.do_work_while_waiting_for(leaves);
    });
    const braid::task_id waits = s.spawn({.name = "waits", .uses = {&file}}, [] {});
    std::thread runs([&] { s.wait(holder); });
    until([&] { return inside.load(); });
    EXPECT_TRUE(explain(s, waits).starts_with("'waits' waits in line for the resource 'file'"));
    const char* const all =
        "'waits' waits in line for the resource 'file', held by 'holder', which waits "
        "for an event.";
    until([&] { return explain(s, waits) == all; });
    leaves.set();
    runs.join();
    s.wait(waits);
}

TEST_P(Explain, SaysOfWorkForOneThreadWhoseItIs) {
    braid::scheduler s(options());
    const braid::task_id id = s.spawn({.name = "draw", .on = s.this_thread()}, [] {});
    const std::string ready =
        "'draw' is ready, and no thread has begun with it: only the thread 'main' may run it, and "
        "'main' ";
    EXPECT_EQ(explain(s, id), ready + "is in no wait of 'braid'.");
    if (s.worker_count() != 0) {  // while that thread waits for what another one runs
        braid::scope others(s, "others");
        others.spawn({}, [&] {
            until([&] {
                return explain(s, id).starts_with(ready + "waits for the scope 'others', and so ");
            });
        });
        others.wait(braid::help::none);
    }
    s.wait(id);
}

/// Between the two, its word takes no shares that it would remember.
TEST_P(Explain, AllSaysOfEachOpenTaskWhatItDoes) {
    braid::scheduler s(options());
    braid::task_builder first = s.begin({.name = "first"}, braid::empty);
    const task_id second = s.spawn({.name = "second", .after = {first.id()}}, [] {});
    std::vector<std::string> said;
    const std::size_t count = braid::explain_all(
        s,
        [](void* user, task_id id, const char* text) {
            EXPECT_TRUE(id);
            static_cast<std::vector<std::string>*>(user)->emplace_back(text);
        },
        &said);
    EXPECT_EQ(count, 2U);
    std::sort(said.begin(), said.end());
    const std::string built = "is being built: finish() was not called yet.";
    EXPECT_EQ(said, (std::vector<std::string>{
                        "'first' " + built, "'second' begins only after 'first', which " + built}));
    first.finish();
    s.wait(second);
    EXPECT_EQ(
        braid::explain_all(s, [](void*, task_id, const char*) { ADD_FAILURE(); }, nullptr), 0U);
}

TEST_P(Explain, SaysOfAJoinWhichChildItIsCompleteWith) {
    braid::scheduler s(options());
    braid::task_builder part = s.begin({.name = "part"}, braid::empty);
    braid::task_builder join = s.begin({.name = "join"}, braid::empty);
    const task_id child =
        s.spawn({.name = "child", .after = {part.id()}, .parent = join.id()}, [] {});
    const task_id whole = join.finish();
    EXPECT_EQ(explain(s, whole),
              "'join' has run, and is complete when its children are: 'child', which begins only "
              "after 'part', which is being built: finish() was not called yet.");
    part.finish();
    s.wait(whole);
    EXPECT_TRUE(s.done(child));
}

TEST_P(Explain, SaysOfATaskThatHasRunThatItsBuilderHasNotFinished) {
    braid::scheduler s(options());
    braid::task_builder half = s.begin({.name = "half"}, [] {});
    std::thread runs([&, id = half.id()] { s.wait(id); });
    until([&] {
        return explain(s, half.id()) ==
               "'half' has run, and is complete after finish(), which was not called yet.";
    });
    half.finish();
    runs.join();
}

TEST_P(Explain, NamesTheQueueThatHasNoRoom) {
    braid::scheduler s(options());
    door leaves;
    braid::queue io(s, {.name = "io", .capacity = 2, .full = braid::when_full::block});
    io.push([&] { leaves.pass(); });
    const task_id pusher = s.spawn({.name = "pusher"}, [&] {
        for (int i = 0; i < 5; ++i) io.push([] {});
    });
    std::thread runs([&] { s.wait(pusher); });
    until([&] { return explain(s, pusher) == "'pusher' waits for room in the queue 'io'."; });
    leaves.open();
    runs.join();
}

TEST_P(Explain, NamesTheQueueWhoseEndATaskWaitsFor) {
    braid::scheduler s(options());
    door entered, leaves;
    braid::queue io(s, {.name = "io"});
    io.push([&] {
        entered.open();
        leaves.pass();
    });
    entered.pass();  // or drain() runs it itself
    const task_id drains = s.spawn({.name = "drains"}, [&] { io.drain(); });
    std::thread runs([&] { s.wait(drains); });
    until([&] {
        return explain(s, drains) == "'drains' waits for the end of all work of the queue 'io'.";
    });
    leaves.open();
    runs.join();
}

TEST_P(Explain, AllWithoutAFunctionIsRefused) {
    braid::scheduler s(options());
    EXPECT_EQ(braid::explain_all(s, nullptr, nullptr), 0U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "explain_all() needs a function"), 1U);
}

/// Waits, children, resources, builders, events, completions and work for one thread come and go
/// meanwhile, for the thread sanitizer.
TEST_P(Explain, MayBeCalledByFourThreadsWhileTasksComeAndGo) {
    braid::scheduler s(options());
    braid::resource file(s, "file");
    std::atomic<std::uint64_t> ids[8]{};
    std::atomic<bool> over{false};
    std::atomic<int> said{0};
    std::vector<std::thread> asks;
    for (int i = 0; i < 4; ++i) {
        asks.emplace_back([&] {
            while (!over) {
                for (const auto& id : ids) said += s.explain({id}).text[0] != '\0';
                braid::explain_all(s, [](void*, task_id, const char*) {}, nullptr);
            }
        });
    }
    const int rounds = GetParam() > 8 ? 5 : static_cast<int>(braid_test::scaled(200));
    for (int round = 0; round < rounds || said == 0; ++round) {
        braid::event goes_on(s, "goes on", braid::reset::manual);
        braid::task_builder join = s.begin({.name = "join"}, braid::empty);
        std::atomic<std::uint64_t> open{0};
        const task_id waits = s.spawn({.name = "waits", .parent = join.id(), .uses = {&file}},
                                      [&] { s.do_work_while_waiting_for(goes_on); });
        const task_id line = s.spawn({.name = "in line", .uses = {&file}}, [] {});
        const task_id here =
            s.spawn({.name = "here", .after = {line}, .on = s.this_thread()}, [] {});
        const task_id defers = s.spawn({.name = "defers"}, [&](braid::task_context& context) {
            open = context.defer({.name = "reply"}).value;
        });
        const task_id all[] = {join.id(), waits, line, here, defers};
        for (std::size_t i = 0; i < std::size(all); ++i) ids[i] = all[i].value;
        const task_id whole = join.finish();
        const task_id sets = s.spawn({.name = "sets"}, [&] { goes_on.set(); });
        s.wait(sets);
        for (const task_id id : {whole, here}) s.wait(id);
        until([&] {
            s.wait_for(defers, braid::nanoseconds(0));
            return open != 0;
        });
        EXPECT_TRUE(s.complete({open}));
        s.wait(defers);
    }
    over = true;
    for (std::thread& t : asks) t.join();
    EXPECT_GT(said, 0);
}

TEST_P(Explain, HoldsNoCompletionThatIsMadeAndNotYetArmed) {
    struct watching final : braid::observer {
        void on_event(const braid::task_event& e) override {
            if (e.kind != braid::event_kind::deferred) return;
            made = e.other.value;
            leaves.pass();
        }
        std::atomic<std::uint64_t> made{0};
        door leaves;
    };
    watching watcher;
    braid::scheduler_options o = options();
    o.observer = &watcher;
    braid::scheduler s(o);
    std::atomic<bool> armed{false};
    const braid::task_id id = s.spawn([&](braid::task_context& context) {
        (void)context.defer({.name = "reply"});
        armed = true;
    });
    std::thread runs([&] { s.wait(id); });
    until([&] { return watcher.made != 0; });
    const braid::completion_id reply{watcher.made};
    {
        braid::detail::runtime& rt = s.internals();
        const braid::detail::held_task held(rt, rt.bound(), reply.task());
        watcher.leaves.open();
        until([&] { return armed.load(); });
    }
    EXPECT_TRUE(s.complete(reply));
    runs.join();
}

TEST_P(Explain, KeepsATaskOpenThatItNamesAndEndsItWhenItWasTheLast) {
    braid::scheduler s(options());
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> id{0};
    std::thread asks([&] {
        while (!stop) (void)explain(s, {id.load()});
    });
    for (int i = 0; i < 20'000; ++i) {
        const braid::task_id next = s.spawn({.name = "short"}, [] {});
        id = next.value;
        s.wait(next);
    }
    stop = true;
    asks.join();
    expect_all_ended(s);
}

}  // namespace
