// The table of slots alone, without a scheduler: ids, failures that stay for a while, ancestors,
// levels, lines.
#include "core/slots/slot_table.hpp"
#include "slots_alone.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <source_location>
#include <vector>

namespace {

using namespace braid;
using detail::index_of;
using detail::no_index;
using detail::slot;

class SlotTable : public testing::Test, protected braid_test::slots_alone {
protected:
    explicit SlotTable(const scheduler_options& o = {}) : slots_alone(o) {}
};

TEST_F(SlotTable, AnIdIsOpenThenDoneAndNeverUnknownAgain) {
    const task_id first = open();
    EXPECT_TRUE(slots_.is_open(first));
    end(first);
    EXPECT_EQ(slots_.state_of(first), task_state::done);
    const task_id second = open();
    EXPECT_EQ(index_of(second.value), index_of(first.value)) << "the newest free slot is taken";
    EXPECT_NE(second, first);
    EXPECT_EQ(slots_.state_of(first), task_state::done);
    EXPECT_TRUE(slots_.is_open(second));
}

TEST_F(SlotTable, AnIdThatWasNeverIssuedIsUnknown) {
    const task_id id = open();
    EXPECT_EQ(slots_.state_of({}), task_state::unknown);
    EXPECT_EQ(slots_.state_of({id.value & UINT32_MAX}), task_state::unknown) << "generation 0";
    EXPECT_EQ(slots_.state_of({id.value + (std::uint64_t{1} << 32)}), task_state::unknown);
    const std::uint32_t beyond = slots_.count();
    EXPECT_FALSE(slots_.has(beyond));
    EXPECT_EQ(slots_.state_of({detail::join_word(1, beyond)}), task_state::unknown);
}

TEST_F(SlotTable, ASlotInItsLastGenerationIsNotTakenAgain) {
    const task_id first = open();
    const std::uint32_t index = index_of(first.value);
    end(first);
    slots_.at(index).open.store(detail::join_word(detail::last_generation - 1, 0), relaxed);
    const task_id last = open();
    ASSERT_EQ(last.value, detail::join_word(detail::last_generation, index));
    end(last);
    for (int n = 0; n != 1000; ++n) EXPECT_NE(index_of(open().value), index);
    EXPECT_EQ(slots_.state_of(last), task_state::done);
}

TEST_F(SlotTable, AFailureIsKnownWhileOthersTakeSlots) {
    const task_id failed = open(), cancelled = open(), good = open();
    end(failed, detail::flag_failed);
    end(cancelled, detail::flag_cancel);
    end(good);
    for (int n = 0; n != 1000; ++n) end(open());
    EXPECT_EQ(slots_.failure_of(failed), detail::flag_failed);
    EXPECT_EQ(slots_.failure_of(cancelled), detail::flag_cancel);
    EXPECT_EQ(slots_.failure_of(good), 0);
}

TEST_F(SlotTable, WithoutMemoryTheOldestFailureIsForgottenBeforeATaskIsRefused) {
    const task_id failed = open();
    end(failed, detail::flag_failed);
    refusing_.refuse_after(0);
    std::vector<std::uint32_t> taken;
    for (std::uint32_t index; (index = slots_.take(own_slots_)) != no_index;)
        taken.push_back(index);
    EXPECT_EQ(taken.back(), index_of(failed.value));
    EXPECT_GT(refusing_.refused(), 0);
    refusing_.give_back();
    EXPECT_NE(slots_.take(own_slots_), no_index);
}

TEST_F(SlotTable, WhoMayNotBlockGetsNoSlotForWhichMemoryHadToBeAllocated) {
    EXPECT_EQ(slots_.take(own_slots_, false), no_index);
    EXPECT_EQ(memory_.allocations(), 0U);
    const std::uint32_t index = slots_.take(own_slots_);
    ASSERT_NE(index, no_index);
    EXPECT_NE(slots_.take(own_slots_, false), no_index) << "from the cache";
}

TEST_F(SlotTable, ReservedSlotsNeedNoMemoryLater) {
    ASSERT_TRUE(slots_.reserve(1000));
    refusing_.refuse_after(0);
    for (int n = 0; n != 1000; ++n) ASSERT_NE(slots_.take(own_slots_), no_index) << n;
    EXPECT_FALSE(slots_.reserve(1'000'000));
}

TEST_F(SlotTable, AnAncestorAtAnyDepthIsFound) {
    constexpr std::uint32_t deepest = 60'000;
    std::vector<task_id> line{open()};
    while (line.size() <= deepest) {
        const task_id child = open();
        slots_.link_parent(slots_.at(child), index_of(line.back().value));
        line.push_back(child);
    }
    const std::uint32_t last = index_of(line.back().value);
    ASSERT_EQ(slots_.at(last).depth.load(relaxed), deepest);
    for (std::uint32_t depth = 0; depth <= deepest; depth += 7) {
        ASSERT_TRUE(slots_.descends(last, line[depth])) << depth;
    }
    const task_id other = open();
    slots_.link_parent(slots_.at(other), index_of(line[100].value));
    EXPECT_TRUE(slots_.descends(index_of(other.value), line[100]));
    EXPECT_FALSE(slots_.descends(index_of(other.value), line[101]));
    EXPECT_FALSE(slots_.descends(last, other)) << "as deep as an ancestor, but none";
    EXPECT_FALSE(slots_.descends(index_of(line[0].value), line[1])) << "the other way round";
}

TEST_F(SlotTable, ATaskIsBelowItsParentOnlyAndNotBelowALaterTaskOfTheParentsSlot) {
    const task_id top = open(), parent = open(), child = open();
    slots_.link_parent(slots_.at(parent), index_of(top.value));
    slots_.link_parent(slots_.at(child), index_of(parent.value));
    EXPECT_TRUE(slots_.is_below(slots_.at(child), parent));
    EXPECT_FALSE(slots_.is_below(slots_.at(child), top));
    EXPECT_FALSE(slots_.is_below(slots_.at(child), child));
    end(parent);
    const task_id later = open();
    ASSERT_EQ(index_of(later.value), index_of(parent.value));
    EXPECT_FALSE(slots_.is_below(slots_.at(child), parent));
    EXPECT_FALSE(slots_.descends(index_of(child.value), parent));
}

TEST_F(SlotTable, TheLevelOfATaskWithACategoryIsThatOfItsCategory) {
    slot& s = slots_.at(open());
    s.level.store(7, relaxed);
    s.flags.fetch_or(detail::flag_category, relaxed);
    slots_.set_level(7, priority_level::normal);
    EXPECT_EQ(slots_.level_of(s), static_cast<std::uint8_t>(priority_level::normal));
    slots_.set_level(7, priority_level::low);
    EXPECT_EQ(slots_.level_of(s), static_cast<std::uint8_t>(priority_level::low));
    EXPECT_EQ(slots_.level_of_category(7), priority_level::low);
    // A thread that raised an earlier task of this slot has cleared the flag.
    s.flags.store(0, relaxed);
    EXPECT_EQ(slots_.level_of(s), static_cast<std::uint8_t>(priority_level::high));
}

TEST_F(SlotTable, WithoutTheOptionThereAreNoLines) {
    const task_id id = open();
    slots_.note_line(slots_.at(id), index_of(id.value), std::source_location::current());
    EXPECT_EQ(slots_.line_of(id).file, nullptr);
}

class SlotTableWithLines : public SlotTable {
protected:
    static scheduler_options with_lines() {
        scheduler_options o;
        o.deadlock.lines = true;
        return o;
    }
    SlotTableWithLines() : SlotTable(with_lines()) {}
};

TEST_F(SlotTableWithLines, ALineBelongsToOneTaskOfTheSlot) {
    const task_id id = open();
    const auto here = std::source_location::current();
    slots_.note_line(slots_.at(id), index_of(id.value), here);
    EXPECT_STREQ(slots_.line_of(id).file, "slot_table_test.cpp");
    EXPECT_EQ(slots_.line_of(id).line, here.line());
    end(id);
    const task_id next = open();
    ASSERT_EQ(index_of(next.value), index_of(id.value));
    EXPECT_EQ(slots_.line_of(next).file, nullptr);
}

TEST_F(SlotTableWithLines, WithoutMemoryTheLineAloneIsMissing) {
    const task_id id = open();
    refusing_.refuse_after(0);
    slots_.note_line(slots_.at(id), index_of(id.value), std::source_location::current());
    EXPECT_EQ(slots_.line_of(id).file, nullptr);
    EXPECT_TRUE(slots_.is_open(id));
}

}  // namespace
