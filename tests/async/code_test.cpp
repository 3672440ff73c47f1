// R3: what this module holds of a piece of code that is to be replaced: coroutines the code of
// their frames, sources their callables with what these have captured.
#include "co_fixture.hpp"
#include "code_piece.hpp"

#include <array>
#include <cstring>

namespace {

using braid::channel;
using braid::co;
using braid::code_use;
using braid_test::holders;
using braid_test::marker;

class CoroutineCode : public braid_test::coroutine_test {};
INSTANTIATE_TEST_SUITE_P(Workers, CoroutineCode, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

/// The function that goes on with a coroutine that has not begun.
template <class T>
braid::code_range code_of(const co<T>& c) {
    std::uintptr_t resume = 0;
    std::memcpy(&resume, c.internals().address(), sizeof resume);
    return {.begin = resume, .end = resume + 1};
}

co<int> pop_one(channel<int>& from) { co_return co_await from.pop(); }

co<int> await_one(co<int> inner, channel<int>& then) {
    const int first = co_await std::move(inner);
    co_return first + co_await then.pop();
}

TEST_P(CoroutineCode, IsFoundBeforeItBegins) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 1});
    braid::task_builder gate = s.begin({}, braid::empty);
    co<int> body = pop_one(numbers);
    const braid::code_range code = code_of(body);
    auto f = braid::co_spawn(s, {.name = "pops", .after = {gate.id()}}, std::move(body));
    const auto found = holders(s, code);
    BRAID_EXPECT_ONE(found, code_use::task, "pops");
    EXPECT_EQ(found[0].task, f.id());
    gate.finish();
    EXPECT_TRUE(numbers.try_push(7));
    EXPECT_EQ(f.get(), 7);
    EXPECT_TRUE(holders(s, code).empty());
}

TEST_P(CoroutineCode, OfTheFrameThatWaitsAndOfThoseThatAwaitItIsFoundUntilEachHasReturned) {
    braid::scheduler s(options());
    channel<int> first(s, {.capacity = 1}), then(s, {.capacity = 1});
    co<int> inner = pop_one(first);
    const braid::code_range inner_code = code_of(inner);
    co<int> outer = await_one(std::move(inner), then);
    const braid::code_range outer_code = code_of(outer);
    auto f = braid::co_spawn(s, {.name = "awaits"}, std::move(outer));
    until_suspended(s, 1);
    EXPECT_EQ(holders(s, inner_code).size(), 1U);
    EXPECT_EQ(holders(s, outer_code).size(), 1U);
    EXPECT_TRUE(first.try_push(1));
    until_suspended(s, 2);
    EXPECT_TRUE(holders(s, inner_code).empty()) << "it has returned";
    EXPECT_EQ(holders(s, outer_code).size(), 1U);
    EXPECT_TRUE(then.try_push(2));
    EXPECT_EQ(f.get(), 3);
    EXPECT_TRUE(holders(s, outer_code).empty());
}

TEST_P(CoroutineCode, OfOneThatWaitsIsNotTakenAway) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 1});
    co<int> body = pop_one(numbers);
    const braid::code_range code = code_of(body);
    auto f = braid::co_spawn(s, {}, std::move(body));
    until_suspended(s, 1);
    const auto found = holders(s, code);
    ASSERT_EQ(found.size(), 1U);
    {
        braid::safepoint rest(s, braid::seconds(20));
        EXPECT_FALSE(rest.cancel(found[0].as_reported));
    }
    EXPECT_TRUE(numbers.try_push(5));
    EXPECT_EQ(f.get(), 5);
    expect_all_ended(s);
}

TEST_P(CoroutineCode, OfOneThatHasNotBegunMayBeTakenAway) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 1});
    braid::task_builder gate = s.begin({}, braid::empty);
    co<int> body = pop_one(numbers);
    const braid::code_range code = code_of(body);
    auto f = braid::co_spawn(s, {.after = {gate.id()}}, std::move(body));
    const auto found = holders(s, code);
    ASSERT_EQ(found.size(), 1U);
    {
        braid::safepoint rest(s, braid::seconds(20));
        EXPECT_TRUE(rest.cancel(found[0].as_reported));
    }
    EXPECT_TRUE(holders(s, code).empty());
    gate.finish();
    EXPECT_THROW(f.get(), braid::broken_promise);
    EXPECT_TRUE(numbers.try_push(5)) << "nobody pops";
    EXPECT_EQ(numbers.size(), 1U);
}

// ---- sources

class SourceCode : public CoroutineCode {};
INSTANTIATE_TEST_SUITE_P(Workers, SourceCode, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(SourceCode, CapturedByATimerIsFoundAsLongAsTheTimerLives) {
    braid::scheduler s(options());
    const std::array<void (*)(), 20> captured{&marker};
    {
        const braid::timer far(s, {.name = "far", .in = braid::seconds(1000)},
                               [captured] { captured[0](); });
        BRAID_EXPECT_ONE(holders(s), code_use::callback, "far");
    }
    EXPECT_TRUE(holders(s).empty());
}

TEST_P(SourceCode, CapturedByAMessageSourceIsFoundAsLongAsTheSourceLives) {
    braid::scheduler s(options());
    {
        const braid::message_source<int> news(s, {.name = "news"},
                                              [call = &marker](int&) { call(); });
        BRAID_EXPECT_ONE(holders(s), code_use::callback, "news");
    }
    EXPECT_TRUE(holders(s).empty());
}

}  // namespace
