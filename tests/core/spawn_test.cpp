// C2, C6: any number of producers, and ids that never lie.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(Spawn);

TEST_P(Spawn, FromTasksAndForeignThreadsRunsEachExactlyOnce) {
    // H6: the original had one producer; a task that pushed raced with it.
    constexpr std::size_t producers = 4;
    const std::size_t each = scaled(10'000);
    std::vector<std::atomic<unsigned char>> runs(producers * each * 2);
    {
        braid::scheduler s(options());
        braid::scope all(s);
        std::vector<std::thread> threads;
        for (std::size_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                for (std::size_t i = 0; i < each; ++i) {
                    const std::size_t n = (p * each + i) * 2;
                    all.post([&runs, &s, n] {
                        ++runs[n];
                        s.spawn([&runs, n] { ++runs[n + 1]; });
                    });
                }
            });
        }
        for (std::thread& t : threads) t.join();
        all.wait();
        expect_all_ended(s);
    }
    EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
}

TEST_P(Spawn, BeyondTheRingLosesNothing) {
    // H5: an overflow was an assertion; in release builds 255 entries were lost.
    braid::scheduler_options o = options();
    o.ring = 2;
    std::atomic<std::size_t> ran{0};
    const std::size_t count = scaled(2'000);
    {
        braid::scheduler s(o);
        s.wait(s.spawn([&](braid::task_context& task) {
            for (std::size_t i = 0; i < count; ++i) task.post([&ran] { ++ran; });
        }));
        s.shut_down();
        EXPECT_GT(s.statistics().spilled, 0U);
        expect_all_ended(s);
    }
    EXPECT_EQ(ran, count);
}

TEST_P(Spawn, BeyondTheRingWhileEveryWorkerIsBusyLosesNothing) {
    // H5: push 256 with the workers paused.
    braid::scheduler_options o = options();
    o.ring = 2;
    braid_test::door go;
    std::atomic<int> busy{0};
    std::atomic<int> ran{0};
    {
        braid::scheduler s(o);
        for (int i = 0; i < GetParam(); ++i) {
            s.post([&] {
                ++busy;
                go.pass();
            });
        }
        braid_test::until([&] { return busy == GetParam(); });
        for (int i = 0; i < 256; ++i) s.post([&ran] { ++ran; });
        EXPECT_EQ(ran, 0) << "some worker was not busy";
        go.open();
    }
    EXPECT_EQ(ran, 256);
}

TEST_P(Spawn, TryPostRefusesWhenThereIsNoRoomAndLosesNothing) {
    braid::scheduler_options o = options();
    o.ring = 4;
    std::atomic<int> ran{0};
    int accepted = 0;
    int refused = 0;
    {
        braid::scheduler s(o);
        const braid::task_id busy = s.spawn([&] {
            for (int i = 0; i < 200; ++i) {
                const bool taken =
                    s.try_post([](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &ran);
                ++(taken ? accepted : refused);
            }
        });
        s.wait(busy);
    }
    EXPECT_EQ(ran, accepted);
    EXPECT_EQ(accepted + refused, 200);
    if (GetParam() == 0) {
        EXPECT_EQ(accepted, 4);
    }
}

BRAID_SCHEDULER_TEST(Ids);

TEST_P(Ids, AFinishedIdReadsDoneForEver) {
    braid::scheduler s(options());
    const braid::task_id first = s.spawn([] {});
    EXPECT_TRUE(first);
    s.wait(first);
    EXPECT_EQ(s.state(first), braid::task_state::done);
    for (int i = 0; i < 1000; ++i) {
        const braid::task_id id = s.spawn([] {});
        EXPECT_NE(id, first);
        s.wait(id);
    }
    EXPECT_EQ(s.state(first), braid::task_state::done);
    s.wait(first);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(Ids, AnOpenIdReadsOpen) {
    braid::scheduler s(options());
    auto built = s.begin({}, braid::empty);
    EXPECT_EQ(s.state(built.id()), braid::task_state::open);
    const braid::task_id id = built.finish();
    s.wait(id);
    EXPECT_EQ(s.state(id), braid::task_state::done);
}

TEST_P(Ids, AnIdThatWasNeverIssuedIsReported) {
    // B2: an unknown id read as done.
    braid::scheduler s(options());
    const braid::task_id known = s.spawn([] {});
    s.wait(known);
    const braid::task_id next_generation{known.value + (std::uint64_t{1} << 32)};
    const braid::task_id no_such_slot{known.value | 0xfff0'0000};
    const braid::task_id generation_zero{known.value & 0xffff'ffff};
    for (const braid::task_id id : {next_generation, no_such_slot, generation_zero}) {
        SCOPED_TRACE(id.value);
        if (!id) continue;  // slot 0, generation 0 is the empty id
        EXPECT_EQ(s.state(id), braid::task_state::unknown);
        const std::size_t before = notes_.count(&braid_test::recorder::misuse);
        s.wait(id);
        EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), before + 1);
        EXPECT_FALSE(s.spawn({.after = {id}}, [] {}));
        EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), before + 2);
    }
}

TEST_P(Ids, TheEmptyIdIsNothingToWaitFor) {
    braid::scheduler s(options());
    s.wait({});
    EXPECT_TRUE(s.wait_for({}, braid::milliseconds(1)));
    EXPECT_EQ(s.state({}), braid::task_state::unknown);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(Ids, TwoToTheThirtyTwoReusesOfASlotRetireItAndNoIdComesBack) {
    // B2, D6: an index or id that wraps. The slot starts three uses before its last generation.
    braid::scheduler_options o = options();
    o.workers = 0;  // one thread: the slot that was freed last is used next
    braid::scheduler s(o);
    braid::detail::runtime& rt = s.internals();
    const braid::task_id first = s.spawn([] {});
    s.wait(first);
    const std::uint32_t index = braid::detail::index_of(first.value);
    braid::detail::slot& slot = rt.slots.at(index);
    constexpr std::uint32_t last = braid::detail::last_generation;
    slot.open = braid::detail::join_word(last - 3, 0);
    slot.successors = braid::detail::join_word(last - 3, braid::detail::list_closed);

    std::vector<braid::task_id> ids{first};
    for (int i = 0; i < 100; ++i) {
        const braid::task_id id = s.spawn([] {});
        s.wait(id);
        ids.push_back(id);
    }
    const auto uses = std::count_if(ids.begin() + 1, ids.end(), [&](braid::task_id id) {
        return braid::detail::index_of(id.value) == index;
    });
    EXPECT_EQ(uses, 3);
    EXPECT_EQ(slot.generation(), last);
    std::vector<braid::task_id> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    for (const braid::task_id id : ids) EXPECT_EQ(s.state(id), braid::task_state::done);
}

TEST_P(Ids, ASlotInItsLastGenerationIsRetiredAlsoWhenTheTaskIsRefused) {
    braid::scheduler_options o = options();
    o.workers = 0;
    o.ring = 2;
    std::atomic<int> ran{0};
    braid::scheduler s(o);
    braid::detail::runtime& rt = s.internals();
    const braid::task_id first = s.spawn([] {});
    s.wait(first);
    const std::uint32_t index = braid::detail::index_of(first.value);
    const auto post = [&] {
        return s.try_post([](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &ran);
    };
    // Two fill the ring; the third is refused with the slot in its last generation.
    const braid::task_id a = s.spawn([] {});
    const braid::task_id b = s.spawn([] {});
    const braid::task_id c = s.spawn([] {});
    s.wait(a);
    s.wait(b);
    s.wait(c);
    while (post()) {
    }
    const braid::detail::pool_cache& cache = rt.bound()->slots;
    ASSERT_NE(cache.count, 0U);
    const std::uint32_t free_slot = cache.free[cache.count - 1];
    braid::detail::slot& slot = rt.slots.at(free_slot);
    constexpr std::uint32_t last = braid::detail::last_generation;
    slot.open = braid::detail::join_word(last - 1, 0);
    slot.successors = braid::detail::join_word(last - 1, braid::detail::list_closed);
    EXPECT_FALSE(post());
    EXPECT_EQ(slot.generation(), last);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(post());
    EXPECT_EQ(slot.generation(), last) << "slot " << index << " wrapped";
}

}  // namespace
