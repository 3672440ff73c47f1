// A coroutine of one scheduler awaits what another one has: channels, events and frames let it go
// on, futures and files are refused with a sentence.
#include <braid/frame/frame_stage.hpp>
#include <braid/frame/next_frame.hpp>

#include "co_fixture.hpp"

#include <memory>
#include <optional>
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

TEST_P(TwoSchedulers, CancelledWhileTheChannelAndItsSchedulerEndTouchNeither) {
    // The question whether it may be cancelled is asked in the next wait, after the channel and its
    // lock have gone.
    braid::scheduler there(options());
    auto here = std::make_unique<braid::scheduler>(options());
    auto numbers = std::make_unique<channel<int>>(*here);
    braid::scope group(there);
    const auto take = [](channel<int>& from) -> co<int> { co_return co_await from.pop(); };
    auto taken = braid::co_spawn(there, {.within = &group}, take(*numbers));
    until_suspended(there, 1);
    group.cancel();
    numbers.reset();
    here.reset();
    bool well = true;
    try {
        taken.get();
    } catch (const braid::task_cancelled&) {
        well = false;
    } catch (const braid::channel_closed&) {
        well = false;
    }
    EXPECT_FALSE(well);
}

TEST_P(TwoSchedulers, AwaitTheNextFrameOfTheOther) {
    braid::scheduler here(options()), there(options());
    std::optional<braid::frame_loop> loop(std::in_place, here);
    std::optional<braid::frame_stage> stage(std::in_place, *loop,
                                            braid::stage_options{.name = "stage"});
    stage->add([](const braid::frame_context&) {});
    const auto waits = [](braid::frame_loop& of) -> co<std::uint64_t> {
        co_return co_await braid::next_frame(of);
    };
    auto first = braid::co_spawn(there, {}, waits(*loop));
    until_suspended(there, 1);
    until_on_both(here, there, [&] {
        loop->advance();
        return first.ready();
    });
    EXPECT_GT(first.get(), 0U);
    auto last = braid::co_spawn(there, {}, waits(*loop));
    until_suspended(there, 2);
    stage.reset();
    loop.reset();
    EXPECT_EQ(last.get(), 0U) << "there is no next one";
}

class ForeignFutures : public braid_test::coroutine_test {
protected:
    /// Whether `await(future)` in a coroutine of another scheduler is refused.
    template <class Await>
    void expect_refused(Await&& await) {
        for (const bool ends_first : {false, true}) {
            const std::size_t before = notes_.count(&recorder::misuse, "future is another");
            braid::scheduler here(options()), there(options());
            auto value = here.begin({}, braid::empty);
            auto follows = here.async({.after = {value.id()}}, [] { return 1; });
            if (ends_first) {
                value.finish();
                follows.wait();
            }
            auto got = braid::co_spawn(there, {}, await(there, follows));
            EXPECT_THROW(got.get(), braid::task_cancelled) << ends_first;
            EXPECT_EQ(notes_.count(&recorder::misuse, "future is another"), before + 1);
            if (!ends_first) value.finish();
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, ForeignFutures, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(ForeignFutures, AreNotAwaited) {
    expect_refused([](braid::scheduler&, braid::future<int>& f) -> co<int> {
        co_return co_await std::move(f);
    });
}

TEST_P(ForeignFutures, AreNotAwaitedAmongAll) {
    expect_refused(
        [](braid::scheduler&, braid::future<int>& f) -> co<> { co_await braid::when_all({f, f}); });
}

TEST_P(ForeignFutures, AreNotAwaitedBesideOwnOnes) {
    expect_refused([](braid::scheduler& there, braid::future<int>& f) -> co<> {
        auto own = there.async([] { return 1; });
        co_await braid::when_any({own, f});
    });
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
