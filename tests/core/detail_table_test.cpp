// The table of details alone, without a scheduler: blocks, lists of resources, and what is asked
// about a task that may have neither.
#include "core/details/detail_table.hpp"
#include "slots_alone.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace braid;
using detail::detail_block;
using detail::slot;

class DetailTable : public testing::Test, protected braid_test::slots_alone {};

TEST_F(DetailTable, ATaskHasOneBlock) {
    slot& s = slots_.at(open());
    EXPECT_EQ(details_.find(s), nullptr);
    detail_block* const made = details_.make(own_details_, s);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(details_.make(own_details_, s), made);
    EXPECT_EQ(details_.find(s), made);
    EXPECT_EQ(&details_.at(s), made);
}

TEST_F(DetailTable, TheNextTaskFindsABlockThatNamesNoThreadNoOwnerNoResourceAndNoId) {
    const task_id first = open();
    detail_block& used = *details_.make(own_details_, slots_.at(first));
    used.holders.store(3, relaxed);
    used.seat.store(1, relaxed);
    used.visit = 2;
    used.direct.store(true, relaxed);
    used.has_value.store(true, relaxed);
    used.workers = 5;
    used.stable_id = used.creations = 7;
    used.was_suspended.store(true, relaxed);
    used.shielded.store(true, relaxed);
    used.listed = true;
    ASSERT_NE(details_.make_resource_list(own_details_, used), nullptr);
    used.resource_count = used.resources_held = 1;
    details_.free(own_details_, slots_.at(first));
    end(first);

    const detail_block& next = *details_.make(own_details_, slots_.at(open()));
    ASSERT_EQ(&next, &used) << "the newest free block is taken";
    EXPECT_EQ(next.holders.load(relaxed), 0U);
    EXPECT_EQ(next.seat.load(relaxed), UINT16_MAX);
    EXPECT_EQ(next.visit, 0);
    EXPECT_FALSE(next.direct.load(relaxed) || next.has_value.load(relaxed));
    EXPECT_EQ(next.workers, 0U);
    EXPECT_EQ(next.stable_id + next.creations, 0U);
    EXPECT_FALSE(next.was_suspended.load(relaxed) || next.shielded.load(relaxed) || next.listed);
    EXPECT_EQ(next.resource_count + next.resources_held, 0);
    EXPECT_EQ(next.resources, detail::no_index);
}

TEST_F(DetailTable, WithoutMemoryATaskHasNoBlockAndNoList) {
    slot& with = slots_.at(open());
    slot& without = slots_.at(open());
    detail_block& block = *details_.make(own_details_, with);
    detail::details_part of_another_thread;
    refusing_.refuse_after(0);
    while (details_.make(of_another_thread, without) != nullptr)
        without.detail.store(detail::no_index, relaxed);  // takes what the first request has left
    EXPECT_EQ(details_.find(without), nullptr);
    EXPECT_EQ(details_.make_resource_list(own_details_, block), nullptr);
    EXPECT_TRUE(details_.resources_of(block).empty());
    refusing_.give_back();
    EXPECT_NE(details_.make(of_another_thread, without), nullptr);
    EXPECT_NE(details_.make_resource_list(own_details_, block), nullptr);
}

TEST_F(DetailTable, ABlockIsFreedWithItsListOfResources) {
    const auto round = [&] {
        const task_id id = open();
        detail_block& d = *details_.make(own_details_, slots_.at(id));
        EXPECT_NE(details_.make_resource_list(own_details_, d), nullptr);
        details_.free(own_details_, slots_.at(id));
        end(id);
    };
    round();
    const std::uint64_t before = memory_.allocations();
    for (int n = 0; n != 10'000; ++n) round();
    EXPECT_EQ(memory_.allocations(), before);
    details_.free(own_details_, detail::no_index);  // a task without a block has nothing to free
}

TEST_F(DetailTable, ResourcesAreThoseInTheListUpToTheirNumber) {
    slot& s = slots_.at(open());
    detail_block& d = *details_.make(own_details_, s);
    detail::resource_list& list = *details_.make_resource_list(own_details_, d);
    resource* const some[] = {reinterpret_cast<resource*>(&s), reinterpret_cast<resource*>(&d)};
    list.of[0] = some[0];
    list.of[1] = some[1];
    EXPECT_TRUE(details_.resources_of(d).empty()) << "none was counted yet";
    d.resource_count = 2;
    ASSERT_EQ(details_.resources_of(d).size(), 2U);
    EXPECT_EQ(details_.resources_of(d)[0], some[0]);
    EXPECT_EQ(details_.resources_of(d)[1], some[1]);
    EXPECT_FALSE(details_.uses_resources(s)) << "the flag of the task is asked first";
    s.mark(detail::flag_detailed);
    EXPECT_TRUE(details_.uses_resources(s));
}

TEST_F(DetailTable, OnlyATaskWithTheFlagIsDirectOrWasSuspended) {
    slot& s = slots_.at(open());
    detail_block& d = *details_.make(own_details_, s);
    d.direct.store(true, relaxed);
    d.was_suspended.store(true, relaxed);
    EXPECT_FALSE(details_.is_direct(s));
    EXPECT_FALSE(details_.was_suspended(s));
    EXPECT_FALSE(details_.may_be_suspended(s));
    s.mark(detail::flag_detailed);
    EXPECT_TRUE(details_.is_direct(s));
    EXPECT_TRUE(details_.was_suspended(s));
    EXPECT_TRUE(details_.may_be_suspended(s));
}

TEST_F(DetailTable, ATaskThatHasEndedMeanwhileIsNeitherDirectNorSuspended) {
    slot& s = slots_.at(open());
    s.mark(detail::flag_detailed);  // what a thread with a stale id may find: no block any more
    EXPECT_FALSE(details_.is_direct(s));
    EXPECT_FALSE(details_.may_be_suspended(s));
}

}  // namespace
