// A1: completions of scopes that are cancelled, or fail.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include "core/control/runtime.hpp"

namespace {

using braid::completion_error;
using braid::completion_id;
using braid::task_context;
using braid::task_id;

BRAID_SCHEDULER_TEST(CompletionOfScope);

/// Also without workers.
template <class Happened>
void work_until(braid::scheduler& s, Happened&& happened) {
    while (!happened()) {
        braid::event never(s);
        s.do_work_while_waiting_for(never, braid::microseconds(50));
    }
}
/// Nobody may have been left behind.
void expect_all_settled(const braid::scheduler& s) {
    EXPECT_EQ(s.statistics().created, s.statistics().ended());
    EXPECT_EQ(s.statistics().deferred, s.statistics().settled);
    EXPECT_EQ(s.open_completions(nullptr, 0), 0U);
}

TEST_P(CompletionOfScope, ThatWasAskedAndGoesOnEndsWithItsLastChild) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> armed{0};
    std::atomic<int> asked{0};
    braid::scope level(s);
    const task_id id = level.spawn({}, [&](task_context& task) {
        armed = task.defer({.cancel = {[](void* data, completion_id) {
                                           ++*static_cast<std::atomic<int>*>(data);
                                           return false;
                                       },
                                       &asked}})
                    .value;
    });
    work_until(s, [&] { return armed != 0; });
    const completion_id c{armed};
    level.cancel();
    // Asked, and the question's share is gone.
    const auto& word = s.internals().slots.at(c.task()).open;
    work_until(s, [&] {
        return asked == 1 &&
               (braid::detail::index_of(word.load()) & braid::detail::share_bits) == 1;
    });
    auto child = s.begin({.parent = c.task()}, braid::empty);
    EXPECT_TRUE(s.complete(c));
    EXPECT_FALSE(s.done(c.task())) << "a child of it is open";
    EXPECT_FALSE(s.done(id));
    child.finish();
    level.wait();
    EXPECT_TRUE(s.done(c.task()));
    EXPECT_EQ(asked, 1);
    expect_all_settled(s);
}

TEST_P(CompletionOfScope, OnlyTheFirstOfManyFailuresInAFailFastScopeLooksForOpenOnes) {
    // If each looked at all that are open, that would last beyond the time that is given.
    const braid_test::deadline soon(braid_test::hang_limit / 2);
    braid::scheduler s(options());
    braid::scope level(s, braid::on_failure::cancel), other(s);
    const std::size_t many = braid_test::scaled(100'000);
    std::vector<completion_id> open;
    std::atomic<bool> all_open{false};
    const task_id waits = other.spawn({}, [&](task_context& task) {
        for (std::size_t i = 0; i < many; ++i) open.push_back(task.defer());
        all_open = true;
    });
    work_until(s, [&] { return all_open.load(); });
    std::atomic<int> asked{0};
    level.spawn({}, [&](task_context& task) {
        const braid::completion_hint goes_on{[](void* data, completion_id) {
                                                 ++*static_cast<std::atomic<int>*>(data);
                                                 return false;
                                             },
                                             &asked};
        std::vector<completion_id> before(10);
        for (completion_id& c : before) c = task.defer({.cancel = goes_on});
        for (std::size_t i = 0; i < many; ++i) s.complete(task.defer(), {.code = 1});
        for (const completion_id c : before) EXPECT_TRUE(s.complete(c, {.code = 1}));
    });
    EXPECT_THROW(level.wait(), completion_error);
    EXPECT_FALSE(s.done(waits)) << "another scope";
    for (const completion_id c : open) EXPECT_TRUE(s.complete(c));
    s.wait(waits);
    expect_all_settled(s);
}

}  // namespace
