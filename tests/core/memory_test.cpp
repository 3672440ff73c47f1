// C30: every byte through the user's functions, counted by tag, within a budget.
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <fstream>

namespace {

BRAID_SCHEDULER_TEST(Memory);

TEST_P(Memory, EveryTagIsCountedAndTheSumIsWhatTheHooksSee) {
    braid::scheduler s(options());
    std::array<char, 200> large{};
    s.wait(s.spawn([large] { static_cast<void>(large[0]); }));
    braid::queue q(s, {.capacity = 64, .full = braid::when_full::grow});
    const std::size_t queue_bytes = s.bytes(braid::memory_tag::queue);
    EXPECT_GE(queue_bytes, 64U * 48U);
    EXPECT_GE(s.bytes(braid::memory_tag::runtime), 1000U);
    EXPECT_GE(s.bytes(braid::memory_tag::worker), static_cast<std::size_t>(GetParam()) * 1024U);
    EXPECT_GE(s.bytes(braid::memory_tag::slot), 128U * 256U);
    EXPECT_EQ(s.bytes(braid::memory_tag::closure), 0U);
    std::size_t sum = 0;
    for (int tag = 0; tag < static_cast<int>(braid::memory_tag::count); ++tag) {
        sum += s.bytes(static_cast<braid::memory_tag>(tag));
    }
    EXPECT_EQ(sum, static_cast<std::size_t>(memory_.live));
}

TEST_P(Memory, ALargeClosureIsThereWhileItsTaskIs) {
    braid::scheduler s(options());
    s.set_worker_count(0);
    std::array<char, 1000> large{};
    braid::scope all(s);
    all.post([large] { static_cast<void>(large[0]); });
    if (GetParam() == 0) {
        EXPECT_EQ(s.bytes(braid::memory_tag::closure), 1000U);
    }
    all.wait();
    EXPECT_EQ(s.bytes(braid::memory_tag::closure), 0U);
}

TEST_P(Memory, TheListBehindAFullQueueGoesThroughTheHooks) {
    braid::scheduler s(options());
    braid::queue q(s, {.threads = 0, .capacity = 2, .full = braid::when_full::grow});
    const std::size_t before = s.bytes(braid::memory_tag::queue);
    int ran = 0;
    for (int i = 0; i < 100; ++i) q.push([&] { ++ran; });
    EXPECT_GE(s.bytes(braid::memory_tag::queue), before + 98 * 40);
    q.drain();
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(s.bytes(braid::memory_tag::queue), before);
}

struct refusals {
    std::atomic<int> calls{0};
    braid::out_of_memory_handler handler() {
        return {[](void* user, std::size_t, const char*) { ++static_cast<refusals*>(user)->calls; },
                this};
    }
};

/// What the scheduler takes before its first task.
std::size_t bytes_at_rest(braid::scheduler_options o) {
    braid::scheduler s(o);
    s.post([] {});
    s.shut_down();
    std::size_t sum = 0;
    for (int tag = 0; tag < static_cast<int>(braid::memory_tag::count); ++tag) {
        sum += s.bytes(static_cast<braid::memory_tag>(tag));
    }
    return sum;
}

TEST_P(Memory, WhatTasksHadIsUsedAgain) {
    constexpr std::size_t at_once = 64, most_bytes = std::size_t{2} << 20;
    braid::scheduler s(options());
    for (std::size_t n = 0; n < 100'000; n += at_once) {
        braid::scope all(s);
        braid::task_builder gate = s.begin({}, braid::empty);
        for (std::size_t i = 0; i < at_once; ++i) {
            all.spawn({.after = {gate.id()}, .on = s.this_thread()}, [] {});
        }
        gate.finish();
        all.wait();
    }
    EXPECT_LT(s.bytes(braid::memory_tag::slot), most_bytes);
    EXPECT_LT(s.bytes(braid::memory_tag::detail), most_bytes);
    EXPECT_LT(s.bytes(braid::memory_tag::edge), most_bytes);
}

TEST_P(Memory, ASpentBudgetIsReportedAndTheTaskRefused) {
    refusals reported;
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 2);
    o.max_reserves = 0;
    o.guests = 1;
    o.out_of_memory = reported.handler();
    o.memory_budget_bytes = bytes_at_rest(o) + 64 * 1024;
    braid::scheduler s(o);
    // A large closure first: refused at once, nothing else is harmed.
    struct huge {
        std::array<char, 256 * 1024> bytes{};
        void operator()() const {}
    };
    EXPECT_FALSE(s.spawn(huge{}));
    EXPECT_GE(reported.calls, 1);
    // Then tasks that cannot start, until there is no room for one more.
    std::atomic<int> ran{0};
    auto gate = s.begin({}, braid::empty);
    int accepted = 0;
    for (int i = 0; i < 10'000; ++i) {
        accepted += static_cast<bool>(s.spawn({.after = {gate.id()}}, [&] { ++ran; }));
    }
    EXPECT_GT(accepted, 100);
    EXPECT_LT(accepted, 10'000);
    gate.finish();
    s.shut_down();
    EXPECT_EQ(ran, accepted) << "what was accepted runs";
    EXPECT_LE(static_cast<std::size_t>(memory_.live), o.memory_budget_bytes);
}

// The hooks fail at the n-th call, for every n: refused or done, never half done or stuck.
TEST_P(Memory, AFailureAtAnyAllocationLeavesNothingHalfDone) {
    braid::scheduler_options o = options();
    o.workers = std::min(GetParam(), 2);
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    for (int n = 0; n < 12; ++n) {
        memory.give_back();
        braid::scheduler s(o);
        braid::resource r(s);
        std::atomic<int> ran{0};
        int accepted = 0;
        memory.refuse_after(n);
        {
            std::array<char, 100> large{};
            auto parent = s.begin({}, braid::empty);
            accepted += static_cast<bool>(s.spawn({.parent = parent.id(), .uses = {&r}},
                                                  [&, large] { ran += 1 + large[0]; }));
            accepted += static_cast<bool>(
                s.spawn({.parent = parent.id(), .on = s.this_thread()}, [&] { ++ran; }));
            auto value = s.async([&] { return ++ran; });
            accepted += value.valid();
            accepted += static_cast<bool>(
                s.spawn({.after = {value.id()}, .parent = parent.id()}, [&] { ++ran; }));
            const braid::task_id id = parent.finish();
            memory.give_back();
            s.wait(id);
            value.wait();
        }
        s.shut_down();
        EXPECT_EQ(ran, accepted) << "failing from allocation " << n;
        expect_all_ended(s);
    }
}

// Everything else that takes memory in the sources would escape the hooks.
TEST(MemoryRule, TheSourcesAllocateThroughTheHooksOnly) {
    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    const char* forbidden[] = {"std::make_unique", "std::make_shared",
                               "std::vector",      "std::string ",
                               "std::string>",     "std::deque",
                               "std::list",        "std::map",
                               "std::unordered",   "std::function",
                               "malloc(",          " new ",
                               "std::thread",      "fopen("};
    // The thread is in no scheduler, or its scheduler has no memory.
    const char* const of_threads = "new (std::nothrow) kept_joins";
    for (const char* folder : {"src/core", "src/base", "include/braid/core"}) {
        for (const auto& file : std::filesystem::recursive_directory_iterator(root / folder)) {
            if (!file.is_regular_file()) continue;
            std::ifstream text(file.path());
            int number = 0;
            for (std::string line; std::getline(text, line);) {
                ++number;
                line = line.substr(0, line.find("//"));
                if (line.find(of_threads) != std::string::npos) continue;
                for (const char* word : forbidden) {
                    EXPECT_EQ(line.find(word), std::string::npos)
                        << file.path() << ":" << number << ": " << line;
                }
            }
        }
    }
}

}  // namespace
