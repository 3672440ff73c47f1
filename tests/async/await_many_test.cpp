// Awaiting several tasks that are written down one by one.
#include "co_fixture.hpp"

#include <stdexcept>

namespace {

using braid::co;
using braid::task_id;

BRAID_COROUTINE_TEST(AwaitMany);

TEST_P(AwaitMany, AllOfIdsAndFuturesWhichKeepTheirValues) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    const auto sums = [](braid::scheduler& on, task_id held) -> co<int> {
        auto three = on.async({.after = {held}}, [] { return 3; });
        auto text = on.async({.after = {held}}, [] { return std::string("four"); });
        const task_id plain = on.spawn({.after = {held}}, [] {});
        co_await braid::when_all({three, plain, text});
        EXPECT_TRUE(on.done(plain));
        EXPECT_TRUE(three.ready());
        EXPECT_TRUE(text.ready());
        co_return three.get() + static_cast<int>(text.get().size());
    };
    auto f = braid::co_spawn(s, {}, sums(s, gate.id()));
    until_suspended(s, 1);
    gate.finish();
    EXPECT_EQ(f.get(), 7);
    EXPECT_EQ(pauses_.suspended, 1U);
}

TEST_P(AwaitMany, AnyOfThemGivesItsPlaceAndCancelsTheRest) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    braid::scope rest(s);
    std::atomic<int> ran{0};
    const auto race = [&](task_id held) -> co<std::size_t> {
        const task_id never = s.spawn({.after = {held}, .within = &rest}, [&ran] { ++ran; });
        auto value = s.async([] { return 5; });
        const std::size_t first = co_await braid::when_any({never, value});
        EXPECT_EQ(first, 1U);
        EXPECT_EQ(value.get(), 5);
        co_return co_await braid::when_any({never, s.spawn([] {})}, braid::cancel_rest{rest});
    };
    EXPECT_EQ(braid::co_spawn(s, {}, race(gate.id())).get(), 1U);
    gate.finish();
    rest.wait();
    EXPECT_EQ(ran, 0);
}

TEST_P(AwaitMany, AFailureOfOneIsThrownAndStaysInItsFuture) {
    braid::scheduler s(options());
    const auto body = [&]() -> co<> {
        auto well = s.async([] { return 1; });
        auto bad = s.async([]() -> int { throw std::runtime_error("disk"); });
        EXPECT_NE((co_await braid::as_result(braid::when_all({well, bad}))).error, nullptr);
        EXPECT_EQ(well.get(), 1);
        EXPECT_THROW(bad.get(), std::runtime_error);
    };
    braid::co_spawn(s, {}, body()).get();
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

}  // namespace
