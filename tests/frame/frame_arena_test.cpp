// F3, F4: memory of a frame, allocated in parallel; handles that know their frame.
#include <braid/frame/frame_arena.hpp>
#include <braid/frame/frame_loop.hpp>

#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(FrameArena);

struct piece {
    std::uintptr_t at;
    std::size_t bytes;
};

TEST_P(FrameArena, HandsOutDisjointMemoryToAllThreadsAtOnce) {
    braid::scheduler s(options());
    braid::frame_arena arena(s, {.block_bytes = 64 << 10});
    const std::size_t count = scaled(40'000);
    std::vector<piece> pieces(count);
    for (std::uint64_t frame = 1; frame <= 4; ++frame) {
        arena.reset(frame);
        braid::parallel_for(s, count, [&](std::size_t i) {
            const std::size_t bytes = 1 + i * 7 % 90 + (i % 500 == 0 ? 3000 : 0);
            const std::size_t alignment = std::size_t{1} << i % 9;  // up to 256
            void* p = arena.allocate(bytes, alignment);
            pieces[i] = {reinterpret_cast<std::uintptr_t>(p), bytes};
            // Written by one and read by none: ThreadSanitizer sees memory that two have.
            std::memset(p, static_cast<int>(i), bytes);
        });
        std::size_t sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto* p = reinterpret_cast<const unsigned char*>(pieces[i].at);
            ASSERT_EQ(pieces[i].at % (std::size_t{1} << i % 9), 0U);
            ASSERT_TRUE(
                std::all_of(p, p + pieces[i].bytes, [i](unsigned char c) { return c == i % 256; }));
            sum += pieces[i].bytes;
        }
        std::sort(pieces.begin(), pieces.end(), [](piece a, piece b) { return a.at < b.at; });
        for (std::size_t i = 1; i < count; ++i) {
            ASSERT_LE(pieces[i - 1].at + pieces[i - 1].bytes, pieces[i].at);
        }
        EXPECT_GE(arena.statistics().used, sum);
        EXPECT_LE(arena.statistics().used, arena.statistics().reserved);
    }
}

TEST_P(FrameArena, AfterALargeRequestThatWasRefusedSmallOnesAreServed) {
    braid::scheduler s(options());
    braid::frame_arena arena(s, {.block_bytes = 16 << 10, .limit_bytes = 40 << 10});
    const auto on_any_thread = [&](auto&& allocate) {
        allocate();
        std::thread(allocate).join();  // not by a chunk
    };
    on_any_thread([&] { ASSERT_NE(arena.allocate(100), nullptr); });
    for (const std::size_t large : {std::size_t{64} << 10, std::size_t{1} << 30, SIZE_MAX / 4,
                                    SIZE_MAX / 4 + 1, SIZE_MAX - 1, SIZE_MAX}) {
        EXPECT_EQ(arena.allocate(large), nullptr);
        EXPECT_EQ(arena.allocate(1, std::bit_floor(large)), nullptr);
        on_any_thread([&] { EXPECT_NE(arena.allocate(100), nullptr) << large; });
    }
    EXPECT_EQ(arena.statistics().refused, 12U);
    EXPECT_LE(arena.statistics().used, std::size_t{16} << 10);
}

TEST_P(FrameArena, HandsNothingOutTwiceAfterRequestsOfAQuarterOfAllNumbers) {
    braid::scheduler s(options());
    braid::frame_arena arena(s, {.block_bytes = 16 << 10, .limit_bytes = 16 << 10});
    auto* const mine = static_cast<unsigned char*>(arena.allocate(2'000));
    ASSERT_NE(mine, nullptr);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(arena.allocate(std::size_t{1} << 62), nullptr);
    for (int i = 0; i < 20; ++i) {
        auto* const other = static_cast<unsigned char*>(arena.allocate(1'500));
        if (other == nullptr) break;
        EXPECT_TRUE(other + 1'500 <= mine || mine + 2'000 <= other);
    }
    EXPECT_LE(arena.statistics().used, std::size_t{16} << 10);
}

TEST_P(FrameArena, UsesALimitThatIsSmallerThanABlockToItsEnd) {
    braid::scheduler s(options());
    for (const std::size_t block : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20,
                                    braid::frame_arena_options::most_block_bytes - 1, SIZE_MAX}) {
        braid::frame_arena arena(s, {.block_bytes = block, .limit_bytes = 10'000});
        std::size_t got = 0;
        while (arena.allocate(64, 64) != nullptr) got += 64;
        EXPECT_GE(got, block < 4096 ? 8'000U : 9'500U) << block;
        EXPECT_LE(arena.statistics().reserved, 10'000U);
        arena.reset(1);
        EXPECT_NE(arena.allocate(4'000), nullptr);
    }
    for (const std::size_t limit : {std::size_t{1}, std::size_t{100}, SIZE_MAX - 1, SIZE_MAX}) {
        braid::frame_arena arena(s, {.limit_bytes = limit});
        EXPECT_EQ(arena.allocate(0) != nullptr, limit > 100) << limit;
        EXPECT_EQ(arena.allocate(0) == arena.allocate(0), limit <= 100);
    }
}

TEST_P(FrameArena, WithoutMemoryForItselfRefusesAndDoesNothing) {
    braid::scheduler_options o = options();
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    memory.refuse_after(0);
    braid::frame_arena arena(s);
    memory.give_back();
    EXPECT_EQ(memory.refused(), 1);
    EXPECT_EQ(arena.allocate(1), nullptr);
    arena.reset(7);
    EXPECT_EQ(arena.frame(), 0U);
    EXPECT_EQ(arena.statistics().used, 0U);
}

TEST_P(FrameArena, ThreadsOutsideTheSchedulerMayAllocateToo) {
    braid::scheduler s(options());
    braid::frame_arena arena(s);
    std::vector<std::uint64_t*> mine(4 * 200);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = t * 200; i < (t + 1) * 200; ++i) {
                mine[i] = arena.make<std::uint64_t>(i);
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(*mine[i], i);
}

TEST_P(FrameArena, TakesNothingBeforeItIsUsedAndNothingMoreOnceAFrameFits) {
    braid::scheduler s(options());
    {
        braid::frame_arena arena(s, {.name = "scratch", .block_bytes = 16 << 10});
        EXPECT_EQ(arena.statistics().reserved, 0U);
        const auto frame = [&](std::uint64_t number, std::size_t bytes) {
            arena.reset(number);
            for (std::size_t i = 0; i < bytes; i += 1024) {
                ASSERT_NE(arena.allocate(1024), nullptr);
            }
            EXPECT_GE(arena.statistics().used, bytes);
        };
        frame(1, 8 << 10);
        EXPECT_EQ(arena.statistics().growths, 0U);
        frame(2, 50 << 10);
        EXPECT_EQ(arena.statistics().growths, 3U);
        EXPECT_EQ(notes_.count(&braid_test::recorder::log, "'scratch' grew to "), 3U);
        const std::size_t high = arena.statistics().high_water;
        EXPECT_GE(high, 50U << 10);
        const std::uint64_t before = s.allocations();
        for (std::uint64_t n = 3; n < 20; ++n) frame(n, 50 << 10);
        frame(20, 1 << 10);
        EXPECT_EQ(s.allocations(), before);
        EXPECT_EQ(arena.statistics().growths, 3U);
        EXPECT_EQ(arena.statistics().high_water, high);
        EXPECT_LT(arena.statistics().used, high);
        // One block more, of its own size, also for what is larger than a block.
        EXPECT_NE(arena.allocate(200 << 10), nullptr);
        EXPECT_GE(arena.statistics().high_water, 200U << 10);
    }
    EXPECT_EQ(s.bytes(braid::memory_tag::frame), 0U);
}

TEST_P(FrameArena, ReportsItsLimitOnceAFrameAndRecovers) {
    braid::scheduler s(options());
    braid::frame_arena arena(s, {.name = "small", .block_bytes = 8192, .limit_bytes = 20'000});
    const auto reported = [&] {
        return notes_.count(&braid_test::recorder::log, "has no room for");
    };
    for (std::uint64_t frame = 1; frame <= 3; ++frame) {
        arena.reset(frame);
        int good = 0;
        for (int i = 0; i < 100; ++i) good += arena.allocate(1000) != nullptr;
        EXPECT_EQ(good, 19) << "eight in each of two blocks, three in what the limit leaves";
        EXPECT_EQ(arena.make_array<std::uint64_t>(SIZE_MAX / 4), nullptr);
        EXPECT_EQ(arena.allocate(SIZE_MAX - 10), nullptr);
        EXPECT_EQ(reported(), frame);
        EXPECT_EQ(arena.statistics().refused, frame * 83);
    }
    arena.reset(4);
    EXPECT_NE(arena.allocate(1000), nullptr);
    EXPECT_EQ(arena.allocate(8, 3), nullptr);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "an alignment is a power of two"), 1U);
}

TEST_P(FrameArena, ValuesAreConstructed) {
    braid::scheduler s(options());
    braid::frame_arena arena(s);
    struct thing {
        int a, b;
    };
    const thing* one = arena.make<thing>(3, 4);
    EXPECT_EQ(one->a * 10 + one->b, 34);
    std::memset(arena.allocate(8000), 0xff, 8000);
    arena.reset(1);
    const int* many = arena.make_array<int>(1000);
    EXPECT_EQ(std::count(many, many + 1000, 0), 1000);
    EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

TEST_P(FrameArena, AHandleOfAnotherFrameIsRejected) {
    braid::scheduler s(options());
    for (unsigned depth = 0; depth <= 3; ++depth) {
        braid::frame_loop loop(s, {.depth = depth});
        braid::frame_stage simulate(loop), render(loop);
        std::array<braid::frame_handle<std::uint64_t>, 41> made{};
        std::atomic<int> good{0}, stale{0}, wrong{0};
        simulate.add([&](const braid::frame_context& f) {
            made[f.frame] = f.arena.handle_of(f.arena.make<std::uint64_t>(f.frame));
            // The frame before is in flight or over, as it happens: rejected in either case.
            if (f.frame > 1) stale += f.arena.get(made[f.frame - 1]) == nullptr;
        });
        render.add([&](const braid::frame_context& f) {
            const std::uint64_t* p = f.arena.get(made[f.frame]);
            good += p != nullptr;
            wrong += p != nullptr && *p != f.frame;
        });
        for (int i = 0; i < 40; ++i) loop.advance();
        loop.finish();
        EXPECT_EQ(good, 40);
        EXPECT_EQ(stale, 39);
        EXPECT_EQ(wrong, 0);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse,
                           "a handle of frame 6 is used in frame 7; copy what it names"),
              4U);
}

TEST_P(FrameArena, EachFrameInFlightHasItsOwn) {
    braid::scheduler s(options());
    braid::frame_loop loop(s, {.depth = 2, .arena = {.block_bytes = 8192}});
    braid::frame_stage simulate(loop), draw(loop), render(loop);
    std::array<std::uint64_t*, 3> list{};
    int wrong = 0;
    simulate.add([&](const braid::frame_context& f) {
        list[f.slot] = f.arena.make_array<std::uint64_t>(500);
        f.for_each(500, [&](std::size_t i) { list[f.slot][i] = f.frame * 1000 + i; });
    });
    render.add([&](const braid::frame_context& f) {
        for (std::size_t i = 0; i < 500; ++i) wrong += list[f.slot][i] != f.frame * 1000 + i;
    });
    for (int i = 0; i < 50; ++i) loop.advance();
    loop.finish();
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(loop.memory().high_water, 4000U);
    EXPECT_EQ(loop.memory().growths, 0U);
    EXPECT_GE(loop.memory().reserved, 2 * 8192U) << "of both";
}

}  // namespace
