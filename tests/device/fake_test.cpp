// X4: what fails in the field, and how each submission ends once.
#include "braid/core/observer.hpp"
#include "device_fixture.hpp"
#include "refusing_memory.hpp"

namespace {

using namespace braid_test;
using braid::milliseconds;
using braid::task_context;
using braid::task_id;
using device::error_code;

BRAID_SCHEDULER_TEST(DeviceFake);

TEST_P(DeviceFake, WithoutMemoryItIsTriedAgainAndAtLastRunsOnTheCores) {
    braid::scheduler s(options());
    device::fake one(s, {.out_of_memory = 1});
    std::uint32_t numbers[8] = {};
    s.wait(s.spawn([&](task_context& t) {
        for (std::uint32_t& n : numbers) {
            one.submit(t, {.kernel = increment, .writes = {std::span(&n, 1)}});
        }
    }));
    for (const std::uint32_t n : numbers) EXPECT_EQ(n, 1U);
    const device::processor_report r = one.report();
    EXPECT_EQ(r.moved_to_cores, 8U);
    EXPECT_GE(r.refused, 8U);
    expect_account(r);
}

TEST_P(DeviceFake, ABufferWithoutMemoryThereLiesOnTheCores) {
    braid::scheduler s(options());
    {
        device::fake one(s, {.out_of_memory = 1});
        const device::buffer b = one.buffer({.bytes = 64});
        ASSERT_TRUE(b);
        one.map<std::uint32_t>(b)[15] = 6;
        s.wait(s.spawn([&](task_context& t) {
            one.submit(t, {.kernel = increment, .writes = {b}, .groups = {4}});
        }));
        EXPECT_EQ(one.map<std::uint32_t>(b)[0], 1U);
        EXPECT_EQ(one.map<std::uint32_t>(b)[15], 7U);
        const device::processor_report r = one.report();
        EXPECT_EQ(r.refused_buffers, 1U);
        EXPECT_EQ(r.moved_to_cores, 1U);
        EXPECT_EQ(r.buffer_bytes, 64U);
        expect_account(r);
        EXPECT_TRUE(one.release(b));
        EXPECT_EQ(one.report().buffer_bytes, 0U);
    }
    EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
}

TEST_P(DeviceFake, TheSameSeedRefusesTheSameBuffersAndAnotherOneOthers) {
    braid::scheduler s(options());
    const auto refused = [&s](std::uint64_t seed) {
        device::fake one(s, {.seed = seed, .out_of_memory = 0.5});
        std::vector<bool> all;
        for (std::uint64_t before = 0; all.size() < 64;) {
            EXPECT_TRUE(one.buffer({.bytes = 8}));
            const std::uint64_t now = one.report().refused_buffers;
            all.push_back(now != std::exchange(before, now));
        }
        return all;
    };
    const std::vector<bool> seven = refused(7);
    EXPECT_GT(std::ranges::count(seven, true), 16);
    EXPECT_GT(std::ranges::count(seven, false), 16);
    EXPECT_EQ(refused(7), seven);
    EXPECT_NE(refused(8), seven);
}

/// Memory for the copy of a buffer that lies on the cores is one thing more that may be missing.
TEST_P(DeviceFake, WhatNamesARefusedBufferIsTriedAgainAfterEachEnd) {
    braid::scheduler s(options());
    std::uint64_t retried = 0, completed = 0, moved_for_the_buffer = 0;
    for (std::uint64_t seed = 1; seed <= 32; ++seed) {
        const auto play = [&](bool names_it, unsigned count) {
            device::fake one(s, {.seed = seed, .latency = milliseconds(1), .out_of_memory = 0.5});
            const device::buffer b = one.buffer({.bytes = 64});
            s.wait(s.spawn([&](task_context& t) {
                for (unsigned i = 0; i < count; ++i) {
                    if (names_it) one.submit(t, {.kernel = nothing, .reads = {b}});
                    if (!names_it) one.submit(t, {.kernel = nothing});
                }
            }));
            expect_account(one.report());
            return one.report();
        };
        const device::processor_report with = play(true, 1), without = play(false, 1);
        if (with.refused_buffers == 0) {
            EXPECT_EQ(with.moved_to_cores, without.moved_to_cores);
            continue;
        }
        EXPECT_GE(with.moved_to_cores, without.moved_to_cores);
        moved_for_the_buffer += with.moved_to_cores - without.moved_to_cores;
        const device::processor_report many = play(true, 6);
        retried += many.retried;
        completed += many.completed;
    }
    EXPECT_GT(moved_for_the_buffer, 0U);
    EXPECT_GT(retried, 0U);
    EXPECT_GT(completed, 0U);
}

TEST_P(DeviceFake, ABufferForWhichTheCoresHaveNoMemoryEitherIsAnErrorWithBothSizes) {
    refusing_memory memory(memory_.hooks());
    braid::scheduler_options o = options();
    o.memory = memory.hooks();
    braid::scheduler s(o);
    device::fake one(s, {.out_of_memory = 1}, {.name = "small"});
    const device::buffer first = one.buffer({.bytes = 64});
    EXPECT_TRUE(first);
    memory.refuse_one_after(0);
    EXPECT_FALSE(one.buffer({.name = "mesh", .bytes = 128}));
    EXPECT_EQ(notes_.count(&recorder::log,
                           "no memory for buffer 'mesh' of 128 bytes, neither on processor "
                           "'small' nor on the cores; its other buffers have 64 bytes"),
              1U);
    EXPECT_TRUE(one.buffer({.bytes = 128}));
}

TEST_P(DeviceFake, ALossRunsIdempotentOnesAgainAndFailsTheOthers) {
    braid::scheduler s(options());
    // The first start is lost, later ones are drawn anew: with 0.5 each gets through at last.
    device::fake one(s, {.seed = 4, .latency = milliseconds(1), .loss = 0.5},
                     {.back_off = milliseconds(1)});
    std::uint32_t good = 0;
    std::uint64_t failed = 0, rounds = 0;
    for (int i = 0; i < 20; ++i) {
        braid::future<void> task = s.async([&](task_context& t) {
            one.submit(t, {.kernel = increment,
                           .writes = {std::span(&good, 1)},
                           .retry = 255,
                           .idempotent = true});
        });
        EXPECT_EQ(code_of(std::move(task)), 0);
        braid::future<void> other =
            s.async([&](task_context& t) { one.submit(t, {.kernel = nothing}); });
        const int code = code_of(std::move(other));
        EXPECT_TRUE(code == 0 || code == error_code::lost || sanitized) << code;
        failed += code != 0;
        ++rounds;
        one.revive();
    }
    EXPECT_EQ(good, rounds);
    const device::processor_report r = one.report();
    EXPECT_GT(r.losses, 0U);
    EXPECT_GT(r.rerun + r.moved_to_cores, 0U);
    EXPECT_EQ(r.failed, failed);
    expect_account(r);
}

TEST_P(DeviceFake, TheThirdLossWithinAMinuteMarksItDeadUntilItIsRevived) {
    braid::scheduler s(options());
    device::fake one(s, {.loss = 1}, {.name = "flaky", .back_off = milliseconds(10)});
    std::uint32_t number = 0;
    const auto add = [&] {
        return s.async([&](task_context& t) {
            one.submit(t, {.kernel = increment,
                           .writes = {std::span(&number, 1)},
                           .retry = 5,
                           .idempotent = true});
        });
    };
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(code_of(add()), 0);
    // After the first loss as long as asked for, after the second twice as long.
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
    EXPECT_EQ(number, 1U);
    device::processor_report r = one.report();
    EXPECT_EQ(r.losses, 3U);
    EXPECT_EQ(r.rerun, 3U);
    EXPECT_EQ(r.moved_to_cores, 1U);
    EXPECT_TRUE(r.dead);
    EXPECT_EQ(notes_.count(&recorder::log, "processor 'flaky' was lost three times"), 1U);
    EXPECT_EQ(code_of(add()), 0);
    EXPECT_EQ(one.report().losses, 3U);  // nobody has asked it
    EXPECT_TRUE(one.revive());
    EXPECT_FALSE(one.revive());
    EXPECT_EQ(code_of(add()), 0);
    r = one.report();
    EXPECT_EQ(r.losses, 6U);
    EXPECT_EQ(number, 3U);
    EXPECT_EQ(notes_.count(&recorder::log, "processor 'flaky' was lost three times"), 2U);
    expect_account(r);
}

TEST_P(DeviceFake, AHangCountsAsALoss) {
    braid::scheduler s(options());
    device::fake one(s, {.hang = 1}, {.hang_after = milliseconds(2), .back_off = milliseconds(0)});
    std::uint32_t number = 0;
    braid::future<void> task = s.async([&](task_context& t) {
        one.submit(t, {.kernel = increment,
                       .writes = {std::span(&number, 1)},
                       .retry = 5,
                       .idempotent = true});
    });
    EXPECT_EQ(code_of(std::move(task)), 0);
    EXPECT_EQ(number, 1U);
    EXPECT_EQ(one.report().losses, 3U);
    EXPECT_EQ(one.report().moved_to_cores, 1U);
}

#if BRAID_HAS_EXCEPTIONS
TEST_P(DeviceFake, BuffersAreStaleAfterALoss) {
    braid::scheduler s(options());
    device::fake one(s, {.loss = 1}, {.back_off = milliseconds(0)});
    const device::buffer b = one.buffer({.bytes = 64});
    const auto use = [&] {
        return s.async([&](task_context& t) {
            EXPECT_TRUE(one.submit(
                t, {.kernel = increment, .writes = {b}, .retry = 5, .idempotent = true}));
        });
    };
    EXPECT_EQ(code_of(use(), error_code::lost), error_code::lost);
    EXPECT_EQ(one.report().buffer_bytes, 0U);
    EXPECT_FALSE(one.release(b));
    EXPECT_EQ(code_of(use(), error_code::stale), error_code::stale);
    EXPECT_EQ(one.report().failed, 2U);
    expect_account(one.report());
}

TEST_P(DeviceFake, WhatComesAfterOneThatHasFailedAlreadyFailsToo) {
    braid::scheduler s(options());
    device::fake one(s, {.loss = 1});
    std::uint32_t number = 0;
    braid::future<void> task = s.async([&](task_context& t) {
        const device::ticket first = one.submit(t, {.kernel = nothing});
        braid_test::until([&] { return one.ended(first); });
        EXPECT_TRUE(one.submit(
            t, {.kernel = increment, .writes = {std::span(&number, 1)}, .after = {first}}));
    });
    EXPECT_NE(code_of(std::move(task)), 0);
    EXPECT_EQ(number, 0U);
    EXPECT_EQ(one.report().failed, 2U);
    EXPECT_EQ(one.report().started, 1U);
}

/// The names are text of the program, and no format.
TEST_P(DeviceFake, AFailureNamesTheKernelsWhateverTheirNamesAre) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1), .loss = 1});
    const device::kernel first{"100%s %n", &nothing_group}, second{"50%d", &nothing_group};
    device::ticket of_first;
    braid::completion_id keeps_it_open;  // its failure is kept for as long as its task is open
    std::atomic<bool> submitted{false};
    braid::future<void> before = s.async([&](task_context& t) {
        of_first = one.submit(t, {.kernel = first});
        keeps_it_open = t.defer();
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    braid::future<void> after = s.async([&](task_context& t) {
        one.submit(t, {.kernel = second, .after = {of_first}});
        s.complete(keeps_it_open);
    });
    EXPECT_NE(code_of(std::move(before)), 0);
    std::string said;
    try {
        after.get();
    } catch (const braid::completion_error& e) {
        // See code_of().
        said = sanitized ? "'50%d' was not run, as '100%s %n', which" : e.what();
    }
    EXPECT_NE(said.find("'50%d' was not run, as '100%s %n', which"), std::string::npos) << said;
}

TEST_P(DeviceFake, AChainOfAnyLengthFailsWithoutStack) {
    braid::scheduler_options small = options();
    small.worker_threads.stack_bytes = std::size_t{1} << 20;
    braid::scheduler s(small);
    device::fake one(s, {.latency = milliseconds(20), .loss = 1});
    const std::size_t length = scaled(30'000);
    braid::future<void> task = s.async([&](task_context& t) {
        device::ticket last;
        for (std::size_t i = 0; i < length; ++i) {
            last = one.submit(t, {.kernel = nothing, .after = {last}});
        }
    });
    EXPECT_NE(code_of(std::move(task)), 0);
    EXPECT_EQ(one.report().failed, length);
    expect_account(one.report());
}

TEST_P(DeviceFake, WhatComesAfterALostOneFailsWithIt) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(100), .loss = 1});
    device::cpu other(s);
    std::uint32_t number = 0;
    braid::future<void> task = s.async([&](task_context& t) {
        const device::ticket first = one.submit(t, {.kernel = nothing});
        const device::submission next{
            .kernel = increment, .writes = {std::span(&number, 1)}, .after = {first}};
        EXPECT_TRUE(one.submit(t, next));
        EXPECT_TRUE(other.submit(t, next));
    });
    EXPECT_NE(code_of(std::move(task)), 0);
    EXPECT_EQ(number, 0U);
    EXPECT_EQ(one.report().failed, 2U);
    EXPECT_EQ(other.report().failed, 1U);
}
#endif

TEST_P(DeviceFake, CorruptionFlipsOneBit) {
    braid::scheduler s(options());
    device::fake one(s, {.corrupt = 1});
    std::array<std::uint32_t, 16> numbers{};
    s.wait(s.spawn([&](task_context& t) {
        one.submit(t, {.kernel = nothing, .writes = {std::span(numbers)}});
    }));
    int bits = 0;
    for (const std::uint32_t n : numbers) bits += std::popcount(n);
    EXPECT_EQ(bits, 1);
}

class listener final : public braid::observer {
public:
    void on_event(const braid::task_event&) override {}
    void on_external(const braid::external_run& done) override {
        const std::lock_guard lock(mutex_);
        runs_.push_back(done);
    }
    /// By when they ended.
    std::vector<braid::external_run> runs() {
        const std::lock_guard lock(mutex_);
        std::vector<braid::external_run> all = runs_;
        std::sort(all.begin(), all.end(),
                  [](const auto& x, const auto& y) { return x.end < y.end; });
        return all;
    }

private:
    std::mutex mutex_;
    std::vector<braid::external_run> runs_;
};

#if BRAID_HAS_EXCEPTIONS
TEST_P(DeviceFake, AnObserverHearsWhichRunFailedAsItsKernelThrew) {
    listener heard;
    {
        braid::scheduler_options o = options();
        o.observer = &heard;
        braid::scheduler s(o);
        for (const braid::nanoseconds latency : {braid::nanoseconds{}, milliseconds(1)}) {
            device::fake one(s, {.latency = latency});
            for (const device::kernel& k : {throwing, nothing}) {
                code_of(
                    s.async([&](task_context& t) { one.submit(t, {.kernel = k, .groups = {3}}); }));
            }
        }
    }
    const std::vector<braid::external_run> runs = heard.runs();
    ASSERT_EQ(runs.size(), 4U);
    for (const braid::external_run& r : runs) {
        EXPECT_EQ(r.lost, std::string(r.name) == "throwing");
        EXPECT_LE(r.begin, r.end);
    }
}
#endif

/// Names of what is in flight at once, in the order in which it retires. If the first one had ended
/// before the last one began, all of it is tried again with twice the time, up to some seconds.
std::string order_of(braid::scheduler_options o, device::fake_options faults) {
    static constexpr const char* names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    for (;; faults.latency.value *= 2) {
        listener heard;
        o.observer = &heard;
        {
            braid::scheduler s(o);
            device::fake one(s, faults, {.hang_after = braid::seconds(60)});
            s.wait(s.spawn([&](task_context& t) {
                for (const char* const name : names) {
                    one.submit(t, {.kernel = {name, &nothing_group}});
                }
            }));
        }
        std::string order;
        std::int64_t last_begin = 0;
        const std::vector<braid::external_run> runs = heard.runs();
        for (const braid::external_run& r : runs) {
            order += r.name;
            last_begin = std::max(last_begin, r.begin);
        }
        const bool were_together = !runs.empty() && last_begin < runs.front().end;
        if (were_together || faults.latency > braid::seconds(5)) return order;
    }
}

TEST_P(DeviceFake, EndsThoseOfOnePriorityInAnotherOrderByTheSeed) {
    const auto order = [&](std::uint64_t seed, double reorder) {
        return order_of(options(),
                        {.seed = seed, .latency = milliseconds(150), .reorder = reorder});
    };
    EXPECT_EQ(order(7, 0), "0123456789");
    EXPECT_EQ(order(7, 1), "1234567890");
    const std::string seven = order(7, 0.5), eight = order(8, 0.5);
    EXPECT_EQ(order(7, 0.5), seven);
    EXPECT_NE(seven, "0123456789");
    EXPECT_NE(seven, eight);
}

TEST_P(DeviceFake, ACancelledOneInFlightEndsEarlierAsItIsHintedAt) {
    braid::scheduler s(options());
    device::fake one(s, {.hang = 1}, {.hang_after = braid::seconds(20)});
    std::atomic<bool> submitted{false};
    braid::scope level(s);
    braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
        one.submit(t, {.kernel = nothing});
        one.submit(t, {.kernel = nothing});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    level.cancel();
    wait_for_all(level);
    EXPECT_FALSE(braid_test::code_of(std::move(task)) == 0);
    EXPECT_EQ(one.report().started, 2U);
    EXPECT_EQ(one.report().cancelled, 2U);
    EXPECT_EQ(one.report().losses, 0U);  // by which it would end otherwise
    expect_account(one.report());
}

}  // namespace
