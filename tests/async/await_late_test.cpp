// What a coroutine hears of a task that was complete before it was awaited.
#include "co_fixture.hpp"

#include <stdexcept>

namespace {

using braid::co;
using braid::task_id;

BRAID_COROUTINE_TEST(AwaitLate);

TEST_P(AwaitLate, ATaskThatFailedOrWasCancelledBeforeThrowsThat) {
    braid::scheduler s(options());
    braid::scope level(s), own(s);
    level.cancel();
    // Nobody holds the exception any more when the scope has thrown it.
    const task_id failed = own.spawn({}, [] { throw std::runtime_error("disk"); });
    EXPECT_THROW(own.wait(), std::runtime_error);
    const task_id cancelled = s.spawn({.within = &level}, [] {});
    const task_id well = s.spawn([] {});
    until(s, [&] { return s.done(failed) && s.done(cancelled) && s.done(well); });
    const auto asks = [&]() -> co<int> {
        co_await well;
        int thrown = 0;
        try {
            co_await failed;
        } catch (const braid::task_failed&) {
            ++thrown;
        }
        try {
            co_await cancelled;
        } catch (const braid::task_cancelled&) {
            ++thrown;
        }
        const task_id all[] = {well, failed, cancelled};
        try {
            co_await braid::when_all(all);
        } catch (const braid::task_failed&) {
            ++thrown;
        }
        EXPECT_TRUE((co_await braid::as_result(cancelled)).cancelled);
        EXPECT_EQ(co_await braid::when_any(all), 0U) << "the first one is well, and enough";
        const task_id bad[] = {failed, well};
        try {
            co_await braid::when_any(bad);
        } catch (const braid::task_failed&) {
            ++thrown;
        }
        co_await well;  // nothing of that is left
        co_return thrown;
    };
    EXPECT_EQ(braid::co_spawn(s, {}, asks()).get(), 4);
    level.wait();
    s.shut_down();
    EXPECT_EQ(s.statistics().failed, 1U);
}

}  // namespace
