// Many kernels as one submission: barriers where operands meet, one completion, made once.
#include "device_fixture.hpp"
#include "refusing_memory.hpp"

#include <memory>
#include <random>

namespace {

using namespace braid_test;
using braid::microseconds;
using braid::milliseconds;
using braid::task_context;

BRAID_SCHEDULER_TEST(DeviceSequence);

/// Each kind of processor, one after the other.
template <class Body>
void on_each(braid::scheduler& s, Body&& body) {
    device::cpu cpu(s);
    body(cpu);
    device::fake fake(s, {.latency = microseconds(30)});
    body(fake);
    device::local_store local(s, {.units = 2, .transfer_latency = microseconds(10)});
    body(local);
    for (device::processor* const p :
         {static_cast<device::processor*>(&cpu), static_cast<device::processor*>(&fake),
          static_cast<device::processor*>(&local)}) {
        expect_account(p->report());
    }
}

void run(braid::scheduler& s, device::processor& p, device::sequence& all) {
    s.wait(s.spawn([&](task_context& t) { EXPECT_TRUE(p.submit(t, all)); }));
}

/// in1 * 3 + in0, eight numbers a group.
void mix_group(const device::group& g) {
    const std::span<std::uint32_t> out = g.write<std::uint32_t>(0);
    const std::span<const std::uint32_t> in = g.read<std::uint32_t>(0);
    for (std::size_t i = g.x(); i < out.size(); i += g.groups().x) out[i] = out[i] * 3 + in[i];
}
constexpr device::kernel mix{"mix", &mix_group};

TEST_P(DeviceSequence, StepsWaitForThoseWhoseOperandsTheyMeet) {
    braid::scheduler s(options());
    on_each(s, [&](device::processor& p) {
        std::vector<std::uint32_t> in(64), middle(64), out(64), apart(64);
        std::iota(in.begin(), in.end(), 0U);
        device::sequence all(p, "twice");
        const auto scale = [&](auto& from, auto& to, std::uint32_t factor) {
            EXPECT_TRUE(all.add({.kernel = scale_kernel,
                                 .reads = {std::span<const std::uint32_t>(from)},
                                 .writes = {std::span(to)},
                                 .groups = {8},
                                 .constants = device::bytes_of(factor)}));
        };
        scale(in, middle, 3);
        scale(in, apart, 7);  // beside it: two that read
        EXPECT_EQ(all.phases(), 1U);
        scale(middle, out, 5);
        EXPECT_EQ(all.phases(), 2U);
        scale(apart, in, 2);  // beside the third, but the first two read what it writes
        EXPECT_EQ(all.phases(), 2U);
        EXPECT_TRUE(all.add({.kernel = increment, .writes = {std::span(in)}, .groups = {4}}));
        EXPECT_EQ(all.phases(), 3U);
        EXPECT_EQ(all.size(), 5U);
        run(s, p, all);
        for (std::uint32_t i = 0; i < 64; ++i) {
            ASSERT_EQ(out[i], 15 * i) << p.name();
            ASSERT_EQ(in[i], 14 * i + 1) << p.name();
        }
        EXPECT_EQ(p.report().submitted, 1U);
    });
}

/// Whatever order the ranges come in, the first byte of a buffer too, one that is named again meets
/// the earlier one; what only touches does not.
TEST_P(DeviceSequence, ARangeThatWasNamedIsFoundAgain) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    const device::buffer b = cpu.buffer({.name = "b", .bytes = 256});
    for (const std::size_t again : {0U, 64U, 128U, 192U}) {
        device::sequence all(cpu);
        const auto write = [&](std::size_t offset) {
            EXPECT_TRUE(
                all.add({.kernel = increment, .writes = {device::buffer_range{b, offset, 64}}}));
            return all.phases();
        };
        for (const std::size_t offset : {64U, 192U, 0U, 128U}) EXPECT_EQ(write(offset), 1U);
        EXPECT_EQ(write(again), 2U) << again;
        device::sequence apart(cpu);
        for (const std::size_t offset : {128U, 0U}) {
            EXPECT_TRUE(
                apart.add({.kernel = increment, .writes = {device::buffer_range{b, offset, 64}}}));
        }
        EXPECT_TRUE(
            apart.add({.kernel = increment, .writes = {device::buffer_range{b, again, 64}}}));
        EXPECT_EQ(apart.phases(), again == 0 || again == 128 ? 2U : 1U) << again;
    }
}

/// Random steps over overlapping ranges of a buffer and of memory come to the bytes that one step
/// after the other comes to.
TEST_P(DeviceSequence, ComesToTheBytesOfItsStepsOneByOne) {
    braid::scheduler s(options());
    for (std::uint32_t seed = 0; seed < (sanitized ? 8U : 40U); ++seed) {
        std::vector<std::vector<std::uint32_t>> results;
        on_each(s, [&](device::processor& p) {
            for (const bool at_once : {false, true}) {
                std::mt19937 random(seed);
                const auto below = [&](std::uint32_t n) {
                    return static_cast<std::uint32_t>(random() % n);
                };
                const device::buffer b = p.buffer({.name = "b", .bytes = 256});
                std::vector<std::uint32_t> numbers(64);
                std::iota(numbers.begin(), numbers.end(), seed);
                device::sequence all(p);
                const auto flush = [&] {
                    run(s, p, all);
                    EXPECT_TRUE(all.clear());
                };
                for (int i = 0; i < 12; ++i) {
                    const std::size_t from = below(48), to = below(48);
                    const std::uint32_t length = 1 + below(8);
                    const std::span<std::uint32_t> memory =
                        std::span(numbers).subspan(from, length);
                    const device::buffer_range range{b, 4 * to, std::size_t{4} * length};
                    const device::group_counts groups{1 + below(3)};
                    if (below(2) == 0) {
                        EXPECT_TRUE(all.add({mix, {memory}, {range}, groups}));
                    } else {
                        EXPECT_TRUE(all.add({mix, {range}, {memory}, groups}));
                    }
                    if (!at_once) flush();
                }
                if (at_once) flush();
                for (const std::uint32_t n : p.map<std::uint32_t>(b)) numbers.push_back(n);
                EXPECT_TRUE(p.release(b));
                results.push_back(std::move(numbers));
            }
        });
        for (const auto& r : results) ASSERT_EQ(r, results.front()) << "seed " << seed;
    }
}

TEST_P(DeviceSequence, IsSubmittedAgainWithoutAnAllocation) {
    braid::scheduler s(options());
    on_each(s, [&](device::processor& p) {
        const auto bytes = [&] { return s.bytes(braid::memory_tag::device); };
        std::array<std::uint32_t, 16> numbers{};
        device::sequence all(p);
        EXPECT_TRUE(all.reserve(20));
        const std::size_t reserved = bytes();
        for (int i = 0; i < 20; ++i) {
            EXPECT_TRUE(all.add({.kernel = increment, .writes = {std::span(numbers)}}));
        }
        EXPECT_EQ(bytes(), reserved);
        for (int i = 0; i < 50; ++i) run(s, p, all);
        const std::size_t warm = bytes();
        for (int i = 0; i < 50; ++i) run(s, p, all);
        EXPECT_EQ(bytes(), warm);
        EXPECT_EQ(numbers[3], 2'000U);
    });
}

TEST_P(DeviceSequence, InFlightItIsNeitherChangedNorSubmittedAgain) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    std::uint32_t number = 0;
    device::sequence all(one, "in flight");
    may_end = false;
    EXPECT_TRUE(all.add({.kernel = increments_late, .writes = {std::span(&number, 1)}}));
    s.wait(s.spawn([&](task_context& t) {
        EXPECT_TRUE(one.submit(t, all));
        EXPECT_FALSE(one.submit(t, all));
        EXPECT_FALSE(all.add({.kernel = nothing}));
        EXPECT_FALSE(all.clear());
        may_end = true;
    }));
    EXPECT_EQ(notes_.count(&recorder::misuse, "'in flight' is submitted again before it has ended"),
              1U);
    EXPECT_EQ(notes_.count(&recorder::misuse, "a sequence stays as it is"), 2U);
    EXPECT_EQ(number, 1U);
    EXPECT_TRUE(all.clear());
    EXPECT_EQ(all.phases(), 0U);
}

TEST_P(DeviceSequence, DestroyedInFlightItIsReportedAndStaysUntilThen) {
    braid::scheduler s(options());
    std::uint32_t number = 0;
    {
        device::fake one(s, {.latency = milliseconds(1)});
        may_end = false;
        s.wait(s.spawn([&](task_context& t) {
            {
                device::sequence all(one);
                const device::output numbers = std::span(&number, 1);
                EXPECT_TRUE(all.add({.kernel = increments_late, .writes = {numbers}}));
                EXPECT_TRUE(all.add({.kernel = increment, .writes = {numbers}}));
                one.submit(t, all);
            }
            may_end = true;
        }));
        EXPECT_EQ(number, 2U);
    }
    EXPECT_EQ(notes_.count(&recorder::misuse, "a sequence stays as it is"), 1U);
    EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
}

TEST_P(DeviceSequence, ThatOutlivesItsProcessorIsEmpty) {
    braid::scheduler s(options());
    std::optional<device::fake> one(std::in_place, s, device::fake_options{});
    device::sequence all(*one);
    EXPECT_TRUE(all.add({.kernel = nothing}));
    one.reset();
    EXPECT_EQ(all.size(), 0U);
    EXPECT_FALSE(all.add({.kernel = nothing}));
    EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
}

TEST_P(DeviceSequence, ItsBuffersAreThoseOfASubmission) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    const device::buffer b = one.buffer({.name = "b", .bytes = 64});
    device::sequence writes(one, "writes"), reads(one, "reads");
    may_end = false;
    for (std::size_t i = 0; i < 16; ++i) {
        EXPECT_TRUE(
            writes.add({.kernel = increments_late, .writes = {device::buffer_range{b, 4 * i, 4}}}));
    }
    EXPECT_EQ(writes.phases(), 1U);
    EXPECT_TRUE(reads.add({.kernel = nothing, .reads = {device::buffer_range{b, 60, 4}}}));
    s.wait(s.spawn([&](task_context& t) {
        const device::ticket first = one.submit(t, writes);
        EXPECT_FALSE(one.submit(t, reads));  // without order
        EXPECT_TRUE(one.submit(t, reads, {.after = {first}}));
        EXPECT_TRUE(one.map<std::uint32_t>(b).empty());
        may_end = true;
    }));
    EXPECT_TRUE(one.release(b));
    EXPECT_EQ(notes_.count(&recorder::misuse, "'reads' and 'writes' use one buffer"), 1U);
    EXPECT_EQ(notes_.count(&recorder::misuse, "a submission uses buffer 'b'"), 1U);
    // What was made with a buffer that is stale by now fails.
    EXPECT_EQ(code_of(s.async([&](task_context& t) { one.submit(t, writes); }),
                      device::error_code::stale),
              device::error_code::stale);
    expect_account(one.report());
}

TEST_P(DeviceSequence, AWrongStepIsRefusedAndTheOthersStay) {
    braid::scheduler s(options());
    device::local_store one(s, {.store_bytes = 4'096});
    device::cpu cpu(s);
    const device::buffer b = one.buffer({.name = "b", .bytes = 64});
    std::array<std::byte, 2'048> large{};
    device::sequence all(one);
    EXPECT_TRUE(all.add({.kernel = nothing}));
    EXPECT_FALSE(all.add({.kernel = {}}));
    EXPECT_FALSE(all.add({.kernel = nothing, .groups = {0}}));
    EXPECT_FALSE(all.add({.kernel = nothing, .reads = {b}, .writes = {b}}));
    EXPECT_FALSE(all.add({.kernel = nothing, .reads = {device::buffer_range{b, 60, 5}}}));
    EXPECT_FALSE(all.add({.kernel = nothing, .reads = {std::span(large), b}}));
    EXPECT_EQ(all.size(), 1U);
    device::sequence empty(one);
    s.wait(s.spawn([&](task_context& t) {
        EXPECT_FALSE(one.submit(t, empty));
        EXPECT_FALSE(cpu.submit(t, all));
        EXPECT_TRUE(one.submit(t, all));
    }));
    EXPECT_EQ(notes_.count(&recorder::misuse, "has operands of 2112 bytes, and 2048 fit"), 1U);
    EXPECT_EQ(notes_.count(&recorder::misuse, "the sequence has no steps"), 1U);
    EXPECT_EQ(notes_.count(&recorder::misuse, "to the processor that it was made for"), 1U);
    EXPECT_EQ(one.report().completed, 1U);
}

#if BRAID_HAS_EXCEPTIONS
TEST_P(DeviceSequence, BehindAStepThatThrowsNoPhaseRuns) {
    braid::scheduler s(options());
    on_each(s, [&](device::processor& p) {
        std::uint32_t before = 0, after = 0;
        std::array<std::uint32_t, 4> between{};
        device::sequence all(p);
        EXPECT_TRUE(all.add({.kernel = increment, .writes = {std::span(&before, 1)}}));
        EXPECT_TRUE(all.add({.kernel = throwing, .writes = {std::span(between)}}));
        EXPECT_TRUE(all.add({.kernel = increment,
                             .reads = {std::span(between)},
                             .writes = {std::span(&after, 1)}}));
        EXPECT_EQ(all.phases(), 2U);
        EXPECT_EQ(code_of(s.async([&](task_context& t) { p.submit(t, all); })), -2);
        EXPECT_LE(before, 1U);  // beside the one that throws
        EXPECT_EQ(after, 0U);
        EXPECT_EQ(p.report().failed, 1U);
        // And it can be submitted again.
        EXPECT_EQ(code_of(s.async([&](task_context& t) { p.submit(t, all); })), -2);
    });
}
#endif

/// Cancels in its first phase.
TEST_P(DeviceSequence, CancelledInOnePhaseItDoesNotBeginTheNext) {
    braid::scheduler s(options());
    on_each(s, [&](device::processor& p) {
        braid::scope level(s);
        static std::atomic<braid::scope*> to_cancel;
        to_cancel = &level;
        const device::kernel cancels{"cancels",
                                     [](const device::group&) { to_cancel.load()->cancel(); }};
        std::uint32_t between = 0, after = 0;
        device::sequence all(p);
        EXPECT_TRUE(all.add({.kernel = cancels, .writes = {std::span(&between, 1)}}));
        EXPECT_TRUE(all.add({.kernel = increment,
                             .reads = {std::span(&between, 1)},
                             .writes = {std::span(&after, 1)}}));
        s.spawn({.within = &level}, [&](task_context& t) { p.submit(t, all); });
        wait_for_all(level);
        EXPECT_EQ(after, 0U) << p.name();
        EXPECT_EQ(p.report().cancelled, 1U) << p.name();
        EXPECT_TRUE(all.clear());
    });
}

TEST_P(DeviceSequence, LateItEndsItsTaskAndNoPhaseMoreIsRun) {
    if (GetParam() == 0)
        GTEST_SKIP() << "the only thread runs the kernel, and looks at no deadline";
    braid::scheduler s(options());
    device::cpu one(s);
    static std::atomic<device::cpu*> cores;
    cores = &one;
    const device::kernel held{"held", [](const device::group&) {
                                  until([] { return cores.load()->report().timed_out == 1; });
                              }};
    std::uint32_t between = 0, after = 0;
    device::sequence all(one);
    EXPECT_TRUE(all.add({.kernel = held, .writes = {std::span(&between, 1)}}));
    EXPECT_TRUE(all.add({.kernel = increment,
                         .reads = {std::span(&between, 1)},
                         .writes = {std::span(&after, 1)}}));
    const int late = braid::completion_error::deadline_passed;
    EXPECT_EQ(code_of(s.async([&](task_context& t) {
                  one.submit(t, all, {.deadline = milliseconds(20)});
              }),
                      late),
              late);
    work_until(s, [&] { return one.report().in_flight == 0; });
    EXPECT_EQ(after, 0U);
    EXPECT_EQ(one.report().late_ends, one.report().started);  // it may be late before
    EXPECT_TRUE(all.clear());
}

/// The k-th allocation is refused, for every k of a short run.
TEST_P(DeviceSequence, AnyRefusedAllocationLosesOneStepOrFailsItsTask) {
    int refused = 0;
    for (int k = 0; k < (sanitized ? 12 : 40); ++k) {
        refusing_memory memory(memory_.hooks());
        braid::scheduler_options o = options();
        o.memory = memory.hooks();
        braid::scheduler s(o);
        {
            device::fake one(s, {.latency = k % 2 == 0 ? milliseconds(0) : milliseconds(1)});
            memory.refuse_one_after(k);
            device::sequence all(one);
            const device::buffer b = one.buffer({.bytes = 64});
            std::size_t added = 0;
            for (std::size_t i = 0; i < 20; ++i) {
                added += b && all.add({.kernel = increment, .writes = {b}, .groups = {3}});
            }
            EXPECT_EQ(all.size(), added);
            EXPECT_EQ(all.phases(), added);
            EXPECT_TRUE(added >= 19 || !b || all.size() == 0);
            braid::future<void> task = s.async([&](task_context& t) {
                if (added != 0) one.submit(t, all, {.retry = 1});
            });
            const int code = task.valid() ? code_of(std::move(task)) : 0;
            EXPECT_TRUE(code == 0 || code == device::error_code::out_of_memory || sanitized)
                << code;
            memory.give_back();
            if (one.report().completed == 1) {
                EXPECT_EQ(one.map<std::uint32_t>(b)[15], added);
            }
            expect_account(one.report());
        }
        EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U);
        refused += memory.refused();
    }
    EXPECT_GT(refused, 0);
}

}  // namespace
