// A1: channels between coroutines: order, back-pressure, closing, cancellation.
#include "co_fixture.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"

#include <array>
#include <memory>
#include <numeric>

namespace {

using braid::channel;
using braid::co;
using braid::future;

class Channel : public braid_test::coroutine_test {};
INSTANTIATE_TEST_SUITE_P(Workers, Channel, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

co<> push_all(channel<int>& to, int first, int last) {
    for (int i = first; i < last; ++i) co_await to.push(i);
}

co<std::vector<int>> pop_all(channel<int>& from) {
    std::vector<int> all;
    while (true) {
        const auto one = co_await braid::as_result(from.pop());
        if (!one.value) co_return all;
        all.push_back(*one.value);
    }
}

TEST_P(Channel, HandsOnEverythingInOrderWhateverItsCapacity) {
    braid::scheduler s(options());
    for (const std::uint32_t capacity : {1U, 2U, 3U, 64U}) {
        channel<int> numbers(s, {.capacity = capacity});
        const int many = static_cast<int>(braid_test::scaled(2000));
        auto taken = braid::co_spawn(s, {}, pop_all(numbers));
        braid::co_spawn(s, {}, push_all(numbers, 0, many)).get();
        numbers.close();
        const std::vector<int> got = taken.get();
        ASSERT_EQ(got.size(), static_cast<std::size_t>(many));
        for (int i = 0; i < many; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i);
    }
    expect_all_ended(s);
}

TEST_P(Channel, ManyOnBothSidesLoseAndDoubleNothing) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 3});
    const int each = static_cast<int>(braid_test::scaled(1000));
    std::vector<future<std::vector<int>>> takers;
    std::vector<future<void>> makers;
    for (int i = 0; i < 4; ++i) takers.push_back(braid::co_spawn(s, {}, pop_all(numbers)));
    for (int i = 0; i < 4; ++i) {
        makers.push_back(braid::co_spawn(s, {}, push_all(numbers, i * each, (i + 1) * each)));
    }
    std::thread outside([&] {
        for (int i = 4 * each; i < 5 * each;) {
            if (numbers.try_push(int{i})) {
                ++i;
            } else if (GetParam() == 0) {
                run_for_a_while(s);
            }
        }
    });
    outside.join();
    for (auto& m : makers) m.get();
    numbers.close();
    std::vector<int> seen(static_cast<std::size_t>(5 * each));
    for (auto& t : takers) {
        for (const int i : t.get()) ++seen[static_cast<std::size_t>(i)];
    }
    for (const int count : seen) ASSERT_EQ(count, 1);
    expect_all_ended(s);
}

TEST_P(Channel, WhoFindsItFullWaitsUntilThereIsRoom) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 2});
    future<void> pushes = braid::co_spawn(s, {}, push_all(numbers, 0, 4));
    until_suspended(s, 1);
    EXPECT_EQ(numbers.size(), 2U);
    EXPECT_FALSE(numbers.try_push(9));
    EXPECT_EQ(numbers.try_pop(), 0);
    EXPECT_EQ(numbers.size(), 2U) << "the one that waited has its place";
    until_suspended(s, 2);
    EXPECT_EQ(numbers.try_pop(), 1);
    pushes.get();
    EXPECT_EQ(numbers.try_pop(), 2);
    EXPECT_EQ(numbers.try_pop(), 3);
    EXPECT_EQ(numbers.try_pop(), std::nullopt);
}

TEST_P(Channel, TheOldestIsDroppedWhereThatIsSaid) {
    braid::scheduler s(options());
    channel<int> latest(s, {.capacity = 2, .when_full = braid::full_channel::drops_oldest});
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(latest.try_push(int{i}));
    EXPECT_EQ(latest.dropped(), 3U);
    braid::co_spawn(s, {}, push_all(latest, 5, 6)).get();
    EXPECT_EQ(pauses_.suspended, 0U);
    EXPECT_EQ(latest.try_pop(), 4);
    EXPECT_EQ(latest.try_pop(), 5);
}

TEST_P(Channel, ThatIsClosedLetsBothSidesGo) {
    braid::scheduler s(options());
    channel<int> empty(s, {.capacity = 1}), full(s, {.capacity = 1});
    ASSERT_TRUE(full.try_push(1));
    const auto pops = [](channel<int>& from) -> co<bool> {
        try {
            co_await from.pop();
        } catch (const braid::channel_closed&) {
            co_return true;
        }
        co_return false;
    };
    const auto pushes = [](channel<int>& to) -> co<bool> { co_return co_await to.push(2); };
    future<bool> closed = braid::co_spawn(s, {}, pops(empty));
    future<bool> pushed = braid::co_spawn(s, {}, pushes(full));
    until_suspended(s, 2);
    empty.close();
    full.close();
    EXPECT_TRUE(closed.get());
    EXPECT_FALSE(pushed.get());
    EXPECT_FALSE(full.try_push(3));
    EXPECT_EQ(full.try_pop(), 1) << "what it held can be popped";
    EXPECT_EQ(full.try_pop(), std::nullopt);
    EXPECT_TRUE(full.closed());
    EXPECT_TRUE(braid::co_spawn(s, {}, pops(full)).get());
    expect_all_ended(s);
}

TEST_P(Channel, ThatEndsLetsItsWaitersGo) {
    braid::scheduler s(options());
    auto wanted = std::make_unique<channel<std::string>>(s, braid::channel_options{.capacity = 1});
    ASSERT_TRUE(wanted->try_push("left behind"));
    EXPECT_EQ(wanted->try_pop(), "left behind");
    const auto pops = [](channel<std::string>& from) -> co<bool> {
        co_return (co_await braid::as_result(from.pop())).value.has_value();
    };
    future<bool> f = braid::co_spawn(s, {}, pops(*wanted));
    until_suspended(s, 1);
    wanted.reset();
    EXPECT_FALSE(f.get());
}

TEST_P(Channel, IsTheOnlyOneThatEndsAWaitForIt) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 1});
    const auto pops = [](channel<int>& from) -> co<int> { co_return co_await from.pop(); };
    future<int> f = braid::co_spawn(s, {}, pops(numbers));
    until_suspended(s, 1);
    braid::completion_info row;
    ASSERT_EQ(s.open_completions(&row, 1), 1U);
    EXPECT_STREQ(row.name, "channel");
    EXPECT_FALSE(s.complete(row.id));
    EXPECT_FALSE(s.try_complete(row.id));
    EXPECT_FALSE(s.completed(row.id));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a wait of a coroutine ends by what"),
              2U);
    EXPECT_TRUE(numbers.try_push(3));
    EXPECT_EQ(f.get(), 3);
    EXPECT_TRUE(s.completed(row.id));
    EXPECT_FALSE(s.complete(row.id));
    expect_all_ended(s);
}

TEST_P(Channel, ACancelledWaitTakesNothing) {
    braid::scheduler s(options());
    channel<int> numbers(s, {.capacity = 1});
    braid::scope level(s);
    const auto pops = [](channel<int>& from) -> co<> { co_await from.pop(); };
    future<void> f = braid::co_spawn(s, {.within = &level}, pops(numbers));
    until_suspended(s, 1);
    level.cancel();
    EXPECT_THROW(f.get(), braid::task_cancelled);
    EXPECT_TRUE(numbers.try_push(1));
    EXPECT_EQ(numbers.size(), 1U) << "nobody waits any more";
    try {
        level.wait();
    } catch (const braid::task_cancelled&) {
    }
}

TEST_P(Channel, AValueThatHasComeIsNotLostInACancellation) {
    braid::scheduler s(options());
    const int rounds = static_cast<int>(braid_test::scaled(300));
    int received = 0, left = 0;
    for (int i = 0; i < rounds; ++i) {
        channel<int> numbers(s, {.capacity = 1});
        braid::scope level(s);
        std::atomic<int> got{0};
        const auto pops = [](channel<int>& from, std::atomic<int>& count) -> co<> {
            const auto one = co_await braid::as_result(from.pop());
            count += one.value.has_value();
        };
        future<void> f = braid::co_spawn(s, {.within = &level}, pops(numbers, got));
        std::thread cancels([&] { level.cancel(); });
        EXPECT_TRUE(numbers.try_push(1));
        cancels.join();
        try {
            f.get();
        } catch (const std::exception&) {  // it had not begun
        }
        level.wait();
        received += got;
        left += numbers.try_pop().has_value();
    }
    EXPECT_EQ(received + left, rounds);
    expect_all_ended(s);
}

TEST_P(Channel, WithoutMemoryItIsClosedAndItsNumbersHaveARange) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    channel<char> least(s, {.capacity = 0});
    EXPECT_TRUE(least.try_push('a'));
    EXPECT_FALSE(least.try_push('b')) << "it counts as 1";
    const std::size_t before = s.bytes(braid::memory_tag::closure);
    {
        channel<char> most(s, {.capacity = UINT32_MAX});
        EXPECT_EQ(s.bytes(braid::memory_tag::closure) - before, std::size_t{1} << 20);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "channel_options::capacity"), 2U);
    memory.refuse_after(0);
    channel<int> none(s);
    EXPECT_TRUE(none.closed());
    EXPECT_FALSE(none.try_push(1));
    EXPECT_EQ(none.try_pop(), std::nullopt);
    memory.give_back();
}

TEST_P(Channel, IsNamedByWhoWaitsThere) {
    braid::scheduler s(options());
    channel<int> wanted(s, {.name = "wanted"});
    const auto pops = [](channel<int>& from) -> co<int> { co_return co_await from.pop(); };
    future<int> f = braid::co_spawn(s, {.name = "loads"}, pops(wanted));
    until_suspended(s, 1);
    std::array<braid::completion_info, 4> rows;
    ASSERT_EQ(s.open_completions(rows.data(), rows.size()), 1U);
    EXPECT_STREQ(rows[0].name, "wanted");
    EXPECT_STREQ(rows[0].task_name, "loads");
    EXPECT_TRUE(wanted.try_push(5));
    EXPECT_EQ(f.get(), 5);
}

}  // namespace
