// A1: outside, deadlines, a cancelled scope and a discarding shutdown race for completions; each
// has one winner.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

namespace {

using braid::completion_id;

BRAID_SCHEDULER_TEST(CompletionStress);

/// Gives out one round of ids at a time, and a thread that completes them as they come.
class round_of_races {
public:
    static constexpr std::size_t ids = 512;

    /// Outside completes `alone` of them, and goes on when the first of the others was asked; the
    /// last one it leaves to the others.
    round_of_races(braid::scheduler& s, std::uint64_t alone)
        : s_(s), alone_(alone), outside_([this] { complete_all(); }) {}
    ~round_of_races() { end(); }
    /// Nothing is armed any more. How many were completed outside.
    std::uint64_t end() {
        if (outside_.joinable()) {
            for (std::atomic<std::uint64_t>& id : ids_) id.store(none, std::memory_order_release);
            outside_.join();
        }
        return won_;
    }
    /// By a task. The first one has no deadline, so that it is left to outside.
    void defer(braid::task_context& task, braid::nanoseconds deadline = braid::no_limit) {
        for (std::atomic<std::uint64_t>& id : ids_) {
            const completion_id armed =
                task.defer({.deadline = &id == ids_.data() ? braid::no_limit : deadline,
                            .cancel = {&lets_go, &asked_}});
            armed_ += static_cast<bool>(armed);
            id.store(armed ? armed.value : none, std::memory_order_release);
        }
    }
    std::uint64_t armed() const { return armed_; }
    std::uint64_t asked() const { return asked_; }
    void until_outside_has_stopped() const {
        braid_test::until([&] { return won_ >= alone_; });
    }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    static bool lets_go(void* asked, completion_id) {
        ++*static_cast<std::atomic<std::uint64_t>*>(asked);
        return true;
    }
    void complete_all() {
        for (std::atomic<std::uint64_t>& id : std::span(ids_).first<ids - 1>()) {
            if (won_ == alone_) braid_test::until([&] { return asked_ != 0; });
            std::uint64_t value = 0;
            while ((value = id.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
            if (value != none) won_ += s_.complete({value});
        }
    }

    braid::scheduler& s_;
    const std::uint64_t alone_;
    std::array<std::atomic<std::uint64_t>, ids> ids_{};
    std::atomic<std::uint64_t> armed_{0}, asked_{0}, won_{0};
    std::thread outside_;
};

void print_shares(const char* race, std::uint64_t armed, std::uint64_t outside) {
    std::printf("%s: %llu completions, outside won %llu, the other %llu\n", race,
                static_cast<unsigned long long>(armed), static_cast<unsigned long long>(outside),
                static_cast<unsigned long long>(armed - outside));
}

TEST_P(CompletionStress, OutsideAndACancelledScopeEachWinSome) {
    std::mt19937 random(1);
    std::uint64_t armed = 0, asked = 0, outside = 0;
    braid::scheduler s(options());
    const std::size_t rounds = braid_test::stress_scaled(GetParam() == 64 ? 30 : 300);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scope level(s);
        round_of_races races(s, 1 + random() % (round_of_races::ids - 1));
        level.spawn({}, [&](braid::task_context& task) { races.defer(task); });
        std::thread cancels([&] {
            races.until_outside_has_stopped();
            level.cancel();
        });
        level.wait();
        cancels.join();
        armed += races.armed();
        asked += races.asked();
        outside += races.end();
    }
    print_shares("outside against a scope", armed, outside);
    EXPECT_EQ(armed, rounds * round_of_races::ids);
    EXPECT_GT(outside, 0U);
    EXPECT_LT(outside, armed);
    EXPECT_LE(armed - outside, asked) << "who was asked may have been completed meanwhile";
    EXPECT_EQ(s.statistics().deferred, armed);
    EXPECT_EQ(s.statistics().settled, armed);
    expect_all_ended(s);
}

/// Each wins one in each round, on a busy machine too: outside the first one, and the deadline the
/// last one. For all others they race.
TEST_P(CompletionStress, OutsideAndADeadlineEachWinSome) {
    std::mt19937 random(3);
    std::uint64_t armed = 0, asked = 0, outside = 0;
    braid::scheduler s(options());
    const std::size_t rounds = braid_test::stress_scaled(GetParam() == 64 ? 10 : 60);
    for (std::size_t i = 0; i < rounds; ++i) {
        round_of_races races(s, 1 + random() % (round_of_races::ids - 1));
        const braid::task_id id = s.spawn([&](braid::task_context& task) {
            races.defer(task, braid::microseconds(1 + static_cast<std::int64_t>(random() % 500)));
        });
        try {
            s.wait(id);
        } catch (const braid::completion_error&) {  // of one that was late
        }
        armed += races.armed();
        asked += races.asked();
        outside += races.end();
    }
    print_shares("outside against a deadline", armed, outside);
    EXPECT_EQ(armed, rounds * round_of_races::ids);
    EXPECT_GE(outside, rounds);
    EXPECT_GE(armed - outside, rounds);
    EXPECT_LE(armed - outside, asked) << "who was asked may have been completed meanwhile";
    EXPECT_EQ(s.statistics().deferred, armed);
    EXPECT_EQ(s.statistics().settled, armed);
    expect_all_ended(s);
}

TEST_P(CompletionStress, OutsideAndADiscardingShutdownEachWinSome) {
    std::mt19937 random(2);
    std::uint64_t armed = 0, outside = 0;
    const std::size_t rounds = braid_test::stress_scaled(GetParam() == 64 ? 10 : 60);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scheduler s(options());
        {
            round_of_races races(s, 1 + random() % (round_of_races::ids - 1));
            std::atomic<bool> begun{false};
            const braid::task_id id = s.spawn([&](braid::task_context& task) {
                begun = true;
                races.defer(task);
            });
            if (GetParam() == 0) s.wait_for(id, braid::nanoseconds(0));
            braid_test::until([&] { return begun.load(); });
            races.until_outside_has_stopped();
            s.shut_down(braid::shutdown::discard);
            armed += races.armed();
            outside += races.end();
        }
        EXPECT_EQ(s.statistics().settled, s.statistics().deferred);
        expect_all_ended(s);
    }
    print_shares("outside against a shutdown", armed, outside);
    EXPECT_EQ(armed, rounds * round_of_races::ids);
    EXPECT_GT(outside, 0U);
    EXPECT_LT(outside, armed);
}

/// Tasks that have deferred one completion each, every second one in a scope; and who won them.
/// Outside leaves the last three to the others: one to each.
class four_ways {
public:
    static constexpr std::size_t tasks = 256, to_deadline = tasks - 3;
    struct winners {
        std::uint64_t outside = 0, deadline = 0, scope = 0, shutdown = 0;
    };

    four_ways(braid::scheduler& s, std::mt19937& random) : s_(s), level_(s) {
        for (std::size_t i = 0; i < tasks; ++i) {
            const braid::nanoseconds in = deadline_of(i, random);
            braid::task_options how;
            if (i % 2 == 0) how.within = &level_;
            all_.push_back(s.async(how, [this, i, in](braid::task_context& task) {
                const completion_id id =
                    task.defer({.deadline = in, .cancel = {&lets_go, &asked_}});
                ids_[i].store(id.value, std::memory_order_release);
            }));
        }
    }
    /// Outside takes the first part of them, and the rest when one of those was asked.
    void race(std::size_t alone) {
        const std::uint64_t late = asked_;
        std::thread outside([&] {
            for (std::size_t i = 0; i < to_deadline; ++i) {
                if (i == alone) {
                    begin_.open();
                    braid_test::until([&] { return asked_ != late; });
                }
                const completion_id id{ids_[i].load(std::memory_order_acquire)};
                if (s_.complete(id)) ++seen_.outside;
            }
        });
        std::thread cancels([&] {
            begin_.pass();
            level_.cancel();
        });
        begin_.pass();
        s_.shut_down(braid::shutdown::discard);
        outside.join();
        cancels.join();
    }
    winners end() {
        for (std::size_t i = 0; i < tasks; ++i) {
            try {
                all_[i].get();
            } catch (const braid::completion_error& e) {
                EXPECT_EQ(e.code(), braid::completion_error::deadline_passed);
                ++seen_.deadline;
            } catch (const braid::broken_promise&) {
                ++(i % 2 == 0 ? seen_.scope : seen_.shutdown);
            }
        }
        return seen_;
    }
    /// All are armed, and the first deadline has passed.
    bool may_begin() const {
        return all_[to_deadline].ready() &&
               std::all_of(ids_.begin(), ids_.end(), [](const auto& id) { return id != 0; });
    }

private:
    /// Every second pair has none.
    static braid::nanoseconds deadline_of(std::size_t i, std::mt19937& random) {
        if (i == to_deadline) return braid::nanoseconds{1};
        if (i > to_deadline || i % 4 < 2) return braid::no_limit;
        return braid::nanoseconds{static_cast<std::int64_t>(random() % 1'500'000)};
    }
    static bool lets_go(void* asked, completion_id) {
        ++*static_cast<std::atomic<std::uint64_t>*>(asked);
        return true;
    }

    braid::scheduler& s_;
    braid::scope level_;
    std::atomic<std::uint64_t> asked_{0};
    braid_test::door begin_;
    winners seen_;
    std::array<std::atomic<std::uint64_t>, tasks> ids_{};
    std::vector<braid::future<void>> all_;
};

TEST_P(CompletionStress, OutsideADeadlineAScopeAndAShutdownEachWinSomeOfTheSame) {
    std::mt19937 random(4);
    four_ways::winners sum;
    const std::size_t rounds = braid_test::stress_scaled(GetParam() == 64 ? 20 : 200);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scheduler s(options());
        {
            four_ways ways(s, random);
            braid::event never(s);
            while (!ways.may_begin()) {
                s.do_work_while_waiting_for(never, braid::microseconds(50));
            }
            ways.race(1 + random() % (four_ways::tasks / 2));
            const four_ways::winners w = ways.end();
            EXPECT_EQ(w.outside + w.deadline + w.scope + w.shutdown, four_ways::tasks);
            sum.outside += w.outside;
            sum.deadline += w.deadline;
            sum.scope += w.scope;
            sum.shutdown += w.shutdown;
        }
        EXPECT_EQ(s.statistics().deferred, four_ways::tasks);
        EXPECT_EQ(s.statistics().settled, four_ways::tasks);
        expect_all_ended(s);
    }
    std::printf(
        "four ways: %ju completions, outside won %ju, deadlines %ju, the scope %ju, the "
        "shutdown %ju\n",
        std::uintmax_t{rounds * four_ways::tasks}, std::uintmax_t{sum.outside},
        std::uintmax_t{sum.deadline}, std::uintmax_t{sum.scope}, std::uintmax_t{sum.shutdown});
    EXPECT_GT(sum.outside, 0U);
    EXPECT_GT(sum.deadline, 0U);
    EXPECT_GT(sum.scope, 0U);
    EXPECT_GT(sum.shutdown, 0U);
}

}  // namespace
