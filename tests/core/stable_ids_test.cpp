// A task has the same id in every run of a program, whatever the schedule: random programs, drawn
// from one seed, run under many seeds of the chooser.
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/observer.hpp>
#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <pthread.h>

namespace {

using braid::event_kind;
using braid::task_context;
using braid::task_id;

/// Every task by what it is called in the program, and its stable id.
class id_log final : public braid::observer {
public:
    explicit id_log(bool asks = true) : observer(asks ? identity::stable : identity::none) {}
    using entry = std::pair<std::string, std::uint64_t>;
    void on_event(const braid::task_event& e) override {
        if (e.kind != event_kind::spawned) return;
        const std::lock_guard lock(mutex_);
        seen_.emplace(e.name != nullptr ? e.name : "", e.facts->stable_id);
    }
    const std::multiset<entry>& seen() const { return seen_; }
    std::size_t different_ids() const {
        std::set<std::uint64_t> ids;
        for (const auto& [name, id] : seen_) ids.insert(id);
        return ids.size();
    }

private:
    std::mutex mutex_;
    std::multiset<entry> seen_;
};

/// A program that is the same for the same seed: what a task does depends on its place only.
class random_program {
public:
    explicit random_program(std::uint64_t seed) : seed_(seed) {}

    void run(braid::scheduler& s) {
        scheduler_ = &s;
        braid::graph steps(s, "steps");
        const auto first =
            steps.add({.name = "first"}, [this](task_context& task) { grow(task, 71, 1); });
        const auto second =
            steps.add({.name = "second"}, [this](task_context& task) { grow(task, 72, 1); });
        const auto last = steps.add({.name = "last"}, [] {});
        steps.precede(first, last);
        steps.precede(second, last);
        task_id before;
        for (std::uint64_t i = 0; i < 4; ++i) {
            before = s.spawn({.name = "root", .after = {i % 2 == 0 ? before : task_id{}}},
                             [this, i](task_context& task) { grow(task, i, 3); });
        }
        steps.run_and_wait();
        s.wait(before);
        steps.run_and_wait();
    }

private:
    std::uint64_t draw(std::uint64_t place) const {
        std::uint64_t z = (place + seed_ * 977) * 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
        return z ^ z >> 27;
    }
    void grow(task_context& task, std::uint64_t place, unsigned left) const {
        if (left == 0) return;
        const std::uint64_t drawn = draw(place);
        task_id before;
        for (std::uint64_t i = 0; i < 1 + drawn % 3; ++i) {
            const std::uint64_t next = place * 8 + i + 1;
            const auto child = [this, next, left](task_context& inner) {
                grow(inner, next, left - 1);
            };
            if ((drawn >> (8 + i) & 1) != 0) {
                before =
                    task.spawn({.name = "after", .after = {before}, .parent = task.id()}, child);
            } else {
                before = task.spawn({.name = "child", .parent = task.id()}, child);
            }
        }
        if ((drawn >> 20 & 1) != 0) {
            const task_id many = scheduler_->spawn_batch({.name = "batch", .parent = task.id()}, 3,
                                                         [](std::size_t) {});
            if ((drawn >> 21 & 1) != 0) task.wait(many);
        }
        if ((drawn >> 23 & 1) != 0) braid::join(task, [] {}, [] {});
        if ((drawn >> 22 & 1) != 0) task.wait(before);
    }

    std::uint64_t seed_;
    braid::scheduler* scheduler_ = nullptr;
};

class StableIds : public braid_test::scheduler_test {
protected:
    std::multiset<id_log::entry> ids_of(std::uint64_t program, std::uint64_t seed) {
        id_log log;
        braid_test::seeded_chooser chooser(seed);
        {
            braid::scheduler_options o = options();
            o.observer = &log;
            o.chooser = &chooser;
            o.main_thread = "main";
            random_program tasks(program);  // lives until the scheduler has run all of them
            braid::scheduler s(o);
            tasks.run(s);
        }
        EXPECT_EQ(log.different_ids(), log.seen().size()) << "no two tasks have one id";
        return log.seen();
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, StableIds, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(StableIds, AreOneSetWhateverTheSchedule) {
    const std::uint64_t seeds = GetParam() > 8 ? 5 : 200;
    for (std::uint64_t program = 0; program < 3; ++program) {
        const auto wanted = ids_of(program, 0);
        ASSERT_GT(wanted.size(), 20U);
        for (std::uint64_t seed = 1; seed < seeds; ++seed) {
            ASSERT_EQ(ids_of(program, seed), wanted) << "program " << program << ", seed " << seed;
        }
    }
}

TEST_P(StableIds, AreTheSameWithoutAChooser) {
    const auto wanted = ids_of(1, 0);
    for (int round = 0; round < 20; ++round) {
        id_log log;
        {
            braid::scheduler_options o = options();
            o.observer = &log;
            o.main_thread = "main";
            random_program tasks(1);
            braid::scheduler s(o);
            tasks.run(s);
        }
        ASSERT_EQ(log.seen(), wanted);
    }
}

TEST_P(StableIds, OfForeignThreadsGoByTheirNamesNotBySeats) {
    const auto run = [&](bool turned) {
        id_log log;
        braid::scheduler_options o = options();
        o.observer = &log;
        {
            braid::scheduler s(o);
            for (const char* name : {turned ? "two" : "one", turned ? "one" : "two"}) {
                std::thread([&] {
                    pthread_setname_np(pthread_self(), name);
                    s.wait(s.spawn({.name = name}, [] {}));
                    s.wait(s.spawn({.name = name}, [] {}));
                }).join();
            }
        }
        EXPECT_EQ(log.different_ids(), 4U);
        return log.seen();
    };
    EXPECT_EQ(run(false), run(true));
}

TEST_P(StableIds, AreNotComputedForAnObserverThatDoesNotAsk) {
    id_log log(false);
    {
        braid::scheduler_options o = options();
        o.observer = &log;
        braid::scheduler s(o);
        s.wait(s.spawn({.name = "task"}, [] {}));
    }
    ASSERT_EQ(log.seen().size(), 1U);
    EXPECT_EQ(log.seen().begin()->second, 0U);
}

}  // namespace
