// A coroutine of one scheduler awaits what another one has: channels, events and frames let it go
// on, futures and files are refused with a sentence.
#include "co_fixture.hpp"

#include <memory>
#include <vector>

namespace {

using braid::channel;
using braid::co;
using braid_test::recorder;

BRAID_COROUTINE_TEST(TwoSchedulers);

/// Lets the tasks of both go on, also where there are no workers.
template <class Condition>
void until_on_both(braid::scheduler& a, braid::scheduler& b, Condition&& condition) {
    while (!condition()) {
        for (braid::scheduler* s : {&a, &b}) {
            braid::event never(*s);
            s->do_work_while_waiting_for(never, braid::microseconds(50));
        }
    }
}

TEST_P(TwoSchedulers, HandOnEverythingThroughAChannelOfOneOfThem) {
    braid::scheduler here(options()), there(options());
    channel<int> numbers(here, {.capacity = 1});
    const int many = static_cast<int>(braid_test::scaled(500));
    std::vector<int> got;
    const auto take_all = [](channel<int>& from, int count, std::vector<int>& to) -> co<> {
        while (count-- != 0) to.push_back(co_await from.pop());
    };
    const auto give_all = [](channel<int>& to, int count) -> co<> {
        for (int i = 0; i != count; ++i) co_await to.push(i);
    };
    auto taken = braid::co_spawn(there, {}, take_all(numbers, many, got));
    auto given = braid::co_spawn(here, {}, give_all(numbers, many));
    until_on_both(here, there, [&] { return taken.ready() && given.ready(); });
    taken.get();
    given.get();
    ASSERT_EQ(got.size(), static_cast<std::size_t>(many));
    for (int i = 0; i != many; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(notes_.count(&recorder::misuse), 0U);
}

TEST_P(TwoSchedulers, PushIntoAFullChannelOfTheOther) {
    braid::scheduler here(options()), there(options());
    channel<int> numbers(here, {.capacity = 1});
    ASSERT_TRUE(numbers.try_push(1));
    const auto give = [](channel<int>& to) -> co<bool> { co_return co_await to.push(2); };
    auto given = braid::co_spawn(there, {}, give(numbers));
    until_suspended(there, 1);
    EXPECT_EQ(numbers.try_pop(), 1);
    EXPECT_TRUE(given.get());
    EXPECT_EQ(numbers.try_pop(), 2);
}

TEST_P(TwoSchedulers, LearnThatAChannelOfTheOtherIsClosed) {
    braid::scheduler here(options()), there(options());
    auto numbers = std::make_unique<channel<int>>(here);
    const auto take = [](channel<int>& from) -> co<> { co_await from.pop(); };
    auto taken = braid::co_spawn(there, {}, take(*numbers));
    until_suspended(there, 1);
    numbers.reset();
    EXPECT_THROW(taken.get(), braid::channel_closed);
}

TEST_P(TwoSchedulers, LeaveAChannelOfTheOtherWhenTheyEndFirst) {
    braid::scheduler here(options());
    channel<int> numbers(here, {.capacity = 1});
    {
        braid::scheduler there(options());
        const auto take = [](channel<int>& from) -> co<int> { co_return co_await from.pop(); };
        auto taken = braid::co_spawn(there, {}, take(numbers));
        until_suspended(there, 1);
        there.shut_down(braid::shutdown::discard);
        EXPECT_THROW(taken.get(), braid::task_cancelled);
    }
    EXPECT_TRUE(numbers.try_push(1)) << "nobody waits for it any more";
    EXPECT_EQ(numbers.size(), 1U);
}

TEST_P(TwoSchedulers, AwaitAnEventOfTheOther) {
    for (const auto mode : {braid::reset::manual, braid::reset::automatic}) {
        braid::scheduler here(options()), there(options());
        braid::event loaded(here, mode);
        const auto await = [](braid::event& e) -> co<> { co_await e; };
        const unsigned before = pauses_.suspended;
        auto done = braid::co_spawn(there, {}, await(loaded));
        until_suspended(there, before + 1);
        EXPECT_FALSE(done.ready());
        loaded.set();
        done.get();
        EXPECT_EQ(loaded.is_set(), mode == braid::reset::manual);
    }
    EXPECT_EQ(notes_.count(&recorder::misuse), 0U);
}

TEST_P(TwoSchedulers, LeaveAnEventOfTheOtherWhenTheyAreCancelled) {
    braid::scheduler here(options()), there(options());
    braid::event loaded(here, braid::reset::automatic);
    braid::scope group(there);
    const auto await = [](braid::event& e) -> co<> { co_await e; };
    auto done = braid::co_spawn(there, {.within = &group}, await(loaded));
    until_suspended(there, 1);
    group.cancel();
    EXPECT_THROW(done.get(), braid::task_cancelled);
    group.wait();
    loaded.set();
    EXPECT_TRUE(loaded.is_set()) << "nobody takes it any more";
}

TEST_P(TwoSchedulers, RefuseToAwaitAFutureOfTheOther) {
    braid::scheduler here(options()), there(options());
    braid::event go(here);
    auto value = here.async({.name = "value"}, [&here, &go] {
        here.do_work_while_waiting_for(go);
        return 1;
    });
    const auto await = [](braid::future<int> f) -> co<int> { co_return co_await std::move(f); };
    auto got = braid::co_spawn(there, {}, await(std::move(value)));
    EXPECT_THROW(got.get(), braid::task_cancelled) << "before the other one has ended";
    EXPECT_EQ(notes_.count(&recorder::misuse, "future is another scheduler's"), 1U);
    go.set();
    here.shut_down();
    expect_all_ended(here);
    expect_all_ended(there);
}

TEST_P(TwoSchedulers, RefuseToReadByAReaderOfTheOther) {
    braid::scheduler here(options()), there(options());
    braid::file_reader files(here);
    const auto read = [](braid::file_reader& from) -> co<int> {
        const braid::file self("/proc/self/exe");
        std::byte bytes[16];
        const auto r = co_await braid::as_result(from.read(self, 0, bytes, {.name = "elf"}));
        try {
            if (r.error) std::rethrow_exception(r.error);
        } catch (const braid::completion_error& e) {
            co_return braid_test::says(e, "the file_reader is another scheduler's") ? 1 : 2;
        }
        co_return 0;
    };
    auto opened = braid::co_spawn(there, {}, read(files));
    until_on_both(here, there, [&] { return opened.ready(); });
    EXPECT_EQ(opened.get(), 1);
}

TEST_P(TwoSchedulers, RefuseToGoOnAtAThreadOfTheOther) {
    braid::scheduler here(options()), there(options());
    ASSERT_TRUE(here.this_thread());
    const auto move = [](braid::thread_ref to) -> co<> { co_await braid::resume_on(to); };
    auto moved = braid::co_spawn(there, {}, move(here.this_thread()));
    moved.get();
    EXPECT_EQ(notes_.count(&recorder::misuse, "thread of another scheduler"), 1U);
}

}  // namespace
