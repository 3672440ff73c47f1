// Tasks that take no time are timed by eights.
#include "core/control/runtime.hpp"

#include "braid/braid.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid::active_policy;

TEST(SeldomClock, OfEmptyTasksEveryEighthIsTimedAndEachAgainOnceTheClockMoves) {
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 0});
    const braid::detail::whole_seat& here = *s.internals().bound();
    for (int i = 0; i < 3; ++i) {
        // Most often at once; the clock may move meanwhile.
        braid_test::until([&] {
            braid::scope all(s);
            for (int n = 0; n < 64; ++n) all.spawn({}, [] {});
            all.wait();
            return here.report.time_each == 8;
        });
        s.wait(s.spawn({.may_be_long = true}, [] {
            const std::int64_t start = active_policy::coarse_now();
            while (active_policy::coarse_now() == start) {
            }
        }));
        EXPECT_EQ(here.report.time_each, 1U);
    }
}

}  // namespace
