// A1: who has claimed a completion stands still before it drops its share, where observers hear
// `settled`; meanwhile everybody else who could settle it comes, and is late.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>

#include <atomic>
#include <thread>

namespace {

using braid::completion_id;
using braid::task_context;

/// Holds up the first that settles.
class pause final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::settled || is_used_.exchange(true)) return;
        began.open();
        ends.pass();
    }
    braid_test::door began, ends;

private:
    std::atomic<bool> is_used_{false};
};

class CompletionPause : public braid_test::scheduler_test {
protected:
    braid::scheduler_options observed() {
        braid::scheduler_options o = options();
        o.observer = &pause_;
        return o;
    }
    /// One that a task of `level` has deferred.
    braid::future<void> defer(braid::scheduler& s, braid::scope& level,
                              braid::nanoseconds deadline = braid::no_limit) {
        braid::future<void> made =
            s.async({.within = &level}, [this, deadline](task_context& task) {
                const completion_id c =
                    task.defer({.name = "disk", .deadline = deadline, .cancel = {&ask, &asked_}});
                id_ = c.value;
                is_armed_.open();
            });
        task_ = made.id();
        return made;
    }
    static bool ask(void* asked, completion_id) {
        ++*static_cast<std::atomic<int>*>(asked);
        return true;
    }
    completion_id armed() {
        is_armed_.pass();
        return {id_};
    }
    /// All others that could settle it come while the first one stands; its hint was asked so
    /// often.
    void others_come(braid::scheduler& s, braid::scope& level, int asked) {
        pause_.began.pass();
        armed();  // a deadline may be quicker than the body
        EXPECT_FALSE(s.complete({id_}));
        EXPECT_FALSE(s.complete({id_}, {.code = 7}));
        EXPECT_FALSE(s.try_complete({id_}));
        EXPECT_TRUE(s.completed({id_}));
        level.cancel();
        EXPECT_FALSE(s.done(task_)) << "it is open until the share is dropped";
        EXPECT_EQ(asked_, asked);
    }
    /// Afterwards.
    void expect_once(braid::scheduler& s, braid::scope& level, int asked) {
        level.wait();  // who has the value of its task may be earlier than its account
        EXPECT_EQ(asked_, asked);
        expect_all_ended(s);
        EXPECT_EQ(s.statistics().settled, 1U);
        EXPECT_EQ(s.open_completions(nullptr, 0), 0U);
    }

    pause pause_;
    braid::task_id task_;
    braid_test::door is_armed_;
    std::atomic<std::uint64_t> id_{0};
    std::atomic<int> asked_{0};
};
INSTANTIATE_TEST_SUITE_P(Workers, CompletionPause, testing::ValuesIn(braid_test::worker_counts()));

TEST_P(CompletionPause, OutsideIsFirst) {
    braid::scheduler s(observed());
    braid::scope level(s);
    braid::future<void> done = defer(s, level);
    std::thread outside([&] { EXPECT_TRUE(s.complete(armed())); });
    std::thread others([&] {
        others_come(s, level, 0);
        pause_.ends.open();
    });
    EXPECT_NO_THROW(done.get());
    outside.join();
    others.join();
    expect_once(s, level, 0);
}

TEST_P(CompletionPause, ItsDeadlineIsFirst) {
    braid::scheduler s(observed());
    braid::scope level(s);
    braid::future<void> done = defer(s, level, braid::milliseconds(1));
    std::thread others([&] {
        others_come(s, level, 1);
        pause_.ends.open();
    });
    EXPECT_THROW(done.get(), braid::completion_error);
    others.join();
    expect_once(s, level, 1);
}

TEST_P(CompletionPause, ACancellationIsFirst) {
    braid::scheduler s(observed());
    braid::scope level(s);
    braid::future<void> done = defer(s, level);
    std::thread others([&] {
        armed();
        level.cancel();
        others_come(s, level, 1);
        pause_.ends.open();
    });
    EXPECT_THROW(done.get(), braid::broken_promise);
    others.join();
    expect_once(s, level, 1);
}

TEST_P(CompletionPause, ADiscardingShutdownIsFirst) {
    braid::scheduler s(observed());
    braid::scope level(s);
    braid::future<void> done = defer(s, level);
    std::thread others([&] {
        others_come(s, level, 1);
        pause_.ends.open();
    });
    if (GetParam() == 0) s.wait_for(done.id(), braid::nanoseconds(0));  // it defers
    armed();
    s.shut_down(braid::shutdown::discard);
    EXPECT_THROW(done.get(), braid::broken_promise);
    others.join();
    expect_once(s, level, 1);
}

TEST_P(CompletionPause, AShutdownThatComesMeanwhileWaits) {
    braid::scheduler s(observed());
    braid::scope level(s);
    braid::future<void> done = defer(s, level);
    std::thread outside([&] { EXPECT_TRUE(s.complete(armed())); });
    std::atomic<bool> is_over{false};
    std::thread others([&] {
        others_come(s, level, 0);
        braid_test::until([&] { return !s.try_post([](void*) {}, nullptr); });  // it has begun
        EXPECT_FALSE(is_over);
        pause_.ends.open();
    });
    if (GetParam() == 0) s.wait_for(done.id(), braid::nanoseconds(0));  // it defers
    pause_.began.pass();
    s.shut_down(braid::shutdown::discard);
    is_over = true;
    EXPECT_NO_THROW(done.get());
    outside.join();
    others.join();
    expect_once(s, level, 0);
}

}  // namespace
