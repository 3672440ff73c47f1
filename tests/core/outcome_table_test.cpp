// The table of outcomes alone, without a scheduler: who refers to a failure, which of two a task
// gets, and where an error goes that nobody has received.
#include "core/outcomes/outcome_table.hpp"
#include "slots_alone.hpp"

#include <braid/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace braid;
using detail::index_of;
using detail::outcome;
using detail::slot;

std::exception_ptr error(const char* what) {
    return std::make_exception_ptr(std::runtime_error(what));
}
std::string text_of(const std::exception_ptr& e) {
    if (e == nullptr) return "none";
    try {
        std::rethrow_exception(e);
    } catch (const std::exception& x) {
        return x.what();
    }
}

class OutcomeTable : public testing::Test, protected braid_test::slots_alone {
protected:
    void adopt(task_id id, outcome* result, std::uint32_t ordinal = 0) {
        outcomes_.adopt(own_details_, index_of(id.value), result, ordinal);
    }
    outcome* failed_with(const char* what) { return outcomes_.make(error(what), "task"); }
    outcome* cancelled() { return outcomes_.make(nullptr, "task"); }
    /// Returns the text of the task's error, and ends the task.
    std::string end_and_take(task_id id) {
        const std::string text =
            text_of(outcomes_.take_error(outcomes_.end(own_details_, slots_.at(id))));
        end(id);
        return text;
    }

    std::vector<std::string> unobserved_;
    detail::default_handlers handlers_;
    const scheduler_options options_ = handlers_.complete([this] {
        scheduler_options o;
        o.unobserved_exception = {[](void* user, const char* task, std::exception_ptr e) {
                                      static_cast<OutcomeTable*>(user)->unobserved_.push_back(
                                          std::string(task) + ": " + text_of(e));
                                  },
                                  this};
        return o;
    }());
    detail::reporter report_{options_, memory_, false};
    detail::outcome_table outcomes_{options_, memory_, report_, slots_, details_};
};

TEST_F(OutcomeTable, ATaskThatHasNotFailedHasNoOutcome) {
    slot& s = slots_.at(open());
    EXPECT_EQ(outcomes_.find(s), nullptr);
    EXPECT_EQ(outcomes_.share(s), nullptr);
    EXPECT_EQ(outcomes_.take(s), nullptr);
    EXPECT_EQ(outcomes_.end(own_details_, s), nullptr);
    EXPECT_NO_THROW(outcomes_.raise(nullptr));
    EXPECT_EQ(outcomes_.take_error(nullptr), nullptr);
    outcomes_.drop(nullptr);
}

TEST_F(OutcomeTable, TheOldestFailureWinsWhateverTheOrder) {
    for (const bool oldest_first : {true, false}) {
        const task_id id = open();
        adopt(id, failed_with(oldest_first ? "old" : "young"), oldest_first ? 1 : 2);
        adopt(id, failed_with(oldest_first ? "young" : "old"), oldest_first ? 2 : 1);
        EXPECT_EQ(unobserved_, std::vector<std::string>{"task: young"});
        EXPECT_EQ(end_and_take(id), "old");
        EXPECT_EQ(unobserved_.size(), 1U) << "the error that was taken is not reported";
        unobserved_.clear();
    }
}

TEST_F(OutcomeTable, AnErrorWinsOverACancellation) {
    const task_id first = open(), second = open();
    adopt(first, cancelled(), 1);
    adopt(first, failed_with("late"), 2);
    adopt(second, failed_with("early"), 2);
    adopt(second, cancelled(), 1);
    EXPECT_TRUE(slots_.at(first).has(detail::flag_failed));
    EXPECT_TRUE(slots_.at(first).has(detail::flag_error));
    EXPECT_EQ(end_and_take(first), "late");
    EXPECT_EQ(end_and_take(second), "early");
    EXPECT_TRUE(unobserved_.empty());
}

TEST_F(OutcomeTable, AMereCancellationIsNoError) {
    const task_id id = open();
    adopt(id, cancelled());
    EXPECT_TRUE(slots_.at(id).has(detail::flag_failed));
    EXPECT_FALSE(slots_.at(id).has(detail::flag_error));
    EXPECT_THROW(outcomes_.raise(outcomes_.share(slots_.at(id))), task_cancelled);
    EXPECT_EQ(end_and_take(id), "none");
    EXPECT_EQ(outcomes_.unobserved(), 0U);
}

TEST_F(OutcomeTable, AnErrorIsReportedOnceWhenTheLastReferenceIsDroppedUnseen) {
    outcome* const result = failed_with("lost");
    outcomes_.share(result);
    outcomes_.drop(result);
    EXPECT_TRUE(unobserved_.empty());
    outcomes_.drop(result);
    EXPECT_EQ(unobserved_, std::vector<std::string>{"task: lost"});
    EXPECT_EQ(outcomes_.unobserved(), 1U);
}

TEST_F(OutcomeTable, AnErrorThatOneReceiverHasThrownIsNotReported) {
    outcome* const result = failed_with("seen");
    outcomes_.share(result);
    EXPECT_THROW(outcomes_.raise(result), std::runtime_error);
    outcomes_.drop(result);
    EXPECT_TRUE(unobserved_.empty());
}

TEST_F(OutcomeTable, WithoutMemoryATaskFailsAndItsErrorGoesToTheHandler) {
    const task_id id = open();
    outcome* const result = failed_with("no room");
    refusing_.refuse_after(0);
    EXPECT_EQ(outcomes_.make(error("another"), "task"), nullptr);
    adopt(id, result);
    slot& s = slots_.at(id);
    EXPECT_TRUE(s.has(detail::flag_failed));
    EXPECT_TRUE(s.has(detail::flag_error));
    EXPECT_NE(s.successors.load(relaxed) & detail::waited_bit, 0U)
        << "the thread that ends the body must not take a plain task's path";
    EXPECT_EQ(unobserved_, std::vector<std::string>{"task: no room"});
    ASSERT_NE(outcomes_.find(s), nullptr) << "it counts as cancelled";
    EXPECT_THROW(outcomes_.raise(outcomes_.share(s)), task_cancelled);
}

TEST_F(OutcomeTable, ASuccessorSharesTheFailureOfItsPredecessorWhileThatExists) {
    const task_id before = open(), after = open();
    adopt(before, failed_with("first"));
    (void)detail::close_and_take(slots_.at(before).successors, slots_.at(before).generation());
    outcomes_.cancel_with(own_details_, index_of(after.value), before);
    EXPECT_TRUE(slots_.at(after).has(detail::flag_cancel));
    EXPECT_EQ(outcomes_.find(slots_.at(after)), outcomes_.find(slots_.at(before)));
    EXPECT_EQ(end_and_take(after), "first");
    outcomes_.drop(outcomes_.end(own_details_, slots_.at(before)));
    EXPECT_TRUE(unobserved_.empty()) << "one receiver has it";
}

TEST_F(OutcomeTable, TaskFailedStandsInForAnErrorThatIsGone) {
    const task_id before = open(), after = open();
    adopt(before, failed_with("gone"));
    EXPECT_EQ(end_and_take(before), "gone");
    outcomes_.cancel_with(own_details_, index_of(after.value), before);
    outcome* const result = outcomes_.share(slots_.at(after));
    ASSERT_NE(result, nullptr);
    EXPECT_TRUE(result->stands_in);
    EXPECT_THROW(outcomes_.raise(result), task_failed);
    outcomes_.drop(outcomes_.end(own_details_, slots_.at(after)));
    EXPECT_TRUE(unobserved_.empty()) << "the receivers of the error have reported it";
}

TEST_F(OutcomeTable, NothingStandsInForACancellationThatIsGone) {
    const task_id before = open(), after = open();
    adopt(before, cancelled());
    EXPECT_EQ(end_and_take(before), "none");
    outcomes_.cancel_with(own_details_, index_of(after.value), before);
    EXPECT_EQ(end_and_take(after), "none");
}

TEST_F(OutcomeTable, ATaskThatResumesHasNotFailed) {
    const task_id id = open();
    adopt(id, failed_with("of what it awaited"));
    slot& s = slots_.at(id);
    outcome* const result = outcomes_.take_failure(s);
    EXPECT_FALSE(s.has(detail::failure_flags));
    EXPECT_EQ(outcomes_.find(s), nullptr);
    EXPECT_EQ(text_of(outcomes_.take_error(result)), "of what it awaited");
    adopt(id, failed_with("its own"), 5);
    EXPECT_EQ(end_and_take(id), "its own") << "though its ordinal is higher";
}

TEST_F(OutcomeTable, APlaceGetsTheFirstErrorThatNobodyHasReceived) {
    std::exception_ptr place;
    outcome* const seen = outcomes_.share(failed_with("seen"));
    (void)outcomes_.take_error(seen);
    outcome* const nothing = cancelled();
    outcome* const first = failed_with("first");
    outcome* const second = failed_with("second");
    for (outcome* const result : {seen, nothing, first, second}) outcomes_.offer(*result, place);
    EXPECT_EQ(text_of(outcomes_.take_offered(place)), "first");
    EXPECT_EQ(place, nullptr);
    for (outcome* const result : {seen, nothing, first, second}) outcomes_.drop(result);
    EXPECT_EQ(unobserved_, std::vector<std::string>{"task: second"});
}

TEST_F(OutcomeTable, APlaceGetsWhatStandsInForAnError) {
    const task_id before = open(), after = open();
    adopt(before, failed_with("gone"));
    (void)end_and_take(before);
    outcomes_.cancel_with(own_details_, index_of(after.value), before);
    std::exception_ptr place;
    outcomes_.offer(*outcomes_.find(slots_.at(after)), place);
    EXPECT_THROW(std::rethrow_exception(outcomes_.take_offered(place)), task_failed);
    outcomes_.drop(outcomes_.end(own_details_, slots_.at(after)));
}

}  // namespace
