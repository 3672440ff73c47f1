// F2: commands written by many tasks, played in an order of their own.
#include <braid/frame/command_buffer.hpp>
#include <braid/frame/frame_loop.hpp>
#include <braid/frame/n_buffered.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"
#include "tiny_game.hpp"

#include <tuple>

namespace {

using braid_test::mixed;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(CommandBuffer);

struct command {
    std::uint32_t object;
    std::uint32_t step;
    friend bool operator==(command, command) = default;
};

std::uint64_t key_of(std::size_t object) { return mixed(object, 1) % 50; }

std::vector<command> played(const braid::command_buffer<command>& from) {
    std::vector<command> list;
    from.play([&list](const command& c) { list.push_back(c); });
    return list;
}

/// Every third object three times.
void record(braid::scheduler& s, braid::command_buffer<command>& to, std::size_t objects) {
    braid::parallel_for(s, objects, [&](std::size_t i) {
        auto list = to.record(i);
        for (std::uint32_t n = 0; n < (i % 3 == 0 ? 3 : 1); ++n) {
            EXPECT_TRUE(list.push(key_of(i), {static_cast<std::uint32_t>(i), n}));
        }
    });
}

TEST_P(CommandBuffer, PlaysInTheOrderOfKeysThenOfTheCode) {
    braid::scheduler s(options());
    const std::size_t objects = scaled(20'000);
    std::vector<command> expected;
    for (std::uint32_t i = 0; i < objects; ++i) {
        for (std::uint32_t n = 0; n < (i % 3 == 0 ? 3 : 1); ++n) expected.push_back({i, n});
    }
    std::sort(expected.begin(), expected.end(), [](command a, command b) {
        const auto order = [](command c) { return std::tuple(key_of(c.object), c.object, c.step); };
        return order(a) < order(b);
    });
    braid::command_buffer<command> commands(s);
    for (int frame = 0; frame < 5; ++frame) {
        commands.clear();
        record(s, commands, objects);
        EXPECT_TRUE(commands.sort(s));
        EXPECT_EQ(played(commands), expected) << "frame " << frame;
    }
    // In parts: the same, whichever thread plays which.
    std::vector<std::vector<command>> parts((expected.size() + 99) / 100);
    commands.play_parts(s, 100, [&](std::size_t part, braid::command_list<command> list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            EXPECT_EQ(list.key(i), key_of(list[i].object));
            parts[part].push_back(list[i]);
        }
    });
    std::vector<command> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    EXPECT_EQ(all, expected);
}

TEST_P(CommandBuffer, AnEmptyFramePlaysNothing) {
    braid::scheduler s(options());
    braid::command_buffer<command> commands(s);
    EXPECT_TRUE(commands.sort(s));
    EXPECT_EQ(played(commands).size(), 0U);
    commands.play_parts(s, 0, [](std::size_t, braid::command_list<command>) { FAIL(); });
}

TEST_P(CommandBuffer, RefusesCommandsAboveItsLimitAndCountsThem) {
    braid::scheduler s(options());
    braid::command_buffer<command> commands(s, {.name = "render", .limit = 1000});
    for (std::uint64_t frame = 1; frame <= 2; ++frame) {
        commands.clear();
        std::atomic<std::size_t> taken{0};
        braid::parallel_for(s, 100, [&](std::size_t i) {
            auto list = commands.record(i);
            for (std::uint32_t n = 0; n < 200; ++n) {
                taken += list.push(i, {static_cast<std::uint32_t>(i), n});
            }
        });
        EXPECT_EQ(taken + commands.refused(), 20'000U);
        // Three chunks of 340: a thread alone fills them; beside others each is taken by a body
        // that writes 200 in all, and what is left in a thread's chunk is no other thread's.
        constexpr std::size_t chunks = 3, in_a_chunk = (8192 - 16) / (16 + sizeof(command));
        EXPECT_LE(taken, chunks * in_a_chunk);
        EXPECT_GE(taken, GetParam() == 0 ? chunks * in_a_chunk : chunks * 200);
        EXPECT_TRUE(commands.sort(s));
        EXPECT_EQ(commands.sorted().size(), taken);
        EXPECT_EQ(notes_.count(&braid_test::recorder::log,
                               "'render' holds 1000 commands and takes no more in this frame"),
                  frame);
    }
}

TEST_P(CommandBuffer, LackOfMemoryRefusesCommandsAndLosesNone) {
    for (std::int64_t good = 0; good < 8; ++good) {
        std::atomic<std::int64_t> left{INT64_MAX};
        braid::scheduler_options o = options();
        o.memory = {
            .allocate = [](void* user, std::size_t bytes, std::size_t alignment,
                           braid::memory_tag) -> void* {
                auto& count = *static_cast<std::atomic<std::int64_t>*>(user);
                if (count.fetch_sub(1) <= 0) return nullptr;
                return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
            },
            .release = [](void*, void* p, std::size_t, std::size_t alignment,
                          braid::memory_tag) { ::operator delete(p, std::align_val_t{alignment}); },
            .user = &left};
        braid::scheduler s(o);
        braid::command_buffer<command> commands(s);
        std::size_t taken = 0;
        bool sorted = false;
        const braid::task_id id = s.spawn([&](braid::task_context& task) {
            left = good;
            {
                auto list = commands.record(0);
                for (std::uint32_t n = 0; n < 2000; ++n) taken += list.push(n % 10, {0, n});
            }
            sorted = commands.sort(task);
            left = INT64_MAX;
        });
        s.wait(id);
        braid_test::until([&] { return s.done(id); });  // the wait may have found no memory, too
        EXPECT_EQ(taken + commands.refused(), 2000U);
        if (!sorted) {
            EXPECT_GT(taken, 0U);
            EXPECT_TRUE(commands.sort(s)) << "again, once there is memory";
        }
        EXPECT_EQ(commands.sorted().size(), taken);
    }
}

TEST_P(CommandBuffer, ReportsAWrongOrderOfCallsAndOrdinalsUsedTwice) {
    braid::scheduler s(options());
    braid::command_buffer<command> commands(s, {.name = "render"});
    const auto reported = [&](const char* part) {
        return notes_.count(&braid_test::recorder::misuse, part);
    };
    s.wait(s.spawn([&] {
        {
            EXPECT_TRUE(commands.record(7).push(1, {1, 1}));
        }
        {
            EXPECT_TRUE(commands.record(7).push(1, {2, 2}));
        }
    }));
    EXPECT_EQ(played(commands).size(), 0U);
    EXPECT_EQ(reported("'render': sort() it before it is played"), 1U);
    EXPECT_FALSE(commands.sort(s));
    EXPECT_EQ(reported("two recorders of a frame have the same ordinal"), 1U);
    EXPECT_EQ(played(commands).size(), 2U) << "nothing is lost";
    s.wait(s.spawn([&] { EXPECT_FALSE(commands.record(1).push(1, {})); }));
    EXPECT_EQ(reported("'render': clear() it before the next frame is recorded"), 1U);
    commands.clear();
    s.wait(s.spawn([&] {
        EXPECT_FALSE(commands.record(std::size_t{1} << 32).push(1, {}));
        EXPECT_TRUE(commands.record(UINT32_MAX).push(1, {}));
    }));
    EXPECT_TRUE(commands.sort(s));
}

TEST_P(CommandBuffer, IsWrittenForOneFrameWhileAnotherIsPlayed) {
    braid::scheduler s(options());
    braid::n_buffered<braid::command_buffer<command>, 2> commands(s, "commands", s);
    const std::size_t frames = scaled(60);
    std::vector<std::uint64_t> hashes;
    const auto play = [&](unsigned depth) {
        std::vector<std::uint64_t> hash(frames + 1);
        braid::frame_loop loop(s, {.depth = depth});
        braid::frame_stage simulate(loop), render(loop);
        simulate.add([&](const braid::frame_context& f) {
            auto to = commands.write(f.frame);
            to->clear();
            f.for_each(300, [&](std::size_t i) {
                auto list = to->record(i);
                list.push(mixed(f.frame, i) % 20, {static_cast<std::uint32_t>(i), 0});
            });
            to->sort(f.task);
        });
        render.add([&](const braid::frame_context& f) {
            commands.read(f.frame)->play(
                [&](const command& c) { hash[f.frame] = mixed(hash[f.frame], c.object); });
        });
        for (std::size_t i = 0; i < frames; ++i) loop.advance();
        loop.finish();
        return hash;
    };
    const auto serial = play(0);
    EXPECT_EQ(play(1), serial);
    EXPECT_EQ(notes_.misuse, std::vector<std::string>());
}

}  // namespace
