// The serial gate alone, without a scheduler: who runs, who sleeps, when time passes, and the ready
// tasks from which a chooser chooses.
#include "core/serial/gate.hpp"
#include "refusing_memory.hpp"
#include "seeded_chooser.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace braid;
using detail::gate;
using detail::ready_choices;

/// Always gives the same answer, and records what it was asked.
class one_answer final : public chooser {
public:
    explicit one_answer(std::size_t answer) : answer_(answer) {}
    std::size_t choose(decision_kind kind, const alternative*, std::size_t count) override {
        asked.push_back(kind);
        return answer_ < count ? answer_ : count - 1;
    }
    void nobody_can_go_on() override { ++standstills; }

    std::vector<decision_kind> asked;
    std::atomic<int> standstills{0};

private:
    const std::size_t answer_;
};

class Gate : public testing::Test {
protected:
    braid_test::refusing_memory refusing_{
        {[](void*, std::size_t bytes, std::size_t alignment, memory_tag) {
             return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
         },
         [](void*, void* bytes, std::size_t, std::size_t, memory_tag) { std::free(bytes); }}};
    detail::accounted_memory memory_{
        refusing_.hooks(), 0, {[](void*, std::size_t, const char*) {}}};
    std::string log_;
    log_handler log_handler_{[](void* user, log_level, const char* message) {
                                 *static_cast<std::string*>(user) += message;
                             },
                             &log_};
};

/// Lets four threads step aside a hundred times each. Returns the seats in the order in which they
/// ran.
std::vector<unsigned> run_four(gate& g) {
    constexpr unsigned threads = 4;
    std::vector<unsigned> order;  // written by the thread for which the gate is open
    std::atomic<int> inside{0};
    for (unsigned seat = 0; seat < threads; ++seat) g.add(seat);
    std::vector<std::thread> all;
    for (unsigned seat = 0; seat < threads; ++seat) {
        all.emplace_back([&, seat] {
            g.await_gate(seat);
            for (int n = 0; n != 100; ++n) {
                EXPECT_EQ(inside.fetch_add(1), 0);
                order.push_back(seat);
                --inside;
                g.preempt(seat);
            }
            g.leave(seat);
        });
    }
    for (std::thread& t : all) t.join();
    return order;
}

TEST_F(Gate, OneThreadRunsAtATimeAndTheSameOneAgainWithTheSameSeed) {
    std::vector<unsigned> orders[3];
    for (unsigned run = 0; run != 3; ++run) {
        braid_test::seeded_chooser chooser(run / 2);  // 0, 0, 1
        gate g(chooser, log_handler_, "alone", memory_);
        orders[run] = run_four(g);
        EXPECT_EQ(orders[run].size(), 400U);
    }
    EXPECT_EQ(orders[0], orders[1]);
    EXPECT_NE(orders[0], orders[2]);
}

TEST_F(Gate, AThreadThatTheChooserDoesNotMoveGoesOn) {
    one_answer stays(0);
    gate g(stays, log_handler_, "alone", memory_);
    g.enter(0);
    g.add(1);
    g.preempt(0);
    EXPECT_EQ(stays.asked, std::vector{decision_kind::preempt});
}

TEST_F(Gate, TheChooserIsNotAskedWhereOneThreadAloneCanGoOn) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    g.enter(3);
    g.preempt(3);
    EXPECT_EQ(g.choose(decision_kind::wake, nullptr, 1), 0U);
    g.leave(3);
    EXPECT_TRUE(first.asked.empty());
}

TEST_F(Gate, TimePassesWhenNobodyElseCanGoOn) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    g.enter(0);
    EXPECT_FALSE(g.block(0, {.deadline = 1000}));
    EXPECT_EQ(g.now(), 1000);
    EXPECT_FALSE(g.block(0, {.deadline = 500})) << "it has passed";
    EXPECT_EQ(g.now(), 1000);
}

TEST_F(Gate, AWakeUpBeforeTheSleepIsNotLost) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    g.enter(0);
    g.unblock(0);
    EXPECT_TRUE(g.block(0, {.deadline = 1000}));
    EXPECT_EQ(g.now(), 0);
    EXPECT_FALSE(g.block(0, {.deadline = 1000})) << "it counts once";
}

TEST_F(Gate, AThreadThatLooksForWorkIsWokenWithoutAnyTime) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    g.enter(0);
    EXPECT_FALSE(g.block(0, {.deadline = 1000, .looks = true})) << "to look";
    EXPECT_EQ(g.now(), 0);
    EXPECT_FALSE(g.block(0, {.deadline = 1000, .looks = true})) << "it has looked";
    EXPECT_EQ(g.now(), 1000);
    for (int n = 0; n != 3; ++n) EXPECT_FALSE(g.block(0, {.looks = true}));
    EXPECT_EQ(g.now(), 1000) << "without a deadline it may look again and again";
}

TEST_F(Gate, AStandstillIsReportedOnceAndEndsWithAWakeUpFromOutside) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    std::thread outside([&] {
        while (first.standstills.load() == 0) std::this_thread::yield();
        g.unblock(0);
    });
    g.enter(0);
    EXPECT_TRUE(g.block(0, {.waits = true}));
    outside.join();
    EXPECT_EQ(first.standstills.load(), 1);
    EXPECT_EQ(log_,
              "alone: nobody can go on: every thread under the chooser sleeps, and no wait can run "
              "out of time");
}

TEST_F(Gate, HavingNothingToDoIsNoStandstill) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    g.enter(0);
    g.add(1);
    std::thread sleeper([&] {
        g.await_gate(1);
        EXPECT_TRUE(g.block(1, {}));
        g.leave(1);
    });
    EXPECT_FALSE(g.block(0, {.deadline = 1})) << "the sleeper runs first, and sleeps";
    g.leave(0);  // now nobody can go on
    EXPECT_EQ(first.standstills.load(), 0);
    EXPECT_EQ(log_, "");
    g.unblock(1);
    sleeper.join();
}

TEST_F(Gate, ArrivalsThatNobodyChoseAreCounted) {
    one_answer first(0);
    gate g(first, log_handler_, "alone", memory_);
    EXPECT_EQ(g.unchosen(), 0U);
    g.note_unchosen();
    g.note_unchosen();
    EXPECT_EQ(g.unchosen(), 2U);
}

class ReadyChoices : public Gate {
protected:
    ready_choices ready_{memory_};
};

TEST_F(ReadyChoices, WantedTasksAreOfferedInTheOrderInWhichTheyBecameReady) {
    for (std::uint64_t id = 1; id <= 6; ++id) ASSERT_TRUE(ready_.add({id, 10 * id, id == 4}));
    ready_.begin_offer();
    ready_.offer_wanted([](std::uint64_t id) { return id % 2 == 0; });
    ready_.offer_other(99, 990);
    ASSERT_EQ(ready_.offered(), 4U);
    const std::uint64_t names[] = {20, 40, 60, 990}, ids[] = {2, 4, 6, 99};
    for (std::size_t n = 0; n != 4; ++n) {
        EXPECT_EQ(ready_.names()[n].id, names[n]);
        EXPECT_EQ(ready_.id_at(n), ids[n]);
    }
    EXPECT_EQ(ready_.take(3).id, 0U) << "another list has it";
    const ready_choices::task taken = ready_.take(1);
    EXPECT_EQ(taken.id, 4U);
    EXPECT_TRUE(taken.urgent);
    EXPECT_EQ(ready_.take_task(4).id, 0U) << "it is gone";
    EXPECT_EQ(ready_.take_task(5).name, 50U);
    for (const std::uint64_t id : {1U, 2U, 3U, 6U}) EXPECT_EQ(ready_.take_task(id).id, id);
    EXPECT_FALSE(ready_.any());
}

TEST_F(ReadyChoices, WithoutMemoryATaskIsRefusedAndTheOthersStay) {
    refusing_.refuse_after(0);
    std::uint64_t added = 0;
    while (ready_.add({added + 1, added + 1, false})) ++added;
    EXPECT_EQ(added, 64U) << "what has room without memory";
    ready_.begin_offer();
    ready_.offer_wanted([](std::uint64_t) { return true; });
    ready_.offer_other(1000, 1000);  // finds no room, and is offered at a later decision
    EXPECT_EQ(ready_.offered(), added);
    refusing_.give_back();
    ASSERT_TRUE(ready_.add({65, 65, false}));
    ready_.begin_offer();
    ready_.offer_wanted([](std::uint64_t) { return true; });
    ready_.offer_other(1000, 1000);
    ASSERT_EQ(ready_.offered(), 66U);
    for (std::size_t n = 0; n != 65; ++n) ASSERT_EQ(ready_.names()[n].id, n + 1);
    EXPECT_EQ(ready_.id_at(65), 1000U);
}

}  // namespace
