// A1: outside, deadlines, a cancelled scope and a discarding shutdown race for completions; each
// has one winner.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <cstdio>
#include <random>

namespace {

using braid::completion_id;

BRAID_SCHEDULER_TEST(CompletionStress);

/// Gives out one round of ids at a time, and a thread that completes them as they come.
class round_of_races {
public:
    static constexpr std::size_t ids = 512;

    /// Outside completes `alone` of them, and goes on when the first of the others was asked.
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
    /// By a task.
    void defer(braid::task_context& task, braid::nanoseconds deadline = braid::forever) {
        for (std::atomic<std::uint64_t>& id : ids_) {
            const completion_id armed =
                task.defer({.deadline = deadline, .cancel = {&lets_go, &asked_}});
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
        for (std::atomic<std::uint64_t>& id : ids_) {
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
    EXPECT_GT(outside, 0U);
    EXPECT_LT(outside, armed);
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

}  // namespace
