// The table of edges alone, without a scheduler: both lists of an edge, edges that are torn, and
// what stands between two tasks.
#include "core/edges/edge_table.hpp"
#include "slots_alone.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using namespace braid;
using detail::index_of;
using detail::link;
using detail::slot;

class EdgeTable : public testing::Test, protected braid_test::slots_alone {
protected:
    link connect(task_id successor, task_id predecessor, bool any_outcome = false,
                 detail::await_state until = detail::edge_fixed) {
        return edges_.make(own_edges_, index_of(successor.value), predecessor, any_outcome, until);
    }
    std::uint32_t waits_of(task_id id) { return slots_.at(id).waits_for.load(relaxed); }
    std::vector<task_id> predecessors_of(task_id id) {
        std::vector<task_id> all;
        edges_.any_predecessor(id, [&](task_id from) {
            all.push_back(from);
            return false;
        });
        return all;
    }
    std::vector<task_id> successors_of(task_id id) {
        std::vector<task_id> all;
        std::uint32_t e = detail::first_edge(slots_.at(id).successors.load(relaxed));
        for (; e < detail::no_edge; e = edges_.at(e).next.load(relaxed))
            all.push_back({edges_.at(e).to.load(relaxed)});
        return all;
    }
    /// Opens a task whose wait may end before all that it awaits is complete.
    task_id open_suspended() {
        const task_id id = open();
        slot& s = slots_.at(id);
        detail::detail_block& d = *details_.make(own_details_, s);
        d.was_suspended.store(true, relaxed);
        d.may_end_early.store(true, relaxed);
        s.mark(detail::flag_detailed);
        return id;
    }
};

TEST_F(EdgeTable, AnEdgeIsInTheListsOfBothTasksAndIsCounted) {
    const task_id first = open(), second = open(), after = open(), last = open();
    ASSERT_EQ(connect(after, first), link::made);
    ASSERT_EQ(connect(after, second, true), link::made);
    ASSERT_EQ(connect(last, first), link::made);
    EXPECT_EQ(predecessors_of(after), (std::vector{second, first}));
    EXPECT_EQ(predecessors_of(first), std::vector<task_id>{});
    EXPECT_EQ(successors_of(first), (std::vector{last, after}));
    EXPECT_EQ(waits_of(after), 3U) << "the builder's share, and two";
    EXPECT_EQ(waits_of(last), 2U);
    const std::uint32_t e = slots_.at(after).predecessors.load(relaxed);
    EXPECT_TRUE(edges_.has(e));
    EXPECT_TRUE(edges_.at(e).any_outcome);
    EXPECT_FALSE(edges_.has(detail::no_edge));
}

TEST_F(EdgeTable, ACompletePredecessorNeedsNoEdgeAndAFailedOneCancels) {
    const task_id good = open(), failed = open(), cancelled = open(), after = open();
    end(good);
    end(failed, detail::flag_failed);
    end(cancelled, detail::flag_cancel);
    EXPECT_EQ(connect(after, good), link::not_needed);
    EXPECT_EQ(connect(after, failed), link::failed);
    EXPECT_EQ(connect(after, cancelled), link::failed);
    EXPECT_EQ(connect(after, failed, true), link::not_needed);
    EXPECT_EQ(waits_of(after), 1U);
    EXPECT_TRUE(predecessors_of(after).empty());
}

TEST_F(EdgeTable, WithoutMemoryNeitherTaskChanges) {
    const task_id before = open(), after = open();
    refusing_.refuse_after(0);
    EXPECT_FALSE(edges_.has_free(own_edges_));
    EXPECT_EQ(connect(after, before), link::no_memory);
    EXPECT_EQ(waits_of(after), 1U);
    EXPECT_TRUE(predecessors_of(after).empty());
    EXPECT_TRUE(successors_of(before).empty());
    refusing_.give_back();
    EXPECT_EQ(connect(after, before), link::made);
}

TEST_F(EdgeTable, AnEdgeThatWasFoundFreeNeedsNoMemory) {
    const task_id before = open(), after = open();
    ASSERT_TRUE(edges_.has_free(own_edges_));
    refusing_.refuse_after(0);
    edges_.make_first(own_edges_, index_of(after.value), before);
    EXPECT_EQ(refusing_.refused(), 0);
    EXPECT_EQ(predecessors_of(after), std::vector{before});
    EXPECT_EQ(successors_of(before), std::vector{after});
    EXPECT_EQ(waits_of(after), 2U);
}

TEST_F(EdgeTable, EdgesAreFreedWhenTheTaskBecomesReady) {
    const auto round = [&] {
        const task_id before = open(), after = open();
        ASSERT_EQ(connect(after, before), link::made);
        ASSERT_EQ(connect(after, before), link::made);
        edges_.free_predecessors(own_edges_, slots_.at(after));
        EXPECT_TRUE(predecessors_of(after).empty());
        end(before);
        end(after);
    };
    round();
    const std::uint64_t allocations = memory_.allocations();
    for (int n = 0; n != 10'000; ++n) round();
    EXPECT_EQ(memory_.allocations(), allocations);
}

TEST_F(EdgeTable, TearingLeavesAnEdgeThatWasNotifiedToTheSuccessor) {
    const task_id first = open(), second = open(), third = open(), after = open_suspended();
    for (const task_id before : {first, second, third})
        ASSERT_EQ(connect(after, before, false, detail::edge_awaited), link::made);
    const std::uint32_t notified = detail::first_edge(slots_.at(second).successors.load(relaxed));
    ASSERT_TRUE(detail::notify_edge(edges_.at(notified).await));
    EXPECT_EQ(edges_.tear(own_edges_, slots_.at(after)), 2U);
    EXPECT_TRUE(predecessors_of(after).empty());
    EXPECT_EQ(edges_.at(notified).await.load(relaxed), detail::edge_fixed) << "it is free again";
    for (const task_id before : {first, third}) {
        const std::uint32_t torn = detail::first_edge(slots_.at(before).successors.load(relaxed));
        EXPECT_FALSE(detail::notify_edge(edges_.at(torn).await)) << "the predecessor frees it";
    }
    EXPECT_EQ(edges_.tear(own_edges_, slots_.at(after)), 0U) << "one thread gets the list";
}

TEST_F(EdgeTable, ASearchEndsWhenTheTaskBeginsAnotherWait) {
    const task_id first = open(), second = open(), after = open_suspended();
    for (const task_id before : {first, second})
        ASSERT_EQ(connect(after, before, false, detail::edge_awaited), link::made);
    std::vector<task_id> seen;
    EXPECT_FALSE(edges_.any_predecessor(after, [&](task_id from) {
        seen.push_back(from);
        details_.at(slots_.at(after)).waits.fetch_add(1, relaxed);
        return false;
    }));
    EXPECT_EQ(seen, std::vector{second});
}

TEST_F(EdgeTable, ASearchStopsAtThePredecessorForWhichItReturnsTrue) {
    const task_id first = open(), second = open(), after = open();
    ASSERT_EQ(connect(after, first), link::made);
    ASSERT_EQ(connect(after, second), link::made);
    int asked = 0;
    EXPECT_TRUE(edges_.any_predecessor(after, [&](task_id from) {
        ++asked;
        return from == second;
    }));
    EXPECT_EQ(asked, 1);
}

TEST_F(EdgeTable, ACompleteTaskHasNoPredecessors) {
    const task_id before = open(), after = open();
    ASSERT_EQ(connect(after, before), link::made);
    (void)detail::close_and_take(slots_.at(after).successors, slots_.at(after).generation());
    EXPECT_TRUE(predecessors_of(after).empty());
}

TEST_F(EdgeTable, WhoWaitsForWhomIsFoundThroughUpToSixtyFourTasks) {
    std::vector<task_id> line{open()};
    while (line.size() != 100) {
        line.push_back(open());
        ASSERT_EQ(connect(line.back(), line[line.size() - 2]), link::made);
    }
    EXPECT_TRUE(edges_.waits_for_transitively(line[1], line[0]));
    EXPECT_TRUE(edges_.waits_for_transitively(line[64], line[0]));
    EXPECT_FALSE(edges_.waits_for_transitively(line[65], line[0])) << "as far as it looks";
    EXPECT_FALSE(edges_.waits_for_transitively(line[0], line[1]));
    EXPECT_FALSE(edges_.waits_for_transitively(line[0], line[0]));
}

}  // namespace
