// C18: an id remembers that its task failed or was cancelled, so that what comes after it does not
// depend on who was faster.
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include "core/slots/failed_slots.hpp"

#include <memory>
#include <vector>

namespace {

using braid::task_state;

BRAID_SCHEDULER_TEST(FailedIds);

struct planned : std::exception {};

/// 0: nothing was thrown, 1: what the task threw, 2: what stands for it, 3: a mere cancellation,
/// 4: there is no value, 5: what failed was one of its completions.
template <class Body>
int caught(Body&& body) {
    try {
        body();
    } catch (const planned&) {
        return 1;
    } catch (const braid::task_failed&) {
        return 2;
    } catch (const braid::task_cancelled&) {
        return 3;
    } catch (const braid::broken_promise&) {
        return 4;
    } catch (const braid::completion_error&) {
        return 5;
    }
    return 0;
}

void end(braid::scheduler& s, braid::task_id id) {
    caught([&] { s.wait(id); });
    EXPECT_TRUE(s.done(id));
}

/// One that failed, and whose exception nobody holds any more.
braid::task_id ended_badly(braid::scheduler& s) {
    braid::scope own(s);
    const braid::task_id id = own.spawn({.name = "load"}, [] { throw planned{}; });
    EXPECT_EQ(caught([&] { own.wait(); }), 1);
    return id;
}

/// Spawns tasks that are cancelled, one after the other.
class cancelled_tasks {
public:
    explicit cancelled_tasks(braid::scheduler& s) : scheduler_(s), level_(s) { level_.cancel(); }
    ~cancelled_tasks() { level_.wait(); }
    braid::task_id one() {
        const braid::task_id id = scheduler_.spawn({.within = &level_}, [] { FAIL(); });
        EXPECT_TRUE(id);
        end(scheduler_, id);
        return id;
    }
    void more(int count) {
        for (int i = 0; i < count; ++i) one();
    }

private:
    braid::scheduler& scheduler_;
    braid::scope level_;
};

TEST_P(FailedIds, WhatComesAfterATaskThatFailsMeanwhileNeverRuns) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    for (std::size_t i = 0; i < braid_test::scaled(300); ++i) {
        const auto load = s.spawn([] { throw planned{}; });
        const auto late = s.spawn({.after = {load}}, [&ran] { ++ran; });
        const auto later = s.spawn({.after = {late}}, [&ran] { ++ran; });
        end(s, later);
        EXPECT_EQ(s.state(load), task_state::failed);
        EXPECT_EQ(s.state(late), task_state::cancelled);
        EXPECT_EQ(s.state(later), task_state::cancelled);
    }
    EXPECT_EQ(ran, 0);
}

TEST_P(FailedIds, SayHowATaskEnded) {
    braid::scheduler s(options());
    const auto well = s.spawn([] {});
    end(s, well);
    EXPECT_EQ(s.state(well), task_state::done);
    EXPECT_EQ(s.state(ended_badly(s)), task_state::failed);
    const auto parent =
        s.spawn([](braid::task_context& task) { task.spawn_child([] { throw planned{}; }); });
    end(s, parent);
    EXPECT_EQ(s.state(parent), task_state::failed) << "a task below it threw";
    EXPECT_EQ(s.state(cancelled_tasks(s).one()), task_state::cancelled);
    const auto batch = s.spawn_batch({}, 100, [](std::size_t i) {
        if (i == 70) throw planned{};
    });
    end(s, batch);
    EXPECT_EQ(s.state(batch), task_state::failed);
    braid::task_id given_up;
    {
        auto building = s.begin({}, braid::empty);
        given_up = building.id();
    }
    end(s, given_up);
    EXPECT_EQ(s.state(given_up), task_state::cancelled);
    EXPECT_FALSE(s.done({})) << "an empty id";
}

TEST_P(FailedIds, ABuilderThatGivesUpAfterItsTaskHasRunHasCancelledNothing) {
    braid::scheduler s(options());
    braid::scope level(s);
    std::atomic<bool> runs{false}, gone{false};
    braid::task_id id;
    {
        auto building = s.begin({.within = &level}, [&] {
            runs = true;
            // Without a worker it runs on this thread, before the builder goes.
            while (GetParam() != 0 && !gone) std::this_thread::yield();
        });
        id = building.id();
        if (GetParam() != 0) {
            while (!runs) std::this_thread::yield();
        } else {
            s.wait_for(id, braid::nanoseconds(0));
        }
        EXPECT_TRUE(runs);
    }
    gone = true;
    end(s, id);
    EXPECT_EQ(s.state(id), task_state::done);
    level.wait();
    EXPECT_EQ(level.account().executed, 1U);
}

TEST_P(FailedIds, AWaiterOfWhatCameTooLateGetsWhatStandsForTheFailure) {
    braid::scheduler s(options());
    const braid::task_id failed = ended_badly(s);
    const braid::task_id cancelled = cancelled_tasks(s).one();
    EXPECT_EQ(caught([&] { s.async({.after = {failed}}, [] { return 1; }).get(); }), 2);
    EXPECT_EQ(caught([&] { s.async({.after = {cancelled}}, [] { return 1; }).get(); }), 4);
    // What was cancelled with a failure hands that on.
    const auto with_it = s.spawn({.after = {failed}}, [] {});
    end(s, with_it);
    EXPECT_EQ(caught([&] { s.async({.after = {with_it}}, [] { return 1; }).get(); }), 2);
    s.shut_down();
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U)
        << "what stands for the exception is reported to nobody";
}

TEST_P(FailedIds, CountInEveryWayToComeAfterThem) {
    braid::scheduler s(options());
    const braid::task_id failed = ended_badly(s);
    std::atomic<int> ran{0};
    const std::vector<braid::task_id> among{s.spawn([] {}), failed};
    const auto after_all = s.spawn({.after_all = among}, [&ran] { ++ran; });
    auto join = s.begin({}, braid::empty);
    EXPECT_TRUE(join.add_dependency(failed));
    const auto built = join.finish();
    end(s, after_all);
    end(s, built);
    EXPECT_EQ(s.state(after_all), task_state::cancelled);
    EXPECT_EQ(s.state(built), task_state::cancelled);
    EXPECT_EQ(ran, 0);
    const auto finally = s.spawn({.after_any = {failed}}, [&ran] { ++ran; });
    end(s, finally);
    EXPECT_EQ(s.state(finally), task_state::done);
    EXPECT_EQ(ran, 1);
}

TEST_P(FailedIds, HandOnTheExceptionItselfAsLongAsAHandleHasIt) {
    braid::scheduler s(options());
    braid::future<int> held = s.async([]() -> int { throw planned{}; });
    while (!held.ready()) {
        braid::event never(s);
        s.do_work_while_waiting_for(never, braid::microseconds(50));
    }
    EXPECT_EQ(caught([&] { s.async({.after = {held.id()}}, [] {}).get(); }), 1);
    EXPECT_EQ(caught([&] { std::move(held).then([](int) {}).get(); }), 1);
    s.shut_down();
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
}

TEST_P(FailedIds, OfAParentWhoseChildWasCancelledAreNoException) {
    braid::scheduler s(options());
    braid::scope level(s);
    level.cancel();
    const auto parent = s.spawn([&level](braid::task_context& task) {
        task.spawn({.parent = task.id(), .within = &level}, [] { FAIL(); });
    });
    end(s, parent);
    EXPECT_EQ(caught([&] { s.async({.after = {parent}}, [] {}).get(); }), 4);
    level.wait();
}

TEST_P(FailedIds, ReachAScopeAsTheExceptionWould) {
    braid::scheduler s(options());
    const braid::task_id failed = ended_badly(s);
    braid::scope level(s);
    level.spawn({.after = {failed}}, [] { FAIL(); });
    EXPECT_EQ(caught([&] { level.wait(); }), 2);
    EXPECT_EQ(level.account().cancelled, 1U);
}

TEST_P(FailedIds, OfCompletionsRemember) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> armed{0}, other{0};
    braid::scope level(s);
    const auto parent =
        s.spawn([&armed](braid::task_context& task) { armed = task.defer().value; });
    const auto waits = s.spawn({.within = &level},
                               [&other](braid::task_context& task) { other = task.defer().value; });
    while (armed == 0 || other == 0) {
        braid::event never(s);
        s.do_work_while_waiting_for(never, braid::microseconds(50));
    }
    EXPECT_TRUE(s.complete({armed}, {.code = 5}));
    level.cancel();
    end(s, parent);
    end(s, waits);
    EXPECT_EQ(s.state(braid::completion_id{armed}.task()), task_state::failed);
    EXPECT_EQ(s.state(braid::completion_id{other}.task()), task_state::cancelled);
    EXPECT_EQ(
        caught([&] { s.async({.after = {braid::completion_id{armed}.task()}}, [] {}).get(); }), 2);
    level.wait();
}

TEST_P(FailedIds, RememberThroughFourThousandLaterFailuresAndForgetInTheEnd) {
    braid::scheduler s(options());
    const braid::task_id failed = ended_badly(s);
    cancelled_tasks later(s);
    later.more(4'000);
    EXPECT_EQ(s.state(failed), task_state::failed);
    EXPECT_EQ(caught([&] { s.async({.after = {failed}}, [] { return 1; }).get(); }), 2);
    while (s.state(failed) == task_state::failed) later.more(100);
    EXPECT_EQ(s.state(failed), task_state::done);
    EXPECT_EQ(s.async({.after = {failed}}, [] { return 1; }).get(), 1);
}

TEST_P(FailedIds, RememberAsLongAsAHandleOwnsThem) {
    braid::scheduler s(options());
    braid::future<int> held = s.async([]() -> int { throw planned{}; });
    held.wait();
    cancelled_tasks(s).more(6'000);
    EXPECT_EQ(s.state(held.id()), task_state::failed);
    EXPECT_EQ(caught([&] { held.get(); }), 1);
}

TEST_P(FailedIds, WithinABudgetTakeNoMoreMemory) {
    braid::scheduler_options o = options();
    o.memory_budget_bytes = std::size_t{64} << 20;
    braid::scheduler s(o);
    cancelled_tasks later(s);
    later.more(1'000);
    const std::size_t before = s.bytes(braid::memory_tag::slot);
    later.more(5'000);
    EXPECT_EQ(s.bytes(braid::memory_tag::slot), before);
}

TEST_P(FailedIds, AreForgottenBeforeATaskIsRefused) {
    braid_test::refusing_memory refusing(memory_.hooks());
    braid::scheduler_options o = options();
    o.memory = refusing.hooks();
    o.out_of_memory = {[](void*, std::size_t, const char*) {}, nullptr};
    braid::scheduler s(o);
    cancelled_tasks later(s);
    later.more(200);
    refusing.refuse_after(0);
    later.more(2'000);  // each one is made
    refusing.give_back();
    EXPECT_GT(refusing.refused(), 0);
}

TEST(FailedSlots, AreGivenBackWhenAsManyCameAfterThemTheOldestFirst) {
    using braid::detail::failed_slots;
    using braid::detail::no_index;
    braid::detail::accounted_memory memory({}, 0, {});
    braid::detail::index_pool<braid::detail::slot> slots(memory, braid::memory_tag::slot);
    braid::detail::pool_cache cache;
    std::vector<std::uint32_t> order;
    failed_slots failed;
    for (std::uint32_t i = 0; i < failed_slots::most; ++i) {
        order.push_back(slots.take(cache));
        ASSERT_EQ(failed.add(slots, order.back()), no_index);
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
        order.push_back(slots.take(cache));
        EXPECT_EQ(failed.add(slots, order.back()), order[i]);
    }
    for (std::uint32_t i = 10; i < order.size(); ++i) {
        ASSERT_EQ(failed.take_oldest(slots, true), order[i]);
    }
    EXPECT_TRUE(failed.empty());
    EXPECT_EQ(failed.take_oldest(slots, true), no_index);
    EXPECT_EQ(failed.add(slots, order.front()), no_index);
    EXPECT_EQ(failed.take_oldest(slots, false), order.front());
}

}  // namespace
