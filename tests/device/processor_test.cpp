// X1: a task hands work to a processor and returns; it is complete when the processor is done.
#include "device_fixture.hpp"
#include "refusing_memory.hpp"

namespace {

using namespace braid_test;
using braid::microseconds;
using braid::milliseconds;
using braid::task_context;
using braid::task_id;
using device::ticket;

BRAID_SCHEDULER_TEST(DeviceProcessor);

TEST_P(DeviceProcessor, ATaskIsCompleteWhenItsSubmissionIs) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    std::vector<std::uint32_t> in(64), out(64);
    std::iota(in.begin(), in.end(), 0U);
    const task_id task = s.spawn([&](task_context& t) {
        const ticket done = cpu.submit(t, {.kernel = scale_kernel,
                                           .reads = {std::span<const std::uint32_t>(in)},
                                           .writes = {std::span(out)},
                                           .groups = {8},
                                           .constants = device::bytes_of(std::uint32_t{3})});
        EXPECT_TRUE(done);
    });
    s.wait(task);
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(out[i], 3 * i);
    const device::processor_report r = cpu.report();
    EXPECT_EQ(r.submitted, 1U);
    EXPECT_EQ(r.completed, 1U);
    expect_account(r);
    EXPECT_STREQ(cpu.name(), "cpu");
}

TEST_P(DeviceProcessor, SaysHowLongSubmissionsTookWhereThatIsAskedFor) {
    for (const bool asked : {false, true}) {
        braid::scheduler s(options());
        device::fake late(s, {.latency = braid::milliseconds(2)}, {.latencies = asked});
        EXPECT_EQ(late.report().latency_p99.value, 0);
        std::vector<braid::task_id> all;
        for (int i = 0; i < 5; ++i) {
            all.push_back(s.spawn([&](braid::task_context& task) {
                late.submit(task, {.kernel = braid_test::nothing});
            }));
        }
        for (const braid::task_id id : all) s.wait(id);
        const device::processor_report r = late.report();
        EXPECT_EQ(r.latency_p50 >= braid::milliseconds(2), asked);
        EXPECT_EQ(r.latency_p50.value != 0, asked);
        EXPECT_GE(r.latency_p99.value, r.latency_p50.value);
    }
}

TEST_P(DeviceProcessor, ASuccessorSeesWhatTheKernelWrote) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    const device::buffer b = cpu.buffer({.name = "numbers", .bytes = 64});
    ASSERT_TRUE(b);
    for (std::uint32_t& n : cpu.map<std::uint32_t>(b)) n = 7;
    const task_id computed =
        s.spawn([&](task_context& t) { cpu.submit(t, {.kernel = increment, .writes = {b}}); });
    std::uint32_t seen = 0;
    s.wait(s.spawn({.after = {computed}}, [&] { seen = cpu.map<std::uint32_t>(b)[15]; }));
    EXPECT_EQ(seen, 8U);
    EXPECT_TRUE(cpu.release(b));
    EXPECT_FALSE(cpu.release(b));
    EXPECT_EQ(cpu.report().buffer_bytes, 0U);
    EXPECT_EQ(cpu.report().most_buffer_bytes, 64U);
}

TEST_P(DeviceProcessor, GroupsKnowTheirPlaceInThreeDimensions) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    std::array<std::uint8_t, 2 * 3 * 4> seen{};
    const device::kernel mark{"mark", [](const device::group& g) {
                                  const std::span<std::uint8_t> out = g.write<std::uint8_t>(0);
                                  ++out[g.x() + g.groups().x * (g.y() + g.groups().y * g.z())];
                              }};
    s.wait(s.spawn([&](task_context& t) {
        cpu.submit(t, {.kernel = mark, .writes = {std::span(seen)}, .groups = {2, 3, 4}});
    }));
    for (const std::uint8_t n : seen) EXPECT_EQ(n, 1);
}

TEST_P(DeviceProcessor, SubmissionsRunAfterTheirTickets) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    std::uint32_t number = 0;
    const device::kernel twice_and_one{"twice and one", [](const device::group& g) {
                                           std::uint32_t& n = g.write<std::uint32_t>(0)[0];
                                           n = 2 * n + 1;
                                       }};
    s.wait(s.spawn([&](task_context& t) {
        ticket last;
        for (int i = 0; i < 20; ++i) {
            last = cpu.submit(
                t, {.kernel = twice_and_one, .writes = {std::span(&number, 1)}, .after = {last}});
            ASSERT_TRUE(last);
        }
    }));
    EXPECT_EQ(number, (1U << 20) - 1);
    expect_account(cpu.report());
}

TEST_P(DeviceProcessor, ATicketOfAnotherProcessorGoesThroughTheCores) {
    braid::scheduler s(options());
    device::cpu one(s), other(s, {.name = "other"});
    std::uint32_t number = 5;
    s.wait(s.spawn([&](task_context& t) {
        const ticket first =
            one.submit(t, {.kernel = increment, .writes = {std::span(&number, 1)}});
        const device::kernel doubles{
            "double", [](const device::group& g) { g.write<std::uint32_t>(0)[0] *= 2; }};
        EXPECT_TRUE(other.submit(
            t, {.kernel = doubles, .writes = {std::span(&number, 1)}, .after = {first}}));
    }));
    EXPECT_EQ(number, 12U);
    EXPECT_EQ(one.report().completed, 1U);
    EXPECT_EQ(other.report().completed, 1U);
}

/// Two schedulers have done the same, so that ids of one are ids of the other, too.
TEST_P(DeviceProcessor, ATicketOfAnotherSchedulersProcessorIsRefusedWithASentence) {
    braid::scheduler s(options()), other(options());
    device::fake here(s, {}), there(other, {});
    std::vector<ticket> tickets;
    for (int i = 0; i < 20; ++i) {
        for (braid::scheduler* const each : {&s, &other}) {
            device::fake& of = each == &s ? here : there;
            each->wait(each->spawn([&](task_context& t) {
                const ticket made = of.submit(t, {.kernel = nothing});
                if (each == &other) tickets.push_back(made);
            }));
        }
    }
    ASSERT_EQ(tickets.size(), 20U);
    std::size_t refused = 0;
    for (const ticket& foreign : tickets) {
        s.wait(s.spawn([&](task_context& t) {
            EXPECT_FALSE(here.submit(t, {.kernel = nothing, .after = {foreign}}));
            device::sequence all(here, "steps");
            EXPECT_TRUE(all.add({.kernel = nothing}));
            EXPECT_FALSE(here.submit(t, all, {.after = {foreign}}));
        }));
        refused += 2;
        EXPECT_EQ(notes_.count(&recorder::misuse, "tickets of processors of its scheduler"),
                  refused);
        EXPECT_TRUE(here.ended(foreign));
        EXPECT_EQ(notes_.count(&recorder::misuse, "the ticket is of a processor of another"),
                  refused / 2);
    }
    EXPECT_EQ(here.report().submitted, 20U);
    expect_account(here.report());
}

TEST_P(DeviceProcessor, ToComeAfterAStaleTicketIsToComeAfterNothing) {
    braid::scheduler s(options());
    device::fake one(s, {});
    std::optional<device::cpu> gone(std::in_place, s);
    std::vector<ticket> stale;
    for (device::processor* const p :
         {static_cast<device::processor*>(&one), static_cast<device::processor*>(&*gone)}) {
        s.wait(s.spawn([&](task_context& t) {
            stale.push_back(p->submit(t, {.kernel = nothing}));
            stale.push_back(p->submit(t, {.kernel = nothing}));
        }));
    }
    gone.reset();
    for (int i = 0; i < 10; ++i) {  // the records serve others meanwhile
        s.wait(s.spawn([&](task_context& t) {
            EXPECT_TRUE(one.submit(
                t,
                {.kernel = nothing, .after = {stale[0], stale[1], stale[2], stale[3], ticket{}}}));
        }));
    }
    for (const ticket& t : stale) EXPECT_TRUE(one.ended(t));
    EXPECT_EQ(one.report().completed, 12U);
}

TEST_P(DeviceProcessor, ATicketOfAnotherProcessorSaysWhetherItHasEnded) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    device::cpu other(s);
    bool before = true;
    ticket made;
    may_end = false;
    s.wait(s.spawn([&](task_context& t) {
        made = one.submit(t, {.kernel = ends_late});
        before = other.ended(made);
        may_end = true;
    }));
    EXPECT_FALSE(before);
    EXPECT_TRUE(other.ended(made));
}

TEST_P(DeviceProcessor, AnOrderByWayOfAnotherProcessorIsNotSeenAndTheSentenceSaysTheCure) {
    braid::scheduler s(options());
    device::fake gpu(s, {.latency = milliseconds(1)});
    device::cpu cpu(s);
    const device::buffer b = gpu.buffer({.name = "mesh", .bytes = 64});
    may_end = false;
    const device::kernel writes{"writes", &late_increment_group},
        between{"between", &nothing_group}, reads{"reads", &nothing_group};
    s.wait(s.spawn([&](task_context& t) {
        const ticket first = gpu.submit(t, {.kernel = writes, .writes = {b}});
        const ticket second = cpu.submit(t, {.kernel = between, .after = {first}});
        EXPECT_FALSE(gpu.submit(t, {.kernel = reads, .reads = {b}, .after = {second}}));
        EXPECT_EQ(notes_.count(&recorder::misuse,
                               "'reads' and 'writes' use one buffer, and one of them writes it: "
                               "give the ticket of 'writes' in `after`, too, as no order by way of "
                               "another processor is seen"),
                  1U);
        EXPECT_TRUE(gpu.submit(t, {.kernel = reads, .reads = {b}, .after = {first, second}}));
        // Where no other processor is named, there is no word of one.
        EXPECT_FALSE(gpu.submit(t, {.kernel = reads, .reads = {b}}));
        EXPECT_EQ(notes_.count(&recorder::misuse, "another processor"), 1U);
        may_end = true;
    }));
    EXPECT_EQ(gpu.report().completed, 2U);
    expect_account(gpu.report());
}

TEST_P(DeviceProcessor, MoreThanMaxInFlightWaitsInTheQueueByPriority) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)}, {.max_in_flight = 1});
    static std::vector<std::uint32_t> order;  // one at a time writes it
    order.clear();
    may_end = false;
    const device::kernel note{"note", [](const device::group& g) {
                                  late_group(g);
                                  order.push_back(g.constants<std::uint32_t>());
                              }};
    s.wait(s.spawn([&](task_context& t) {
        const auto submit = [&](std::uint32_t n, braid::priority_level level) {
            one.submit(t, {.kernel = note, .constants = device::bytes_of(n), .priority = level});
        };
        submit(0, braid::priority_level::low);
        submit(1, braid::priority_level::low);
        submit(2, braid::priority_level::normal);
        submit(3, braid::priority_level::high);
        submit(4, braid::priority_level::high);
        may_end = true;
    }));
    EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 3, 4, 2, 1}));
    EXPECT_EQ(one.report().most_in_flight, 1U);
    EXPECT_EQ(one.report().most_queued, 4U);
}

TEST_P(DeviceProcessor, MaxBytesHoldsBackAndALargeOneRunsAlone) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)}, {.max_bytes = 100});
    std::array<std::byte, 60> small[3];
    std::array<std::byte, 1'000> large;
    s.wait(s.spawn([&](task_context& t) {
        for (auto& a : small) one.submit(t, {.kernel = nothing, .writes = {std::span(a)}});
        one.submit(t, {.kernel = nothing, .writes = {std::span(large)}});
    }));
    EXPECT_EQ(one.report().most_in_flight, 1U);
    EXPECT_EQ(one.report().completed, 4U);
}

TEST_P(DeviceProcessor, NobodyAllocatesOnceItsRecordsAreThere) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    const auto round = [&] {
        s.wait(s.spawn([&](task_context& t) {
            for (int i = 0; i < 8; ++i) cpu.submit(t, {.kernel = nothing, .groups = {4}});
        }));
    };
    for (int i = 0; i < 50; ++i) round();
    const std::size_t records = s.bytes(braid::memory_tag::device);
    for (int i = 0; i < 50; ++i) round();
    EXPECT_EQ(s.bytes(braid::memory_tag::device), records);
    expect_account(cpu.report());
}

TEST_P(DeviceProcessor, TasksThatStayOpenKeepTheirOwnRecordsAndNoOthers) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    constexpr unsigned lasting = 3;
    std::vector<braid::completion_id> open(lasting);
    std::vector<task_id> tasks;
    std::atomic<unsigned> submitted{0};
    const auto round = [&] {
        s.wait(s.spawn([&](task_context& t) {
            for (int i = 0; i < 8; ++i) cpu.submit(t, {.kernel = nothing});
        }));
    };
    round();
    for (unsigned i = 0; i < lasting; ++i) {
        tasks.push_back(s.spawn([&, i](task_context& t) {
            cpu.submit(t, {.kernel = nothing});
            open[i] = t.defer();
            ++submitted;
        }));
    }
    work_until(s, [&] { return submitted == lasting && cpu.report().in_flight == 0; });
    for (int i = 0; i < 50; ++i) round();
    const std::size_t records = s.bytes(braid::memory_tag::device);
    for (int i = 0; i < 100; ++i) round();
    EXPECT_EQ(s.bytes(braid::memory_tag::device), records);
    EXPECT_LT(records, std::size_t{40} * 3'008);
    for (const braid::completion_id id : open) s.complete(id);
    for (const task_id task : tasks) s.wait(task);
    expect_account(cpu.report());
}

// ---- mistakes ----------------------------------------------------------------------------------

TEST_P(DeviceProcessor, WhatIsOutOfRangeIsRefusedWithASentence) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    const device::buffer b = cpu.buffer({.name = "palette", .bytes = 64});
    std::uint32_t n = 0;
    s.wait(s.spawn([&](task_context& t) {
        const auto refused = [&](const device::submission& what, const char* sentence) {
            const std::size_t before = notes_.count(&recorder::misuse, sentence);
            EXPECT_FALSE(cpu.submit(t, what));
            EXPECT_EQ(notes_.count(&recorder::misuse, sentence), before + 1) << sentence;
        };
        const device::kernel empty;
        refused({.kernel = empty}, "needs its version for cores");
        refused({.kernel = nothing, .groups = {0}}, "1..65,535");
        refused({.kernel = nothing, .groups = {65'536}}, "1..65,535");
        refused({.kernel = nothing, .groups = {65'535, 65'535, 65'535}}, "2^40 in all");
        const std::array<std::byte, 129> many{};
        refused({.kernel = nothing, .constants = many}, "128 bytes at most");
        refused({.kernel = nothing, .reads = {device::buffer_range{b, 64}}},
                "'palette' has 64 bytes");
        refused({.kernel = nothing, .reads = {device::buffer_range{b, 60, 5}}},
                "'palette' has 64 bytes");
        refused({.kernel = nothing, .reads = {b}, .writes = {b}}, "must not write");
        refused({.kernel = nothing, .reads = {std::span(&n, 1)}, .writes = {std::span(&n, 1)}},
                "must not write");
    }));
    EXPECT_FALSE(cpu.buffer({.bytes = 0}));
    EXPECT_EQ(notes_.count(&recorder::misuse, "1 to 2^40 bytes"), 1U);
    s.post([&](task_context& t) { EXPECT_FALSE(cpu.submit(t, {.kernel = nothing})); });
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::misuse, "a posted task cannot submit"), 1U);
    EXPECT_EQ(cpu.report().submitted, 0U);
}

TEST_P(DeviceProcessor, WhatBelongsToAnotherSchedulerIsRefused) {
    braid::scheduler s(options()), other(options());
    device::cpu there(other);
    s.wait(s.spawn([&](task_context& t) { EXPECT_FALSE(there.submit(t, {.kernel = nothing})); }));
    EXPECT_EQ(notes_.count(&recorder::misuse, "processors of its own scheduler"), 1U);
    EXPECT_EQ(there.report().submitted, 0U);
}

TEST_P(DeviceProcessor, EndsOfRangesAreAccepted) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    const device::buffer b = cpu.buffer({.bytes = 64});
    const std::array<std::byte, 128> constants{};
    s.wait(s.spawn([&](task_context& t) {
        EXPECT_TRUE(cpu.submit(t, {.kernel = nothing, .constants = constants}));
        EXPECT_TRUE(cpu.submit(t, {.kernel = nothing, .groups = {1, 1, 65'535}}));
        EXPECT_TRUE(cpu.submit(t, {.kernel = nothing,
                                   .reads = {device::buffer_range{b, 0, 63}},
                                   .writes = {device::buffer_range{b, 63, 1}}}));
    }));
    EXPECT_EQ(cpu.report().completed, 3U);
}

TEST_P(DeviceProcessor, UsersOfOneBufferWithoutOrderAreRefusedByName) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    const device::buffer b = one.buffer({.name = "shared", .bytes = 64});
    may_end = false;
    s.wait(s.spawn([&](task_context& t) {
        const ticket first = one.submit(t, {.kernel = increments_late, .writes = {b}});
        EXPECT_TRUE(first);
        EXPECT_FALSE(one.submit(t, {.kernel = nothing, .reads = {b}}));
        EXPECT_EQ(notes_.count(&recorder::misuse, "'nothing' and 'increments late' use one buffer"),
                  1U);
        const ticket second = one.submit(t, {.kernel = nothing, .reads = {b}, .after = {first}});
        EXPECT_TRUE(second);
        // Two that read need no order; one that writes comes after both.
        const ticket third = one.submit(t, {.kernel = nothing, .reads = {b}, .after = {first}});
        EXPECT_TRUE(third);
        EXPECT_FALSE(one.submit(t, {.kernel = increment, .writes = {b}, .after = {third}}));
        const ticket last =
            one.submit(t, {.kernel = increment, .writes = {b}, .after = {second, third}});
        EXPECT_TRUE(last);
        // One that writes a part covers no one that uses more than that.
        const ticket part = one.submit(
            t, {.kernel = increment, .writes = {device::buffer_range{b, 0, 4}}, .after = {last}});
        EXPECT_TRUE(part);
        EXPECT_FALSE(one.submit(t, {.kernel = nothing, .reads = {device::buffer_range{b, 32, 4}}}));
        // By way of others, and in parts that nobody else uses.
        EXPECT_TRUE(one.submit(
            t, {.kernel = nothing, .reads = {device::buffer_range{b, 0, 4}}, .after = {part}}));
        may_end = true;
    }));
    EXPECT_EQ(one.map<std::uint32_t>(b)[3], 2U);
    expect_account(one.report());
}

TEST_P(DeviceProcessor, AnOrderIsFoundInALatticeOfManyWays) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    const device::buffer b = one.buffer({.name = "shared", .bytes = 8});
    braid::scope level(s);
    may_end = false;
    braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
        one.submit(t, {.kernel = increments_late, .writes = {b}});
        // 2^40 ways lead back to the first row.
        ticket row[2];
        for (int depth = 0; depth < 40; ++depth) {
            const ticket next[2] = {one.submit(t, {.kernel = nothing, .after = {row[0], row[1]}}),
                                    one.submit(t, {.kernel = nothing, .after = {row[0], row[1]}})};
            row[0] = next[0];
            row[1] = next[1];
        }
        EXPECT_FALSE(one.submit(t, {.kernel = nothing, .reads = {b}, .after = {row[0], row[1]}}));
        level.cancel();  // what is queued ends at once
        may_end = true;
    });
    code_of(std::move(task));
    level.wait();
    EXPECT_EQ(notes_.count(&recorder::misuse, "'nothing' and 'increments late' use one buffer"),
              1U);
}

TEST_P(DeviceProcessor, ABufferInUseCannotBeMapped) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)});
    const device::buffer b = one.buffer({.name = "in use", .bytes = 8});
    may_end = false;
    s.wait(s.spawn([&](task_context& t) {
        one.submit(t, {.kernel = increments_late, .writes = {b}});
        EXPECT_TRUE(one.map<std::uint32_t>(b).empty());
        EXPECT_TRUE(one.release(b));  // its memory stays until then
        may_end = true;
    }));
    EXPECT_EQ(notes_.count(&recorder::misuse, "a submission uses buffer 'in use'"), 1U);
    EXPECT_EQ(one.report().buffer_bytes, 0U);
    EXPECT_EQ(one.report().completed, 1U);
    EXPECT_TRUE(one.map<std::uint32_t>(b).empty());
    EXPECT_EQ(notes_.count(&recorder::misuse, "the buffer is stale"), 1U);
}

// ---- failures ----------------------------------------------------------------------------------

#if BRAID_HAS_EXCEPTIONS
TEST_P(DeviceProcessor, ImportedMemoryIsABufferThatStaysWithTheProgram) {
    braid::scheduler s(options());
    std::vector<std::uint32_t> memory(16, 7);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
    device::fake one(s, {.latency = milliseconds(1)});
    const device::buffer b = one.import_buffer({.name = "level", .memory = bytes});
    EXPECT_EQ(one.map<std::uint32_t>(b).data(), memory.data());
    may_end = false;
    s.wait(s.spawn([&](task_context& t) {
        const ticket first = one.submit(t, {.kernel = increments_late, .writes = {b}});
        EXPECT_TRUE(one.map<std::uint32_t>(b).empty());
        EXPECT_FALSE(one.submit(t, {.kernel = increment, .writes = {b}}));
        one.submit(t, {.kernel = increment, .writes = {b}, .after = {first}});
        may_end = true;
    }));
    EXPECT_EQ(memory, std::vector<std::uint32_t>(16, 9));
    EXPECT_EQ(notes_.count(&recorder::misuse, "a submission uses buffer 'level'"), 1U);
    EXPECT_EQ(notes_.count(&recorder::misuse, "use one buffer"), 1U);

    EXPECT_FALSE(one.import_buffer({.memory = bytes.subspan(60)}));
    EXPECT_EQ(notes_.count(&recorder::misuse, "memory is imported that buffer 'level' has already"),
              1U);
    EXPECT_FALSE(one.import_buffer({}));
    EXPECT_EQ(notes_.count(&recorder::misuse, "memory of 1 to 2^40 bytes is imported"), 1U);
    EXPECT_TRUE(one.release(b));
    EXPECT_FALSE(one.release(b));
    EXPECT_TRUE(one.import_buffer({.memory = bytes.subspan(60)}));
    EXPECT_EQ(one.report().most_buffer_bytes, 0U);
}

TEST_P(DeviceProcessor, WhatAKernelThrowsFailsItsTaskAndWhatComesAfter) {
    braid::scheduler s(options());
    device::cpu cpu(s);
    braid::future<void> task = s.async([&](task_context& t) {
        const ticket first = cpu.submit(t, {.kernel = throwing, .groups = {4}});
        cpu.submit(t, {.kernel = nothing, .after = {first}});
    });
    EXPECT_EQ(code_of(std::move(task)), -2);
    const device::processor_report r = cpu.report();
    EXPECT_EQ(r.failed, 2U);
    expect_account(r);
}

/// Where the work has ended before the test looks, it is tried again with twice the time.
TEST_P(DeviceProcessor, TheDeadlineEndsTheTaskAndNotTheWork) {
    braid::scheduler s(options());
    constexpr int late = braid::completion_error::deadline_passed;
    bool was_in_flight = false;
    for (auto latency = milliseconds(100); !was_in_flight; latency.value *= 2) {
        ASSERT_LT(latency, braid::seconds(5));
        device::fake one(s, {.latency = latency}, {.hang_after = braid::seconds(60)});
        const device::buffer b = one.buffer({.bytes = 8});
        braid::future<void> task = s.async([&](task_context& t) {
            one.submit(t, {.kernel = increment, .writes = {b}, .deadline = milliseconds(20)});
        });
        const int code = code_of(std::move(task), late);
        was_in_flight = one.map<std::uint32_t>(b).empty();
        work_until(s, [&] { return one.report().in_flight == 0; });
        EXPECT_EQ(one.map<std::uint32_t>(b).size(), 2U);
        const device::processor_report r = one.report();
        EXPECT_EQ(code, r.timed_out == 1 ? late : 0);
        EXPECT_TRUE(r.timed_out == 1 || !was_in_flight);
        // Its time may be up before it is started.
        EXPECT_EQ(r.late_ends, r.timed_out == 1 ? r.started : 0);
        expect_account(r);
    }
    EXPECT_EQ(notes_.count(&recorder::misuse, "a submission uses"), 1U);
}

TEST_P(DeviceProcessor, ACancelledScopeEndsWhatIsQueuedAndWaitsForTheRest) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)}, {.max_in_flight = 2});
    {
        braid::scope level(s);
        std::atomic<bool> submitted{false};
        may_end = false;
        std::thread outside([&] {
            until([&] { return submitted.load(); });
            level.cancel();
            may_end = true;
        });
        braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
            for (int i = 0; i < 6; ++i) one.submit(t, {.kernel = ends_late});
            submitted = true;
        });
        EXPECT_EQ(code_of(std::move(task)), -1);
        outside.join();
        level.wait();
    }
    const device::processor_report r = one.report();
    EXPECT_GE(r.cancelled, 4U);
    EXPECT_EQ(r.completed + r.cancelled, 6U);
    expect_account(r);
}

TEST_P(DeviceProcessor, ACancelledChainIsCancelledAndDoesNotFail) {
    braid::scheduler s(options());
    // The first one hangs until it is asked to end, and takes the others with it.
    device::fake one(s, {.hang = 1}, {.max_in_flight = 1, .hang_after = hang_limit});
    braid::scope level(s);
    std::atomic<bool> submitted{false};
    braid::future<void> task = s.async({.within = &level}, [&](task_context& t) {
        ticket last;
        for (int i = 0; i < 8; ++i) last = one.submit(t, {.kernel = nothing, .after = {last}});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    level.cancel();
    EXPECT_EQ(code_of(std::move(task)), -1);
    level.wait();
    EXPECT_EQ(one.report().failed, 0U);
    EXPECT_EQ(one.report().cancelled, 8U);
    expect_account(one.report());
}

TEST_P(DeviceProcessor, ACancelledSuccessorIsForgottenByWhatItComesAfter) {
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(10)});
    for (int round = 0; round < 3; ++round) {
        std::atomic<bool> submitted{false};
        ticket first;
        braid::future<void> before = s.async([&](task_context& t) {
            first = one.submit(t, {.kernel = nothing});
            submitted = true;
        });
        work_until(s, [&] { return submitted.load(); });
        braid::scope level(s);
        std::atomic<bool> waits{false};
        braid::future<void> after = s.async({.within = &level}, [&](task_context& t) {
            one.submit(t, {.kernel = nothing, .after = {first}});
            waits = true;
        });
        work_until(s, [&] { return waits.load(); });
        level.cancel();
        const int code = code_of(std::move(after));
        EXPECT_TRUE(code == -1 || code == 0) << code;  // 0: the first had ended already
        level.wait();
        // The record serves others before the first one ends.
        EXPECT_EQ(code_of(s.async([&](task_context& t) { one.submit(t, {.kernel = nothing}); })),
                  0);
        EXPECT_EQ(code_of(std::move(before)), 0);
    }
    expect_account(one.report());
}
#endif

TEST_P(DeviceProcessor, ADrainRunsWhatIsQueued) {
    std::uint32_t number = 0;
    braid::scheduler s(options());
    device::fake one(s, {.latency = milliseconds(1)}, {.max_in_flight = 1});
    std::atomic<bool> submitted{false};
    s.spawn([&](task_context& t) {
        ticket last;
        for (int i = 0; i < 5; ++i) {
            last = one.submit(t, {.kernel = increment,
                                  .writes = {std::span(&number, 1)},
                                  .groups = {1},
                                  .after = {last}});
        }
        submitted = true;
    });
    s.shut_down();
    EXPECT_TRUE(submitted);
    EXPECT_EQ(number, 5U);
    EXPECT_EQ(one.report().completed, 5U);
}

TEST_P(DeviceProcessor, ADiscardEndsEveryTask) {
    braid::scheduler s(options());
    device::fake one(s, {.hang = 1}, {.max_in_flight = 1, .hang_after = braid::no_limit});
    std::atomic<bool> submitted{false};
    s.spawn([&](task_context& t) {
        for (int i = 0; i < 5; ++i) one.submit(t, {.kernel = nothing});
        submitted = true;
    });
    work_until(s, [&] { return submitted.load(); });
    s.shut_down(braid::shutdown::discard);
    const device::processor_report r = one.report();
    EXPECT_EQ(r.submitted, 5U);
    EXPECT_EQ(r.cancelled, 5U);
    expect_account(r);
}

/// Where all of it has ended before the destructor began, it is tried again with twice the time.
TEST_P(DeviceProcessor, ItsDestructorCancelsTheQueueAndWaitsForWhatIsInFlight) {
    braid::scheduler s(options());
    bool is_cancelled = false;
    for (auto latency = milliseconds(25); !is_cancelled; latency.value *= 2) {
        ASSERT_LT(latency, braid::seconds(5));
        std::atomic<bool> submitted{false};
        std::uint32_t numbers[4] = {};
        braid::future<void> task;
        {
            device::fake one(s, {.latency = latency},
                             {.max_in_flight = 1, .hang_after = braid::seconds(60)});
            task = s.async([&](task_context& t) {
                for (std::uint32_t& n : numbers) {
                    one.submit(t, {.kernel = increment, .writes = {std::span(&n, 1)}});
                }
                submitted = true;
            });
            work_until(s, [&] { return submitted.load(); });
        }
        work_until(s, [&] { return task.ready(); });
        is_cancelled = numbers[0] + numbers[1] + numbers[2] + numbers[3] < 4;
#if BRAID_HAS_EXCEPTIONS
        EXPECT_EQ(code_of(std::move(task)), is_cancelled ? -1 : 0);
#endif
    }
}

TEST_P(DeviceProcessor, ItsDestructorWaitsForSubmissionsAndNotForTasks) {
    braid::scheduler s(options());
    braid::completion_id open;
    std::atomic<bool> submitted{false};
    std::uint32_t number = 0;
    braid::future<void> task;
    {
        device::fake one(s, {.latency = milliseconds(20)});
        task = s.async([&](task_context& t) {
            one.submit(t, {.kernel = increment, .writes = {std::span(&number, 1)}});
            open = t.defer();
            submitted = true;
        });
        work_until(s, [&] { return submitted.load(); });
    }
    EXPECT_EQ(number, 1U);
    EXPECT_FALSE(task.ready());
    s.complete(open);
    EXPECT_EQ(code_of(std::move(task)), 0);
}

namespace {
std::atomic<int> kernel_began{0}, kernel_goes_on{0};
void waiting_group(const device::group&) {
    kernel_began = 1;
    until([] { return kernel_goes_on.load() != 0; });
}
}  // namespace

/// The kernel runs for as long as nothing is logged.
TEST_P(DeviceProcessor, ItsDestructorSaysWhatItWaitsForAfterTheSchedulersPatience) {
    if (GetParam() == 0) GTEST_SKIP() << "the thread that would say so runs the kernel";
    kernel_began = kernel_goes_on = 0;
    braid::scheduler_options o = options();
    o.external_patience = milliseconds(1);
    static recorder* notes;
    notes = &notes_;
    o.log = {[](void*, braid::log_level, const char* message) {
                 const std::lock_guard lock(notes->mutex);
                 notes->log.emplace_back(message);
                 if (notes->log.back().find("the end of processor 'slow'") != std::string::npos) {
                     kernel_goes_on = 1;
                 }
             },
             nullptr};
    braid::scheduler s(o);
    std::atomic<bool> submitted{false};
    braid::completion_id open;
    braid::future<void> task;
    {
        device::cpu one(s, {.name = "slow"});
        task = s.async({.name = "skinning"}, [&](task_context& t) {
            one.submit(t, {.kernel = {"skin", &waiting_group}});
            open = t.defer();
            submitted = true;
        });
        work_until(s, [&] { return submitted.load(); });
        until([] { return kernel_began != 0; });  // on a worker: the destructor would run it, too
    }
    EXPECT_EQ(notes_.count(&recorder::log,
                           "the end of processor 'slow' waits for 'skin' of task 'skinning'"),
              1U);
    s.complete(open);
    EXPECT_EQ(code_of(std::move(task)), 0);
}

/// Both end while the other processor still has what they come after.
TEST_P(DeviceProcessor, ItsDestructorWaitsForWhatPassesOnTheEndOfOthers) {
    braid::scheduler s(options());
    device::fake other(s, {.latency = milliseconds(30)});
    std::atomic<bool> submitted{false};
    braid::future<void> task;
    {
        device::fake one(s, {});
        task = s.async([&](task_context& t) {
            const ticket first = other.submit(t, {.kernel = nothing});
            one.submit(t, {.kernel = nothing, .after = {first}});
            one.submit(t, {.kernel = nothing, .after = {first}});
            submitted = true;
        });
        work_until(s, [&] { return submitted.load(); });
    }
    const int code = code_of(std::move(task));
    EXPECT_TRUE(code == -1 || code == 0) << code;  // 0: the other one was quicker
    expect_account(other.report());
}

TEST_P(DeviceProcessor, OneThatOutlivesItsSchedulerIsReported) {
    std::optional<device::cpu> cpu;
    {
        braid::scheduler s(options());
        cpu.emplace(s);
        s.wait(s.spawn([&](task_context& t) { cpu->submit(t, {.kernel = nothing}); }));
    }
    EXPECT_EQ(notes_.count(&recorder::misuse, "before their scheduler"), 1U);
    EXPECT_EQ(cpu->report().submitted, 0U);
    EXPECT_FALSE(cpu->buffer({.bytes = 8}));
    EXPECT_TRUE(cpu->ended({}));
}

// ---- without memory ----------------------------------------------------------------------------

/// The k-th allocation is refused, for every k of a short run: nothing hangs, each task ends, and
/// the account comes out.
TEST_P(DeviceProcessor, AnyRefusedAllocationFailsOneTaskAtMost) {
    int refused = 0;
    const int most = sanitized ? 12 : 40;
    for (int k = 0; k < most; ++k) {
        refusing_memory memory(memory_.hooks());
        braid::scheduler_options o = options();
        o.memory = memory.hooks();
        braid::scheduler s(o);
        {
            device::fake one(s, {.latency = k % 2 == 0 ? milliseconds(0) : milliseconds(1)});
            memory.refuse_one_after(k);
            const device::buffer b = one.buffer({.bytes = 16});
            braid::future<void> task = s.async([&](task_context& t) {
                if (b) one.submit(t, {.kernel = increment, .writes = {b}});
                one.submit(t, {.kernel = nothing, .groups = {3}, .deadline = braid::seconds(50)});
            });
            // No memory for the task itself: nobody submits.
            const int code = task.valid() ? code_of(std::move(task)) : 0;
            EXPECT_TRUE(code == 0 || code == device::error_code::out_of_memory || sanitized)
                << code;
            memory.give_back();
            expect_account(one.report());
        }
        refused += memory.refused();
    }
    EXPECT_GT(refused, 0);
}

}  // namespace
