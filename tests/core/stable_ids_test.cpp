// A task has the same id in every run of a program, whatever the schedule: random programs, drawn
// from one seed, run under many seeds of the chooser.
#include "core/task/stable_ids.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/observer.hpp>
#include <braid/fork_join.hpp>
#include <braid/fork_join/pipeline.hpp>
#include <braid/graph/graph.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <pthread.h>

namespace {

using braid::event_kind;
using braid::fork_context;
using braid::task_context;
using braid::task_id;

/// Every task by what it is called in the program, and its stable id.
class id_log final : public braid::observer {
public:
    explicit id_log(bool asks = true) : observer(asks ? identity::stable : identity::none) {}
    using entry = std::pair<std::string, std::uint64_t>;
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex_);
        if (e.kind == event_kind::forked) {
            forked_.insert(e.facts != nullptr ? e.facts->stable_id : 0);
        }
        if (e.kind != event_kind::spawned) return;
        const std::string name = e.name != nullptr ? e.name : "";
        // How many come to help the schedule decides.
        (name == helper ? helpers_ : seen_).emplace(name, e.facts->stable_id);
    }
    const std::multiset<entry>& seen() const { return seen_; }
    /// The branches of joins.
    const std::multiset<std::uint64_t>& forked() const { return forked_; }
    /// No two have one.
    bool different_ids() const {
        std::set<std::uint64_t> ids;
        for (const auto* all : {&seen_, &helpers_}) {
            for (const auto& [name, id] : *all) ids.insert(id);
        }
        for (const std::uint64_t id : forked_) ids.insert(id);
        return ids.size() == seen_.size() + helpers_.size() + forked_.size() && !ids.contains(0);
    }

    /// What job lists and pipelines are called here, and so the tasks that run them.
    static constexpr const char* helper = "helper";

private:
    std::mutex mutex_;
    std::multiset<entry> seen_, helpers_;
    std::multiset<std::uint64_t> forked_;
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

/// Parts of joins, pieces of loops, items of pipelines and jobs of lists create, each two, on
/// whichever threads.
class program_in_parts {
public:
    explicit program_in_parts(braid::scheduler& s) : scheduler_(s) {}

    void joins() {
        braid::fork_join(scheduler_, "joins", [this](fork_context c) { split(c, 3); });
        drain();
    }
    void loops() {
        braid::fork_join(scheduler_, "loops", [this](fork_context c) {
            create("before");
            braid::parallel_for(c, 7, [this](std::size_t) { create("index"); });
            braid::parallel_for(c, 22, [this](braid::index_range) { create("range"); },
                                {.grain = 4});
            braid::parallel_for(c, 3, [this](std::size_t, fork_context inner) {
                braid::parallel_for(inner, 3, [this](std::size_t) { create("inner"); });
                split(inner, 1);
            });
            create("after");
            // What is left for its last loop depends on how far others came.
            std::array<int, 40> sums{};
            braid::inclusive_scan(c, sums, sums.begin(), 0, std::plus<>{}, {.grain = 1});
            create("after scan");
        });
        const braid::task_options behind{.name = "behind",
                                         .runs_as = braid::task_class::background,
                                         .within = &all_,
                                         .where = {}};
        scheduler_.spawn(behind, [this](task_context& task) {
            braid::parallel_for(task, 7, [this](std::size_t) { create("index behind"); });
            create("after behind");
        });
        drain();
    }
    void pipelines() {
        braid::fork_join(scheduler_, "pipelines", [this](fork_context c) {
            int made = 0;
            braid::pipeline(c, {.tokens = 3, .name = id_log::helper},
                            braid::serial([&]() -> std::optional<int> {
                                create("source");
                                return made < 7 ? std::optional(made++) : std::nullopt;
                            }),
                            braid::parallel([this](int n) {
                                create("stage");
                                return n;
                            }),
                            braid::serial([this](int) { create("sink"); }));
            create("after");
        });
        drain();
    }
    void job_lists() {
        braid::job_list_manager lists(scheduler_);
        lists.register_job(&run_job, "job");
        braid::job_list* list = lists.allocate({.name = id_log::helper});
        for (int submission = 0; submission < 2; ++submission) {
            for (int i = 0; i < 6; ++i) {
                if (i == 4) list->signal();
                if (i == 5) list->synchronize();
                list->add(&run_job, this);
            }
            list->submit();
            create("beside");
            list->wait();
        }
        drain();
    }

private:
    static void run_job(void* self) {
        auto& own = *static_cast<program_in_parts*>(self);
        own.create("job");
        braid::join([&] { own.create("in job"); }, [&] { own.create("in job"); });
    }
    void split(fork_context c, unsigned left) {
        create("part");
        if (left == 0) return;
        const auto part = [this, left](fork_context inner) { split(inner, left - 1); };
        braid::join(c, part, part, part);
        create("after");
    }
    void create(const char* name) {
        for (int i = 0; i < 2; ++i) {
            scheduler_.spawn({.name = name, .within = &all_}, [this](task_context& task) {
                task.spawn({.name = "child", .within = &all_}, [] {});
            });
        }
    }
    void drain() { all_.wait(); }

    braid::scheduler& scheduler_;
    braid::scope all_{scheduler_};
};

class StableIds : public braid_test::scheduler_test {
protected:
    /// `seed` 0: without a chooser.
    using part = void (program_in_parts::*)();
    void run_part(id_log& log, part p, std::uint64_t seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.observer = &log;
        o.chooser = seed != 0 ? &chooser : nullptr;
        o.main_thread = "main";
        braid::scheduler s(o);
        program_in_parts program(s);
        (program.*p)();
    }
    /// The same ids in all runs; of branches, too, if they are the program's own.
    void expect_one_set(part p, std::size_t least, bool branches) {
        id_log wanted;
        run_part(wanted, p, 1);
        ASSERT_GE(wanted.seen().size(), least);
        const std::uint64_t seeds = GetParam() > 8 ? 5 : braid_test::stress_scaled(50);
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            id_log log;
            run_part(log, p, seed % 10 == 0 ? 0 : seed);
            ASSERT_EQ(log.seen(), wanted.seen()) << "seed " << seed;
            ASSERT_TRUE(log.different_ids()) << "seed " << seed;
            if (branches) {
                ASSERT_EQ(log.forked(), wanted.forked()) << "seed " << seed;
            }
        }
    }
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
        EXPECT_TRUE(log.different_ids()) << "no two tasks have one id";
        return log.seen();
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, StableIds, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(StableIds, AreOneSetWhateverTheSchedule) {
    const std::uint64_t seeds = GetParam() > 8 ? 5 : braid_test::stress_scaled(50);
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

TEST_P(StableIds, OfWhatPartsOfAJoinCreateAndOfTheParts) {
    // 27 leaves and 13 joins, with a create() before each of the 40 and after each join.
    expect_one_set(&program_in_parts::joins, 1 + 53 * 4, true);
}

TEST_P(StableIds, AChooserWithoutAnObserverIsAskedAboutTheSame) {
    id_log wanted;
    run_part(wanted, &program_in_parts::joins, 1);
    std::set<std::uint64_t> ids;
    for (const auto& [name, id] : wanted.seen()) ids.insert(id);
    std::size_t asked = 0;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        {
            braid::scheduler_options o = options();
            o.chooser = &chooser;
            o.main_thread = "main";
            braid::scheduler s(o);
            program_in_parts(s).joins();
        }
        const std::vector<std::uint64_t>& log = chooser.log();
        for (std::size_t i = 0; i < log.size();) {
            const auto kind = static_cast<braid::decision_kind>(log[i] >> 56);
            const std::size_t count = log[i] >> 32 & 0xff'ffff;
            for (std::size_t k = 1; kind == braid::decision_kind::next_task && k <= count; ++k) {
                ASSERT_TRUE(ids.contains(log[i + k])) << "seed " << seed;
                ++asked;
            }
            i += 1 + count;
        }
    }
    EXPECT_GT(asked, 100U);
}

TEST_P(StableIds, OfWhatPiecesOfALoopCreate) {
    expect_one_set(&program_in_parts::loops, 2 + (2 + 7 + 6 + 9 + 3 * 5 + 1 + 7 + 1) * 4, false);
}

TEST_P(StableIds, OfWhatItemsOfAPipelineCreate) {
    expect_one_set(&program_in_parts::pipelines, 1 + (8 + 7 + 7 + 1) * 4, false);
}

TEST_P(StableIds, OfWhatJobsOfAListCreate) {
    expect_one_set(&program_in_parts::job_lists, 2 * (1 + 6 * 3) * 4, true);
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
        EXPECT_EQ(log.seen().size(), 4U);
        EXPECT_TRUE(log.different_ids());
        return log.seen();
    };
    EXPECT_EQ(run(false), run(true));
}

TEST(StableIdsOfRoots, ThreadsOfNamesForWhichThereIsNoRoomCountTogether) {
    constexpr int rows = 63;
    braid::detail::stable_ids one, other;
    std::set<std::uint64_t> ids;
    for (braid::detail::stable_ids* all : {&one, &other}) {
        for (int i = 0; i < rows; ++i) ids.insert(all->next_root(std::to_string(i).c_str()));
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(rows)) << "the same for the same name";
    const std::uint64_t first = one.next_root("this");
    EXPECT_EQ(first, other.next_root("that"));
    EXPECT_EQ(one.next_root("that"), other.next_root("this"));
    EXPECT_NE(one.next_root("this"), first);
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
