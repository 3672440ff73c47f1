// The table of failures, by seed: each submission ends once, in one of its ways, and the account
// comes out. Under a chooser a seed is a run.
#include "device_fixture.hpp"
#include "seeded_chooser.hpp"

#include <cstdio>

namespace {

using namespace braid_test;
using braid::microseconds;
using braid::milliseconds;
using braid::task_context;

class DeviceSeeds : public testing::Test {
protected:
    deadline deadline_;
};

struct outcome {
    device::processor_report account;
    std::vector<int> codes;  // of the tasks, in order
    std::vector<std::uint64_t> decisions;
    std::uint64_t unchosen = 0;
};

/// Twelve tasks with two to four submissions each, in chains, with deadlines, buffers and a scope
/// that is cancelled; and everything that can fail does.
class program {
public:
    program(braid::scheduler& s, std::uint64_t seed)
        : s_(s),
          seed_(seed),
          one_(s, faults(seed),
               {.max_in_flight = 3,
                .max_bytes = 4'000,
                .hang_after = milliseconds(3),
                .back_off = microseconds(300)}) {
        for (std::uint32_t i = 0; i < count; i += 5) {
            device::sequence& all = sequences_[i / 5].emplace(one_);
            const auto add = [&](std::size_t at) {
                EXPECT_TRUE(all.add(
                    {.kernel = increment, .writes = {std::span(&stepped_[at], 1)}, .groups = {3}}));
            };
            // Two beside each other, and one after them.
            add(i);
            add(i + 1);
            add(i);
        }
    }

    void run(outcome& to) {
        braid::scope level(s_);
        std::vector<braid::future<void>> tasks;
        const device::buffer shared = one_.buffer({.name = "shared", .bytes = 256});
        for (std::uint32_t i = 0; i < count; ++i) {
            braid::task_options o{.name = "submits"};
            if (i % 4 == 3) o.within = &level;
            tasks.push_back(s_.async(o, [this, i, shared, &level](task_context& t) {
                submit(t, i, shared);
                if (i == 7 && seed_ % 2 == 0) level.cancel();
            }));
            if (seed_ % 5 == 0) one_.revive();
        }
        for (braid::future<void>& task : tasks) to.codes.push_back(code_of(std::move(task)));
        wait_for_all(level);
        // What has timed out may still be in flight.
        work_until(s_, [&] { return one_.report().in_flight == 0; });
        to.account = one_.report();
        const double refuses = faults(seed_).out_of_memory;
        EXPECT_GE(to.account.refused_buffers, refuses == 1 ? 1U : 0U);
        EXPECT_LE(to.account.refused_buffers, refuses == 0 ? 0U : 1U);
    }
    /// Each number that a submission wrote was written once, or more often if it ran again.
    const std::array<std::uint32_t, 48>& numbers() const { return numbers_; }

private:
    static constexpr std::uint32_t count = 12;

    static device::fake_options faults(std::uint64_t seed) {
        device::fake_options f{
            .seed = seed, .latency = microseconds(20), .jitter = microseconds(50)};
        f.out_of_memory = seed % 3 == 0 ? 0.3 : 0;
        f.loss = seed % 4 == 0 ? 0.1 : 0;
        f.hang = seed % 7 == 0 ? 0.1 : 0;
        if (seed % 11 == 0) f.latency = f.jitter = {};
        if (seed % 13 == 0) f.out_of_memory = 1;
        return f;
    }
    void submit(task_context& t, std::uint32_t i, device::buffer shared) {
        device::ticket last;
        for (std::uint32_t j = 0; j < 2 + i % 3; ++j) {
            const bool in_chain = j % 2 == 1;
            last = one_.submit(t, {.kernel = increment,
                                   .writes = {std::span(&numbers_[4 * i + j], 1)},
                                   .groups = {1 + (i == 5 ? 7U : 0U)},
                                   .after = {in_chain ? last : device::ticket{}},
                                   .deadline = i % 5 == 4 ? microseconds(60) : braid::no_limit,
                                   .retry = i % 3,
                                   .idempotent = i % 3 != 0,
                                   .priority = static_cast<braid::priority_level>(i % 3)});
        }
        if (i % 5 == 0) {
            one_.submit(t, *sequences_[i / 5],
                        {.after = {last},
                         .deadline = i == 10 ? microseconds(90) : braid::no_limit,
                         .retry = 1,
                         .idempotent = true});
        }
        if (i % 6 == 0 && shared) {
            one_.submit(t, {.kernel = nothing, .reads = {shared}, .after = {last}});
        }
    }

    braid::scheduler& s_;
    const std::uint64_t seed_;
    device::fake one_;
    std::array<std::optional<device::sequence>, 3> sequences_;
    std::array<std::uint32_t, 48> numbers_{};
    std::array<std::uint32_t, count> stepped_{};
};

outcome play(std::uint64_t seed, bool chosen) {
    seeded_chooser chooser(seed);
    outcome r;
    {
        braid::scheduler_options o;
        o.workers = static_cast<int>(seed % 3);
        o.log = {[](void*, braid::log_level, const char*) {}, nullptr};
        o.unobserved_exception = {[](void*, const char*, std::exception_ptr) {}, nullptr};
        if (chosen) o.chooser = &chooser;
        braid::scheduler s(o);
        {
            program of(s, seed);
            of.run(r);
        }
        s.shut_down();
        EXPECT_EQ(s.bytes(braid::memory_tag::device), 0U) << "seed " << seed;
        EXPECT_EQ(s.open_completions(nullptr, 0), 0U) << "seed " << seed;
        r.unchosen = s.statistics().unchosen;
    }
    r.decisions = chooser.log();
    return r;
}

void add(device::processor_report& sum, const device::processor_report& r) {
    sum.submitted += r.submitted;
    sum.completed += r.completed;
    sum.moved_to_cores += r.moved_to_cores;
    sum.failed += r.failed;
    sum.timed_out += r.timed_out;
    sum.cancelled += r.cancelled;
    sum.started += r.started;
    sum.unstarted += r.unstarted;
    sum.rerun += r.rerun;
    sum.refused += r.refused;
    sum.retried += r.retried;
    sum.refused_buffers += r.refused_buffers;
    sum.late_ends += r.late_ends;
    sum.losses += r.losses;
}

struct column {
    const char* name;
    std::uint64_t count;
};
std::array<column, 13> columns_of(const device::processor_report& sum) {
    return {{{"submitted", sum.submitted},
             {"= completed", sum.completed},
             {"+ moved to cores", sum.moved_to_cores},
             {"+ failed", sum.failed},
             {"+ timed out", sum.timed_out},
             {"+ cancelled", sum.cancelled},
             {"started", sum.started},
             {"+ without a start", sum.unstarted},
             {"= submitted + rerun", sum.rerun},
             {"+ retried for memory", sum.retried},
             {"buffers on the cores", sum.refused_buffers},
             {"late ends", sum.late_ends},
             {"losses", sum.losses}}};
}

void print(const char* how, std::size_t seeds, const device::processor_report& sum) {
    std::printf("%zu seeds %s\n", seeds, how);
    for (const column& c : columns_of(sum)) {
        std::printf("  %-22s %9llu\n", c.name, static_cast<unsigned long long>(c.count));
    }
}

void expect_no_column_empty(const device::processor_report& sum) {
    for (const column& c : columns_of(sum)) EXPECT_GT(c.count, 0U) << c.name;
}

TEST_F(DeviceSeeds, EverySubmissionEndsOnceInSeedsThatRunFreely) {
    device::processor_report sum;
    const std::size_t seeds = stress_scaled(300);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const outcome r = play(seed, false);
        expect_account(r.account);
        add(sum, r.account);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    print("that run freely", seeds, sum);
    sum.late_ends += 1;  // few, as a matter of time: those under a chooser must have some
    expect_no_column_empty(sum);
}

TEST_F(DeviceSeeds, EverySubmissionEndsOnceUnderAChooserAndASeedIsARun) {
    device::processor_report sum;
    const std::size_t seeds = stress_scaled(sanitized ? 1'000 : 500);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const outcome r = play(seed, true);
        expect_account(r.account);
        EXPECT_EQ(r.unchosen, 0U);
        if (seed % 10 == 0) {
            const outcome again = play(seed, true);
            EXPECT_EQ(again.decisions, r.decisions);
            EXPECT_EQ(again.codes, r.codes);
            EXPECT_EQ(again.account.refused_buffers, r.account.refused_buffers);
        }
        add(sum, r.account);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    print("under a chooser", seeds, sum);
    expect_no_column_empty(sum);
}

}  // namespace
