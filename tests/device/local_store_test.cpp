// A kernel on a unit gets copies in a memory of its own; transfers are hidden behind what runs.
#include "core/extension.hpp"
#include "device_fixture.hpp"
#include "proc_threads.hpp"
#include "refusing_memory.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/safepoint.hpp>

#include <thread>

namespace {

using namespace braid_test;
using braid::microseconds;
using braid::milliseconds;
using braid::task_context;
using braid::task_id;
using device::ticket;

BRAID_SCHEDULER_TEST(DeviceLocalStore);

/// What a kernel and its test share; a kernel has no captures.
struct shared {
    std::atomic<int> begun{0};
    std::atomic<bool> go_on{false};
    braid::scheduler* scheduler = nullptr;
};
std::atomic<shared*> common{nullptr};

/// Sets `common` as long as it lives.
struct sharing : shared {
    sharing() { common = this; }
    ~sharing() { common = nullptr; }
};

/// Runs until the test lets it go on, and adds one then.
void held_group(const device::group& g) {
    ++common.load()->begun;
    until([] { return common.load()->go_on.load(); });
    for (std::uint32_t& n : g.write<std::uint32_t>(0)) ++n;
}
constexpr device::kernel held{"held", &held_group};

/// A drawn program of chains over buffers and numbers; returns every byte that it wrote.
template <class Processor, class... Options>
std::vector<std::uint32_t> play(braid::scheduler& s, const Options&... options) {
    Processor processor(s, options...);
    const device::buffer b = processor.buffer({.name = "b", .bytes = 1'000});
    std::vector<std::uint32_t> numbers(8 * 64), scaled(8 * 64);
    std::iota(numbers.begin(), numbers.end(), 1U);
    for (std::uint32_t i = 0; i < 8; ++i) {
        s.wait(s.spawn([&, i](task_context& t) {
            const std::span<std::uint32_t> in = std::span(numbers).subspan(64 * i, 64);
            const std::span<std::uint32_t> out = std::span(scaled).subspan(64 * i, 64);
            const ticket first = processor.submit(
                t, {.kernel = increment, .writes = {in.subspan(0, 7 * i + 1)}, .groups = {i + 1}});
            const ticket second =
                processor.submit(t, {.kernel = scale_kernel,
                                     .reads = {std::span<const std::uint32_t>(in)},
                                     .writes = {out},
                                     .groups = {i + 1},  // the rest of `out` stays as it is
                                     .constants = device::bytes_of(i + 3),
                                     .after = {first}});
            EXPECT_TRUE(processor.submit(t, {.kernel = increment,
                                             .writes = {device::buffer_range{b, 4 * i, 900}},
                                             .groups = {3},
                                             .after = {second}}));
        }));
    }
    expect_account(processor.report());
    EXPECT_EQ(processor.report().completed, 24U);
    for (const std::uint32_t n : processor.template map<std::uint32_t>(b)) scaled.push_back(n);
    scaled.insert(scaled.end(), numbers.begin(), numbers.end());
    return scaled;
}

TEST_P(DeviceLocalStore, ComesToTheBytesOfTheCores) {
    braid::scheduler s(options());
    const std::vector<std::uint32_t> wanted = play<device::cpu>(s);
    for (const unsigned units : {1U, 3U}) {
        for (const braid::nanoseconds latency : {microseconds(0), microseconds(20)}) {
            EXPECT_EQ(play<device::local_store>(
                          s,
                          device::local_store_options{
                              .units = units, .store_bytes = 4'096, .transfer_latency = latency}),
                      wanted);
        }
    }
}

TEST_P(DeviceLocalStore, AKernelSeesAlignedCopiesInOneStore) {
    braid::scheduler s(options());
    device::local_store local(s);
    static std::uintptr_t begins[3];  // the kernel notes them; the test has waited for it
    std::array<std::byte, 17> first{}, second{};
    std::array<std::byte, 5> third{};
    const device::kernel look{"look", [](const device::group& g) {
                                  begins[0] = std::uintptr_t(g.read<std::byte>(0).data());
                                  begins[1] = std::uintptr_t(g.read<std::byte>(1).data());
                                  begins[2] = std::uintptr_t(g.write<std::byte>(0).data());
                                  // A mistake that stays within the store: nobody sees it.
                                  *reinterpret_cast<std::byte*>(begins[0]) = std::byte{1};
                              }};
    s.wait(s.spawn([&](task_context& t) {
        local.submit(t, {.kernel = look,
                         .reads = {std::span(first), std::span(second)},
                         .writes = {std::span(third)}});
    }));
    EXPECT_EQ(begins[0] % 16, 0U);
    EXPECT_EQ(begins[1], begins[0] + 32);
    EXPECT_EQ(begins[2], begins[0] + 64);
    EXPECT_EQ(first[0], std::byte{0});
    EXPECT_STREQ(local.name(), "local_store");
}

TEST_P(DeviceLocalStore, MoreThanHalfAStoreIsRefusedWithTheSum) {
    braid::scheduler s(options());
    device::local_store local(s, {.store_bytes = 8'192}, {.name = "spu"});
    EXPECT_EQ(local.most_bytes(), 4'096U);
    const device::buffer b = local.buffer({.bytes = 4'065});
    std::array<std::byte, 4'096> all{};
    s.wait(s.spawn([&](task_context& t) {
        EXPECT_TRUE(local.submit(t, {.kernel = nothing, .writes = {std::span(all)}}));
        // 4,065 bytes take 4,080, and 17 more take 32.
        EXPECT_FALSE(local.submit(
            t, {.kernel = increment, .reads = {std::span(all).subspan(0, 17)}, .writes = {b}}));
        EXPECT_EQ(notes_.count(&recorder::misuse,
                               "'increment' has operands of 4112 bytes, and 4096 fit into half of "
                               "the store of a unit of 'spu'"),
                  1U);
        EXPECT_TRUE(local.submit(
            t, {.kernel = nothing, .reads = {std::span(all).subspan(0, 16)}, .writes = {b}}));
    }));
    EXPECT_EQ(local.report().submitted, 2U);
    expect_account(local.report());
}

TEST_P(DeviceLocalStore, SplitCutsARangeIntoAsFewJobsThatFit) {
    braid::scheduler s(options());
    device::local_store local(s, {.units = 2, .store_bytes = 4'096});
    std::vector<std::uint32_t> in(5'000), out(5'000);
    std::iota(in.begin(), in.end(), 0U);
    const device::local_store::pieces cut = local.split(8, in.size());
    // 2,048 bytes less 256 for the rounding are 224 items.
    EXPECT_EQ(cut.jobs, 23U);
    s.wait(s.spawn([&](task_context& t) {
        for (std::size_t i = 0; i < cut.jobs; ++i) {
            const braid::index_range part = cut[i];
            const auto groups = static_cast<std::uint32_t>((part.size() + 7) / 8);
            const device::kernel copy{"copy", [](const device::group& g) {
                                          const auto from = g.read<std::uint32_t>(0);
                                          const auto to = g.write<std::uint32_t>(0);
                                          std::copy(from.begin(), from.end(), to.begin());
                                      }};
            EXPECT_TRUE(
                local.submit(t, {.kernel = copy,
                                 .reads = {std::span(in).subspan(part.begin, part.size())},
                                 .writes = {std::span(out).subspan(part.begin, part.size())},
                                 .groups = {groups}}));
        }
    }));
    EXPECT_EQ(out, in);
    EXPECT_EQ(local.split(8, 0).jobs, 0U);
    EXPECT_EQ(local.split(1'793, 1).jobs, 0U);
    EXPECT_EQ(local.split(1'792, 3).jobs, 3U);
    EXPECT_EQ(local.split(1, 1, 1'792).jobs, 0U);
    EXPECT_EQ(local.split(1, 10, 1'790).jobs, 5U);
    EXPECT_EQ(local.split(0, 10).jobs, 1U);
}

TEST_P(DeviceLocalStore, UnitsRunBesideEachOtherAndGroupsOfOneInOrder) {
    braid::scheduler s(options());
    device::local_store local(s, {.units = 3});
    sharing with;
    std::array<std::vector<std::uint32_t>, 3> order;
    for (auto& o : order) o.resize(9);
    // Each waits until all three have begun.
    const device::kernel meets{"meets", [](const device::group& g) {
                                   if (g.x() == 0) {
                                       ++common.load()->begun;
                                       until([] { return common.load()->begun == 3; });
                                   }
                                   const auto out = g.write<std::uint32_t>(0);
                                   out[0] = 10 * out[0] + g.x();
                                   out[g.x()] += out[0];
                               }};
    s.wait(s.spawn([&](task_context& t) {
        for (auto& o : order) {
            local.submit(t, {.kernel = meets, .writes = {std::span(o)}, .groups = {5}});
        }
    }));
    for (const auto& o : order) EXPECT_EQ(o[4], 1'234U);
    EXPECT_EQ(local.report().most_in_flight, 3U);
}

/// The second of two that wait behind a third one writes what the last one has as its input: that
/// one has its copy by then.
TEST_P(DeviceLocalStore, TheNextOneIsBroughtInBeforeTheOneBeforeItRuns) {
    braid::scheduler s(options());
    device::local_store local(s);
    sharing with;
    static std::uint32_t input;
    input = 5;
    std::uint32_t first = 0, second = 0, out = 0;
    const device::kernel spoils{"spoils", [](const device::group&) { input = 7; }};
    const device::kernel takes{"takes", [](const device::group& g) {
                                   g.write<std::uint32_t>(0)[0] = g.read<std::uint32_t>(0)[0];
                               }};
    s.wait(s.spawn([&](task_context& t) {
        local.submit(t, {.kernel = held, .writes = {std::span(&first, 1)}});
        until([&] { return with.begun == 1; });
        local.submit(t, {.kernel = spoils, .writes = {std::span(&second, 1)}});
        local.submit(
            t, {.kernel = takes, .reads = {std::span(&input, 1)}, .writes = {std::span(&out, 1)}});
        with.go_on = true;
    }));
    EXPECT_EQ(out, 5U);
    EXPECT_EQ(input, 7U);
}

TEST_P(DeviceLocalStore, NobodyAllocatesOnceItsRecordsAreThere) {
    braid::scheduler s(options());
    device::local_store local(s, {.units = 2, .store_bytes = 4'096});
    const auto round = [&] {
        s.wait(s.spawn([&](task_context& t) {
            for (int i = 0; i < 12; ++i) local.submit(t, {.kernel = nothing, .groups = {4}});
        }));
    };
    for (int i = 0; i < 50; ++i) round();
    const std::size_t records = s.bytes(braid::memory_tag::device);
    for (int i = 0; i < 50; ++i) round();
    EXPECT_EQ(s.bytes(braid::memory_tag::device), records);
    EXPECT_LE(local.report().most_in_flight, 6U);
    expect_account(local.report());
}

// ---- it fails ----------------------------------------------------------------------------------

#if BRAID_HAS_EXCEPTIONS
TEST_P(DeviceLocalStore, WhatAKernelThrowsFailsItsTaskAndWhatComesAfter) {
    braid::scheduler s(options());
    device::local_store local(s, {.units = 2});
    std::uint32_t number = 0;
    braid::future<void> task = s.async([&](task_context& t) {
        const ticket first = local.submit(t, {.kernel = throwing, .groups = {4}});
        local.submit(t, {.kernel = increment, .writes = {std::span(&number, 1)}, .after = {first}});
    });
    EXPECT_EQ(code_of(std::move(task)), -2);
    EXPECT_EQ(number, 0U);
    EXPECT_EQ(local.report().failed, 2U);
    expect_account(local.report());
}

TEST_P(DeviceLocalStore, TheDeadlineEndsTheTaskAndNothingIsWrittenAfterIt) {
    braid::scheduler s(options());
    std::array<std::uint32_t, 2> numbers{};
    sharing with;
    {
        device::local_store local(s);
        braid::future<void> task = s.async([&](task_context& t) {
            // On a busy machine the first one may never begin, and the second one does.
            for (std::uint32_t& n : numbers) {
                local.submit(
                    t, {.kernel = held, .writes = {std::span(&n, 1)}, .deadline = milliseconds(1)});
            }
        });
        EXPECT_EQ(code_of(std::move(task), braid::completion_error::deadline_passed),
                  braid::completion_error::deadline_passed);
        EXPECT_EQ(local.report().timed_out, 2U);
        with.go_on = true;
    }
    EXPECT_EQ(numbers[0] + numbers[1], 0U);
}

TEST_P(DeviceLocalStore, ACancelledScopeEndsWhatHasNotBegun) {
    braid::scheduler s(options());
    device::local_store local(s);
    sharing with;
    std::array<std::uint32_t, 6> numbers{};
    {
        braid::scope level(s);
        std::atomic<int> submitted{0};
        braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
            for (std::uint32_t& n : numbers) {
                local.submit(t, {.kernel = held, .writes = {std::span(&n, 1)}});
            }
            ++submitted;
        });
        work_until(s, [&] { return submitted != 0; });
        until([&] { return with.begun == 1; });
        level.cancel();
        // With no worker the hint comes by a thread that waits.
        work_until(s, [&] { return local.report().cancelled >= 3; });
        with.go_on = true;
        EXPECT_EQ(code_of(std::move(task)), -1);
        level.wait();
    }
    EXPECT_EQ(with.begun, 1);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0U), 1U);
    EXPECT_EQ(local.report().completed, 1U);
    EXPECT_EQ(local.report().cancelled, 5U);
    expect_account(local.report());
}
#endif

TEST_P(DeviceLocalStore, ADrainRunsWhatIsQueued) {
    std::uint32_t number = 0;
    braid::scheduler s(options());
    device::local_store local(s, {.transfer_latency = microseconds(50)}, {.max_in_flight = 1});
    std::atomic<bool> submitted{false};
    s.spawn([&](task_context& t) {
        ticket last;
        for (int i = 0; i < 5; ++i) {
            last = local.submit(
                t, {.kernel = increment, .writes = {std::span(&number, 1)}, .after = {last}});
        }
        submitted = true;
    });
    s.shut_down();
    EXPECT_TRUE(submitted);
    EXPECT_EQ(number, 5U);
    EXPECT_EQ(local.report().completed, 5U);
}

TEST_P(DeviceLocalStore, ADiscardEndsEveryTask) {
    braid::scheduler s(options());
    device::local_store local(s);
    sharing with;
    std::array<std::uint32_t, 5> numbers{};
    std::atomic<int> submitted{0};
    s.spawn([&](task_context& t) {
        for (std::uint32_t& n : numbers) {
            local.submit(t, {.kernel = held, .writes = {std::span(&n, 1)}});
        }
        ++submitted;
    });
    work_until(s, [&] { return submitted != 0; });
    until([&] { return with.begun == 1; });
    std::thread lets_go([&] {
        until([&] { return local.report().cancelled >= 2; });
        with.go_on = true;
    });
    s.shut_down(braid::shutdown::discard);
    lets_go.join();
    EXPECT_EQ(with.begun, 1);
    EXPECT_EQ(local.report().submitted, 5U);
    expect_account(local.report());
}

TEST_P(DeviceLocalStore, OneThatOutlivesItsSchedulerIsReportedAndItsThreadsEnd) {
    std::optional<device::local_store> local;
    {
        braid::scheduler s(options());
        local.emplace(s, device::local_store_options{.units = 3});
        s.wait(s.spawn([&](task_context& t) { local->submit(t, {.kernel = nothing}); }));
    }
    EXPECT_EQ(notes_.count(&recorder::misuse, "before their scheduler"), 1U);
    EXPECT_EQ(local->report().submitted, 0U);
}

TEST_P(DeviceLocalStore, WithoutItsThreadsItRunsOnTheCores) {
    braid::scheduler s(options());
    device::local_store local(s, {.units = 2, .stack_bytes = std::size_t{1} << 50});
    EXPECT_EQ(notes_.count(&recorder::log, "the system refused a thread or 262144 bytes"), 2U);
    std::array<std::uint32_t, 4> numbers{};
    s.wait(s.spawn([&](task_context& t) {
        for (std::uint32_t& n : numbers) {
            local.submit(t, {.kernel = increment, .writes = {std::span(&n, 1)}});
        }
    }));
    for (const std::uint32_t n : numbers) EXPECT_EQ(n, 1U);
    EXPECT_EQ(local.report().moved_to_cores, 4U);
    expect_account(local.report());
}

TEST_P(DeviceLocalStore, AnyRefusedAllocationFailsOneTaskAtMost) {
    int refused = 0;
    const int most = sanitized ? 12 : 30;
    for (int k = 0; k < most; ++k) {
        refusing_memory memory(memory_.hooks());
        braid::scheduler_options o = options();
        o.memory = memory.hooks();
        braid::scheduler s(o);
        {
            memory.refuse_one_after(k);
            device::local_store local(
                s,
                {.units = 2, .transfer_latency = k % 2 == 0 ? microseconds(0) : microseconds(90)});
            std::uint32_t number = 0;
            braid::future<void> task = s.async([&](task_context& t) {
                local.submit(t, {.kernel = increment, .writes = {std::span(&number, 1)}});
            });
            const int code = task.valid() ? code_of(std::move(task)) : -3;
            EXPECT_TRUE(code == 0 || code == -3 || code == device::error_code::out_of_memory ||
                        sanitized)
                << code;
            EXPECT_EQ(number, code == 0 ? 1U : 0U) << code;
            memory.give_back();
            expect_account(local.report());
        }
        refused += memory.refused();
    }
    EXPECT_GT(refused, 0);
}

// ---- everything rests --------------------------------------------------------------------------

/// The first one ends when somebody wants the scheduler to rest, so that the next one could begin.
void freezing_group(const device::group&) {
    if (++common.load()->begun != 1) return;
    until([] {
        const shared& with = *common.load();
        return with.go_on && braid::detail::core::is_frozen(with.scheduler->internals());
    });
}
constexpr device::kernel ends_when_frozen{"ends when frozen", &freezing_group};

TEST_P(DeviceLocalStore, RestsWhenItsKernelHasEndedAndBeginsWithNoneMeanwhile) {
    braid::scheduler s(options());
    device::local_store local(s, {}, {.name = "unit"});
    sharing with;
    with.scheduler = &s;
    std::atomic<int> submitted{0};
    const task_id task = s.spawn([&](task_context& t) {
        for (int i = 0; i < 2; ++i) local.submit(t, {.kernel = ends_when_frozen});
        ++submitted;
    });
    work_until(s, [&] { return submitted != 0; });
    until([&] { return with.begun == 1; });
    {
        const braid::safepoint rest(s, milliseconds(5));
        EXPECT_FALSE(rest.reached());
    }
    with.go_on = true;
    {
        const braid::safepoint rest(s, braid::seconds(20));
        ASSERT_TRUE(rest.reached());
        until([&] { return with.begun != 1 || proc_threads("unit").at(0).state == 'S'; });
        EXPECT_EQ(with.begun, 1);
    }
    s.wait(task);
    EXPECT_EQ(with.begun, 2);
}

TEST_P(DeviceLocalStore, MayEndWhileItsUnitsRest) {
    braid::scheduler s(options());
    for (int round = 0; round < 5; ++round) {
        std::optional<device::local_store> local;
        local.emplace(s, device::local_store_options{.units = 3});
        s.wait(s.spawn([&](task_context& t) {
            for (int i = 0; i < 9; ++i) local->submit(t, {.kernel = nothing});
        }));
        s.freeze();
        local.reset();
        s.resume();
    }
}

// ---- under a chooser ---------------------------------------------------------------------------

/// Takes a millisecond of virtual time.
void slow_group(const device::group&) {
    braid::scheduler& s = *common.load()->scheduler;
    braid::event never(s);
    s.do_work_while_waiting_for(never, milliseconds(1));
}
constexpr device::kernel slow{"slow", &slow_group};

/// Time passes as late as it can; the rest is drawn.
class patient_chooser final : public braid::chooser {
public:
    explicit patient_chooser(std::uint64_t seed) : drawn_(seed) {}
    std::size_t choose(braid::decision_kind kind, const braid::alternative* list,
                       std::size_t count) override {
        return kind == braid::decision_kind::clock ? 0 : drawn_.choose(kind, list, count);
    }
    void nobody_can_go_on() override { drawn_.nobody_can_go_on(); }

private:
    seeded_chooser drawn_;
};

/// How long the jobs take in virtual time.
std::int64_t time_of(std::uint64_t seed, unsigned units, int jobs, braid::nanoseconds latency) {
    patient_chooser chooser(seed);
    braid::scheduler_options o;
    o.workers = static_cast<int>(seed % 3);
    o.chooser = &chooser;
    braid::scheduler s(o);
    sharing with;
    with.scheduler = &s;
    device::local_store local(s, {.units = units, .transfer_latency = latency});
    const auto now = [&s] { return braid::detail::core::sources(s.internals()).clock(); };
    std::int64_t begin = 0;
    s.wait(s.spawn([&](task_context& t) {
        begin = now();
        for (int i = 0; i < jobs; ++i) local.submit(t, {.kernel = slow});
    }));
    return now() - begin;
}

TEST(DeviceLocalStoreInVirtualTime, TransfersAreHiddenBehindWhatRuns) {
    const deadline within;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const int percent : {0, 10, 50, 90, 100}) {
            const braid::nanoseconds latency = microseconds(10 * percent);
            const std::int64_t wanted = milliseconds(10).value + 2 * latency.value;
            EXPECT_NEAR(static_cast<double>(time_of(seed, 1, 10, latency)),
                        static_cast<double>(wanted), static_cast<double>(wanted) / 100)
                << "seed " << seed << ", latency of " << percent << " % of a job";
            const std::int64_t half = milliseconds(5).value + 2 * latency.value;
            EXPECT_NEAR(static_cast<double>(time_of(seed, 2, 10, latency)),
                        static_cast<double>(half), static_cast<double>(half) / 100)
                << "seed " << seed << ", latency of " << percent << " % of a job, two units";
        }
    }
}

/// Nothing runs to hide them: each of a chain waits for what it comes after.
TEST(DeviceLocalStoreInVirtualTime, TransfersOfAChainAreNotHidden) {
    const deadline within;
    patient_chooser chooser(3);
    braid::scheduler_options o;
    o.workers = 1;
    o.chooser = &chooser;
    braid::scheduler s(o);
    device::local_store local(s, {.transfer_latency = milliseconds(1)});
    const auto now = [&s] { return braid::detail::core::sources(s.internals()).clock(); };
    std::int64_t begin = 0;
    s.wait(s.spawn([&](task_context& t) {
        begin = now();
        ticket last;
        for (int i = 0; i < 5; ++i) last = local.submit(t, {.kernel = nothing, .after = {last}});
    }));
    EXPECT_EQ(now() - begin, milliseconds(10).value);
}

struct outcome {
    device::processor_report account;
    std::array<std::uint32_t, 32> numbers{};
    std::vector<int> codes;
    std::vector<std::uint64_t> decisions;
    std::uint64_t unchosen = 0;
};

/// Eight tasks with chains, deadlines, and a scope that is cancelled.
outcome run_of(std::uint64_t seed) {
    seeded_chooser chooser(seed);
    outcome r;
    {
        braid::scheduler_options o;
        o.workers = static_cast<int>(seed % 3);
        o.chooser = &chooser;
        o.unobserved_exception = {[](void*, const char*, std::exception_ptr) {}, nullptr};
        braid::scheduler s(o);
        {
            sharing with;
            with.scheduler = &s;
            device::local_store local(s, {.units = 1 + static_cast<unsigned>(seed % 2),
                                          .transfer_latency = microseconds(int(seed % 4) * 100)});
            braid::scope level(s);
            std::vector<braid::future<void>> tasks;
            for (std::uint32_t i = 0; i < 8; ++i) {
                braid::task_options how{.name = "submits"};
                if (i % 4 == 3) how.within = &level;
                tasks.push_back(s.async(how, [&, i](task_context& t) {
                    ticket last;
                    for (std::uint32_t j = 0; j < 4; ++j) {
                        last = local.submit(
                            t, {.kernel = (i + j) % 5 == 0 ? slow : increment,
                                .writes = {std::span(&r.numbers[4 * i + j], 1)},
                                .after = {j % 2 == 1 ? last : ticket{}},
                                .deadline = i % 5 == 4 ? microseconds(900) : braid::no_limit});
                    }
                    if (i == 7 && seed % 2 == 0) level.cancel();
                }));
            }
            for (braid::future<void>& task : tasks) r.codes.push_back(code_of(std::move(task)));
            wait_for_all(level);
            r.account = local.report();
        }
        s.shut_down();
        EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U) << "seed " << seed;
        r.unchosen = s.statistics().unchosen;
    }
    r.decisions = chooser.log();
    return r;
}

TEST(DeviceLocalStoreInVirtualTime, EverySubmissionEndsOnceAndASeedIsARun) {
    const deadline within;
    device::processor_report sum;
    const std::size_t seeds = sanitized ? 60 : 1'000;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const outcome r = run_of(seed);
        EXPECT_EQ(r.unchosen, 0U);
        EXPECT_EQ(r.account.submitted, r.account.completed + r.account.failed +
                                           r.account.timed_out + r.account.cancelled);
        sum.completed += r.account.completed;
        sum.failed += r.account.failed;
        sum.timed_out += r.account.timed_out;
        sum.cancelled += r.account.cancelled;
        if (seed % 10 == 0) {
            const outcome again = run_of(seed);
            EXPECT_EQ(again.decisions, r.decisions);
            EXPECT_EQ(again.codes, r.codes);
            EXPECT_EQ(again.numbers, r.numbers);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    for (const std::uint64_t n : {sum.completed, sum.failed, sum.timed_out, sum.cancelled}) {
        EXPECT_GT(n, 0U);
    }
}

}  // namespace
