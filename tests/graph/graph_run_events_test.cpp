// What an observer gets of the runs of a graph: the same each time, moved by an offset.
#include <braid/core/observer.hpp>
#include <braid/graph/graph.hpp>

#include "scheduler_test.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using braid::event_kind;
using braid::task_id;

struct received {
    std::uint64_t plan, id_offset;
    task_id run;
    std::vector<braid::task_event> events;
};

/// Keeps what each run of a graph brings, and which tasks start.
class run_log final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex_);
        if (e.kind == event_kind::edge) edges.push_back(e);
        if (e.kind == event_kind::cancelled) cancelled.emplace_back(e.name);
    }
    void on_graph_run(const braid::graph_run_events& all) override {
        const std::lock_guard lock(mutex_);
        runs.push_back({all.plan, all.id_offset, all.run, {}});
        collector here(runs.back());
        all.tell_each(here);
    }
    void on_start(std::uint16_t, task_id task, const char*, unsigned, task_id) override {
        const std::lock_guard lock(mutex_);
        started.insert(task);
    }
    std::vector<received> runs;
    std::vector<braid::task_event> edges;  // reported one by one: those between runs
    std::set<task_id> started;
    std::vector<std::string> cancelled;

private:
    struct collector final : observer {
        explicit collector(received& t) : to(t) {}
        void on_event(const braid::task_event& e) override { to.events.push_back(e); }
        received& to;
    };
    std::mutex mutex_;
};

class GraphRunEvents : public braid_test::scheduler_test {
protected:
    braid::scheduler_options observed() {
        braid::scheduler_options o = options();
        o.observer = &log_;
        return o;
    }
    std::size_t count(const received& run, event_kind kind) {
        std::size_t n = 0;
        for (const auto& e : run.events) n += e.kind == kind;
        return n;
    }
    run_log log_;
};
INSTANTIATE_TEST_SUITE_P(Workers, GraphRunEvents, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(GraphRunEvents, EachRunIsTheFirstOneWithItsIdsMoved) {
    constexpr int runs = 5;
    {
        braid::scheduler s(observed());
        braid::graph g(s);
        const auto a = g.add({.name = "a"}, [] {});
        const auto b = g.add({.name = "b"}, [] {});
        const auto c = g.add({.name = "c"}, [] {});
        g.precede(a, c);
        g.precede(b, c);
        for (int i = 0; i < runs; ++i) g.run_and_wait();
    }
    ASSERT_EQ(log_.runs.size(), std::size_t{runs});
    // Each run comes after the one before; the edges within a run come with the run.
    ASSERT_EQ(log_.edges.size(), std::size_t{runs} - 1);
    for (std::size_t i = 0; i < log_.edges.size(); ++i) {
        EXPECT_EQ(log_.edges[i].other, log_.runs[i].run);
        EXPECT_EQ(log_.edges[i].task, log_.runs[i + 1].run);
    }
    const received& first = log_.runs[0];
    EXPECT_EQ(count(first, event_kind::spawned), 3U);
    EXPECT_EQ(count(first, event_kind::edge), 2U);
    EXPECT_EQ(count(first, event_kind::ready), 2U);
    for (const received& run : log_.runs) {
        EXPECT_EQ(run.plan, first.plan);
        EXPECT_NE(run.plan, 0U);
        ASSERT_EQ(run.events.size(), first.events.size());
        const std::uint64_t moved = run.id_offset - first.id_offset;
        for (std::size_t i = 0; i < run.events.size(); ++i) {
            const braid::task_event &e = run.events[i], &was = first.events[i];
            EXPECT_EQ(e.kind, was.kind);
            EXPECT_EQ(e.task.value, was.task.value + moved);
            if (e.kind == event_kind::spawned) {
                EXPECT_EQ(e.other, run.run);
                EXPECT_TRUE(log_.started.contains(e.task)) << "by this id it ran";
            }
            if (e.kind == event_kind::edge) {
                EXPECT_EQ(e.other.value, was.other.value + moved);
            }
        }
    }
}

TEST_P(GraphRunEvents, ANodeBehindAFailureIsReportedAsCancelled) {
    {
        braid::scheduler s(observed());
        braid::graph g(s);
        const auto fails = g.add({.name = "fails"}, [] { throw 1; });
        const auto behind = g.add({.name = "behind"}, [] {});
        const auto last = g.add({.name = "last"}, [] {});
        g.add({.name = "beside"}, [] {});
        g.precede(fails, behind);
        g.precede(behind, last);
        EXPECT_THROW(g.run_and_wait(), int);
    }
    EXPECT_EQ(log_.cancelled, (std::vector<std::string>{"behind", "last"}));
}

/// By whom each task became ready, and which ended in what order.
struct ready_log final : braid::observer {
    void on_event(const braid::task_event& e) override {
        const std::lock_guard lock(mutex);
        if (e.kind == event_kind::ready) released_by[e.task].push_back(e.other);
        if (e.kind == event_kind::ended) ended.push_back(e.task);
    }
    std::mutex mutex;
    std::map<task_id, std::vector<task_id>> released_by;
    std::vector<task_id> ended;
};

/// Longer than what one thread runs in a row.
TEST_P(GraphRunEvents, EachNodeOfAChainIsReportedReadyOnceByTheOneBefore) {
    constexpr std::size_t length = 5'000;
    ready_log log;
    {
        braid::scheduler_options o = options();
        o.observer = &log;
        braid::scheduler s(o);
        braid::graph g(s);
        braid::graph_node before = g.add([] {});
        for (std::size_t i = 1; i < length; ++i) {
            const braid::graph_node next = g.add([] {});
            g.precede(before, next);
            before = next;
        }
        const task_id run = g.run();
        s.wait(run);
        std::erase(log.ended, run);
    }
    ASSERT_EQ(log.ended.size(), length);
    for (std::size_t i = 1; i < length; ++i) {
        EXPECT_EQ(log.released_by[log.ended[i]], std::vector<task_id>{log.ended[i - 1]}) << i;
    }
}

TEST_P(GraphRunEvents, AGraphThatIsChangedHasAnotherPlan) {
    {
        braid::scheduler s(observed());
        braid::graph g(s);
        const auto a = g.add([] {});
        g.run_and_wait();
        g.run_and_wait();
        const auto b = g.add([] {});
        g.precede(a, b);
        g.run_and_wait();
    }
    ASSERT_EQ(log_.runs.size(), 3U);
    EXPECT_EQ(log_.runs[0].plan, log_.runs[1].plan);
    EXPECT_NE(log_.runs[1].plan, log_.runs[2].plan);
    EXPECT_EQ(count(log_.runs[2], event_kind::edge), 1U);
}

TEST_P(GraphRunEvents, LevelsOfCategoriesMayChangeSoThatNoPlanIsTheSame) {
    {
        braid::scheduler s(observed());
        braid::graph g(s);
        g.add({.category = 1}, [] {});
        for (const auto level : {braid::priority_level::low, braid::priority_level::high}) {
            s.set_priority_table(&level, 1);
            g.run_and_wait();
        }
    }
    ASSERT_EQ(log_.runs.size(), 2U);
    EXPECT_NE(log_.runs[0].plan, log_.runs[1].plan);
}

}  // namespace
