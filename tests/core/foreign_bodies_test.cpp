// Bodies that a foreign thread runs itself: they may wait for anything, also for what another
// foreign thread makes, so they neither wait for a seat nor have the one that such calls share.
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include "core/control/runtime.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

namespace {

using braid_test::door;
using braid_test::until;

BRAID_SCHEDULER_TEST(ForeignBodies);

constexpr int guests = 2;

braid::scheduler_options few_guests(braid::scheduler_options o) {
    o.workers = std::min(o.workers, 2);
    o.guests = guests;
    return o;
}

/// Threads whose bodies have taken what guests there are, and more, until the door opens.
template <class Enter>
class occupants {
public:
    occupants(int count, Enter enter) : enter_(std::move(enter)) {
        for (int i = 0; i < count; ++i) threads_.emplace_back([this] { enter_(inside_, door_); });
        until([&] { return inside_ == count; });
    }
    ~occupants() {
        for (std::thread& t : threads_) t.join();
    }
    occupants(const occupants&) = delete;
    occupants& operator=(const occupants&) = delete;
    void let_go() { door_.open(); }

private:
    std::atomic<int> inside_{0};
    door door_;
    Enter enter_;
    std::vector<std::thread> threads_;
};

/// One more foreign thread makes a task, and lets the bodies go on when it has.
template <class Occupants>
void post_and_let_go(braid::scheduler& s, Occupants& all, std::atomic<bool>& ran) {
    braid::task_id id;
    std::thread poster([&] {
        id = s.spawn([&] { ran = true; });
        all.let_go();
    });
    poster.join();
    ASSERT_TRUE(id);
    s.wait(id);
}

template <class Enter>
void expect_no_hang(braid::scheduler& s, Enter enter) {
    std::atomic<bool> ran{false};
    {
        occupants<Enter> all(guests + 3, std::move(enter));
        post_and_let_go(s, all, ran);
    }
    EXPECT_TRUE(ran);
}

TEST_P(ForeignBodies, OfForkJoinMayWaitForWhatAnotherForeignThreadPosts) {
    braid::scheduler s(few_guests(options()));
    expect_no_hang(s, [&](std::atomic<int>& inside, const door& d) {
        const int sum = braid::fork_join(s, "waits", [&](braid::fork_context c) {
            ++inside;
            d.pass();
            const auto [a, b] = braid::join(c, [] { return 1; }, [] { return 2; });
            return a + b;
        });
        EXPECT_EQ(sum, 3);
    });
}

TEST_P(ForeignBodies, OfLoopsMayWaitForWhatAnotherForeignThreadPosts) {
    braid::scheduler s(few_guests(options()));
    expect_no_hang(s, [&](std::atomic<int>& inside, const door& d) {
        std::atomic<int> calls{0};
        braid::parallel_for(s, 100, [&](std::size_t i) {
            if (i == 0) {
                ++inside;
                d.pass();
            }
            ++calls;
        });
        EXPECT_EQ(calls, 100);
    });
}

TEST_P(ForeignBodies, OfPipelinesMayWaitForWhatAnotherForeignThreadPosts) {
    braid::scheduler s(few_guests(options()));
    expect_no_hang(s, [&](std::atomic<int>& inside, const door& d) {
        int next = 0, sum = 0;
        braid::pipeline(s, {.tokens = 2}, braid::serial([&]() -> std::optional<int> {
                            if (next == 0) {
                                ++inside;
                                d.pass();
                            }
                            return next < 100 ? std::optional(++next) : std::nullopt;
                        }),
                        braid::serial([&](int i) { sum += i; }));
        EXPECT_EQ(sum, 5050);
    });
}

TEST_P(ForeignBodies, OfJobListsRunInlineMayWaitForWhatAnotherForeignThreadPosts) {
    braid::scheduler s(few_guests(options()));
    braid::job_list_manager lists(s);
    struct waits {
        std::atomic<int>& inside;
        const door& d;
        int ran = 0;
    };
    const auto job = [](void* data) {
        auto& w = *static_cast<waits*>(data);
        ++w.inside;
        w.d.pass();
        ++w.ran;
    };
    lists.register_job(+job, "waits");
    expect_no_hang(s, [&](std::atomic<int>& inside, const door& d) {
        waits w{inside, d};
        braid::job_list* const list = lists.allocate({.name = "inline", .max_jobs = 1});
        ASSERT_NE(list, nullptr);
        list->add(+job, &w);
        EXPECT_TRUE(list->submit({.parallelism = braid::job_submission::inline_run}));
        EXPECT_EQ(w.ran, 1);
        list->wait();
        lists.free(list);
    });
}

TEST_P(ForeignBodies, OfAJobListRunInlineDoNotHaveTheSharedSeatBeforeTheyBegin) {
    if (GetParam() == 0) GTEST_SKIP() << "the list before it needs a worker";
    braid::scheduler s(few_guests(options()));
    braid::job_list_manager lists(s);
    const auto job = [](void* data) { static_cast<const door*>(data)->pass(); };
    lists.register_job(+job, "waits");
    braid::job_list* const first = lists.allocate({.name = "first", .max_jobs = 1});
    braid::job_list* const second = lists.allocate({.name = "second", .max_jobs = 1});
    ASSERT_TRUE(first != nullptr && second != nullptr);
    door first_may_end;
    first->add(+job, &first_may_end);
    second->add(+job, &first_may_end);
    ASSERT_TRUE(first->submit());
    expect_no_hang(s, [&, number = std::make_shared<std::atomic<int>>(0)](std::atomic<int>& inside,
                                                                          const door& d) {
        if (++*number == 1) {
            std::thread opens([&] {
                const auto& awaited = s.internals().slots.at(first->submission()).successors;
                until([&] { return (awaited.load() & braid::detail::waited_bit) != 0; });
                ++inside;
                d.pass();
                first_may_end.open();
            });
            EXPECT_TRUE(second->submit(
                {.after = {first}, .parallelism = braid::job_submission::inline_run}));
            opens.join();
            second->wait();
        } else {
            braid::fork_join(s, "waits", [&](braid::fork_context) {
                ++inside;
                d.pass();
            });
        }
    });
    first->wait();
    lists.free(first);
    lists.free(second);
}

TEST_P(ForeignBodies, LetAStragglerOfAnotherForeignThreadRunAgain) {
    if (GetParam() == 0) GTEST_SKIP() << "the node needs a worker";
    braid::scheduler_options o = few_guests(options());
    o.workers = 2;
    braid::scheduler s(o);
    braid::graph g(s);
    door first_may_end;
    std::atomic<int> attempts{0};
    g.add_idempotent(
        {.name = "stands still"},
        [&] {
            if (++attempts == 1) first_may_end.pass();
            return 1;
        },
        [](int) {});
    auto enter = [&](std::atomic<int>& inside, const door& d) {
        braid::fork_join(s, "waits", [&](braid::fork_context) {
            ++inside;
            d.pass();
        });
    };
    occupants<decltype(enter)> all(guests + 3, enter);
    std::thread runs([&] { g.run_and_wait({.rerun_after = braid::microseconds(200)}); });
    until([&] { return attempts == 2; });
    first_may_end.open();
    runs.join();
    EXPECT_EQ(g.reruns(), 1U);
    all.let_go();
}

TEST_P(ForeignBodies, DoNotKeepAShutdownByAForeignThreadFromEnding) {
    // It had the shared seat, and waited for what needed that.
    braid::scheduler_options o = few_guests(options());
    o.main_thread = nullptr;
    braid::scheduler s(o);
    auto open = s.begin({}, braid::empty);
    auto enter = [&](std::atomic<int>& inside, const door& d) {
        braid::fork_join(s, "waits", [&](braid::fork_context) {
            ++inside;
            d.pass();
        });
    };
    occupants<decltype(enter)> all(guests, enter);
    std::thread ends([&] { s.shut_down(); });
    until([&] { return !s.spawn([] {}); });
    open.finish();
    all.let_go();
    ends.join();
}

// ---- destructors in calls that have no seat but the one for which others wait ------------------

/// Calls `end` when the last copy is destroyed.
template <class End>
std::shared_ptr<void> at_end(End end) {
    return {nullptr, [end](void*) { end(); }};
}

/// Threads that are inside with all seats for which there are guests.
class no_guest_left {
public:
    explicit no_guest_left(braid::scheduler& s)
        : all_(guests, [&s](std::atomic<int>& inside, const door& d) {
              braid::fork_join(s, "inside", [&](braid::fork_context) {
                  ++inside;
                  d.pass();
              });
          }) {}
    ~no_guest_left() { all_.let_go(); }
    no_guest_left(const no_guest_left&) = delete;
    no_guest_left& operator=(const no_guest_left&) = delete;

private:
    occupants<std::function<void(std::atomic<int>&, const door&)>> all_;
};

TEST_P(ForeignBodies, ThatAreCancelledMayDestroyWhatWaitsForAnotherForeignThread) {
    braid::scheduler s(few_guests(options()));
    const no_guest_left all(s);
    std::atomic<bool> ending{false}, made{false};
    braid::task_id id;
    std::thread other([&] {
        until([&] { return ending.load(); });
        EXPECT_TRUE(s.spawn([] {}));
        made = true;
    });
    std::thread canceller([&] {
        const auto never_finished = s.begin({}, braid::empty);
        auto kept = at_end([&] {
            ending = true;
            until([&] { return made.load(); });
        });
        id = s.spawn({.after = {never_finished.id()}}, [kept = std::move(kept)] { FAIL(); });
    });
    canceller.join();
    try {
        s.wait(id);
    } catch (const braid::task_cancelled&) {
        // Only when it was still open.
    }
    EXPECT_EQ(s.state(id), braid::task_state::cancelled);
    other.join();
}

TEST_P(ForeignBodies, DestructorsOfValuesMayWaitForWhatAnotherForeignThreadSets) {
    braid::scheduler s(few_guests(options()));
    std::atomic<bool> over{false};
    for (const bool waits : {true, false}) {
        SCOPED_TRACE(waits ? "in a wait" : "in a blocking region");
        over = false;
        std::atomic<bool> ending{false}, is_set{false};
        braid::event set(s);
        auto value = s.async([&] {
            return at_end([&, waits] {
                ending = true;
                if (waits) {
                    s.do_work_while_waiting_for(set);
                } else {
                    s.blocking([&] { until([&] { return is_set.load(); }); });
                }
                over = true;
            });
        });
        value.wait();
        const no_guest_left all(s);
        std::thread other([&] {
            until([&] { return ending.load(); });
            EXPECT_TRUE(s.spawn([] {}));
            set.set();
            is_set = true;
        });
        std::thread([last = std::move(value)]() mutable { last = {}; }).join();
        other.join();
        // A worker that still held the value when the wait returned destroys it.
        until([&] { return over.load(); });
    }
}

// ---- no seat at all ----------------------------------------------------------------------------

/// A scheduler whose foreign threads find neither a seat nor memory for one.
class seatless {
public:
    explicit seatless(braid::scheduler_options o) : memory(o.memory), s(prepare(o)) {
        memory.refuse_after(0);
    }
    braid_test::refusing_memory memory;
    braid::scheduler s;

private:
    braid::scheduler_options& prepare(braid::scheduler_options& o) {
        o.workers = std::min(o.workers, 2);
        o.guests = 0;  // the first foreign call wants one
        o.memory = memory.hooks();
        return o;
    }
};

TEST_P(ForeignBodies, RunTheirPartsInTurnWhereNoSeatCanBeHad) {
    seatless one(options());
    std::thread foreign([&] {
        const std::thread::id self = std::this_thread::get_id();
        int ran = 0;
        const auto part = [&] { ran += std::this_thread::get_id() == self; };
        braid::fork_join(one.s, "serial", [&](braid::fork_context c) {
            braid::join(c, part,
                        [&](braid::fork_context inner) { braid::join(inner, part, part); });
            braid::join(part, part);  // without a context
            braid::parallel_for(c, 10, [&](std::size_t) { part(); });
        });
        EXPECT_EQ(ran, 15);
        EXPECT_THROW(braid::fork_join(one.s, "throws",
                                      [](braid::fork_context) { throw std::runtime_error("own"); }),
                     std::runtime_error);
        braid::per_worker<int> scratch(one.s);
        EXPECT_THROW(braid::parallel_for(one.s, 10, scratch, [](std::size_t, int&) {}),
                     std::bad_alloc);
    });
    foreign.join();
    EXPECT_GT(one.memory.refused(), 0);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(ForeignBodies, MayWaitForWhatAnotherForeignThreadPostsWhereNoSeatCanBeHad) {
    seatless one(options());
    expect_no_hang(one.s, [&](std::atomic<int>& inside, const door& d) {
        braid::fork_join(one.s, "waits", [&](braid::fork_context) {
            ++inside;
            d.pass();
        });
    });
    EXPECT_GT(one.memory.refused(), 0);
}

TEST_P(ForeignBodies, OfAJobListRunInlineAreRefusedWhereNoSeatCanBeHad) {
    seatless one(options());
    one.memory.give_back();
    braid::job_list_manager lists(one.s);
    std::atomic<int> ran{0};
    const auto job = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
    lists.register_job(+job, "count");
    braid::job_list* const list = lists.allocate({.name = "inline", .max_jobs = 1});
    ASSERT_NE(list, nullptr);
    list->add(+job, &ran);
    one.memory.refuse_after(0);
    std::thread foreign([&] {
        EXPECT_FALSE(list->submit({.parallelism = braid::job_submission::inline_run}));
        EXPECT_EQ(ran, 0);
        one.memory.give_back();
        EXPECT_TRUE(list->submit({.parallelism = braid::job_submission::inline_run}));
        EXPECT_EQ(ran, 1);
        list->wait();
    });
    foreign.join();
    lists.free(list);
    EXPECT_GT(one.memory.refused(), 0);
}

}  // namespace
